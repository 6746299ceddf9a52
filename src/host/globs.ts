import { refuse } from './paths.js'

/** Paths relative to the folder that is searched. A pattern without `/` is about names, at any depth. */
export type Glob = {
  matches: (path: string) => boolean
  /** Arguments that let ripgrep pass over most files that do not match. */
  args: string[]
}

export async function compileGlob(pattern: string): Promise<Glob> {
  const { default: picomatch } = await import('picomatch')
  const plain = pattern.replace(/^(!?)(?:\.?\/)+/, '$1')
  try {
    const matches = picomatch(plain, { dot: true, basename: plain === pattern && !plain.includes('/') })
    return { matches: (path) => matches(path), args: prefilter(plain) }
  } catch (error) {
    throw refuse('io', `${JSON.stringify(pattern)} is not a glob: ${(error as Error).message}`)
  }
}

/**
 * A glob for ripgrep itself would bring back what `.gitignore` leaves out. A file type does not, but looks at names
 * only; so the last part of the pattern becomes a type where both understand it the same way.
 */
function prefilter(pattern: string): string[] {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1)
  const simple =
    /^[\w.?*-]*(?:\{[\w.?*,-]+\})?[\w.?*-]*$/.test(name) &&
    !name.includes('**') &&
    !/[{}!]/.test(pattern.slice(0, -name.length))
  return simple && name !== '' && name !== '*' ? [`--type-add=wanted:${name}`, '--type=wanted'] : []
}
