/** The modes of entries in trees, as git writes them. */
export const NOT_THERE = '000000'
export const SYMBOLIC_LINK = '120000'
/** A repository below: what is in it is its own. */
export const SUBMODULE = '160000'
