import { type Authority, intersect } from './authority.js'

/** What is left of an authority where nobody is to change anything: as of a sub-agent that is in plan mode. */
export function readOnly(authority: Authority): Authority {
  return intersect(authority, { ...authority, mode: 'plan', rules: [{ mode: 'plan', rules: [] }] })
}
