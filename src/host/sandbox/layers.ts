import { matchesAny } from '../../domain/index.js'

type Layers = readonly (readonly string[])[]

/** Without wildcards: the path that a pattern names, `.` for everything; null where it has wildcards. */
export function literalPath(pattern: string): string | null {
  const trimmed = pattern.replace(/^\.\//, '').replace(/(?:\/|\/\*\*)+$/, '')
  if (trimmed === '' || trimmed === '.' || trimmed === '**') return '.'
  return /[*?{]/.test(trimmed) ? null : trimmed
}

/**
 * The outermost paths that every layer matches, where all patterns are plain paths; null where one is not. What a
 * layer matches includes everything below, so of two paths that both must hold, the inner one does.
 */
export function commonPaths(layers: Layers): string[] | null {
  let common = ['.']
  for (const layer of layers) {
    const paths = layer.map(literalPath)
    if (paths.includes(null)) return null
    common = common.flatMap((a) => (paths as string[]).flatMap((b) => (within(a, b) ? [b] : within(b, a) ? [a] : [])))
  }
  const distinct = [...new Set(common)]
  return distinct.filter((path) => !distinct.some((other) => other !== path && within(other, path)))
}

export function everyLayerMatches(layers: Layers, path: string): boolean {
  return layers.every((layer) => matchesAny(layer, path))
}

/**
 * A quick look at a name that says no for most: only an entry whose own name fits the end of a pattern can be the
 * outermost one that the pattern matches.
 */
export function nameFilter(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>()
  const ends: string[] = []
  for (const pattern of patterns) {
    const last =
      pattern
        .replace(/(?:\/|\/\*\*)+$/, '')
        .split('/')
        .at(-1) ?? ''
    if (last.includes('**') || last.includes('}') || last.includes('{')) return () => true
    if (/[*?]/.test(last)) ends.push(last)
    else exact.add(last)
  }
  return (name) => exact.has(name) || matchesAny(ends, name)
}

function within(folder: string, path: string): boolean {
  return folder === '.' || path === folder || path.startsWith(`${folder}/`)
}
