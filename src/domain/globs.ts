/**
 * Path globs for authority. Paths are relative to the workspace root, with `/`, never absolute, never with `..`.
 *
 * `*` and `?` stay inside one path segment, `**` crosses segments, `{a,b}` chooses. A pattern that names a folder
 * also covers everything below it, because a person who grants `src` means the folder, not the directory entry.
 * There is no negation: authority narrows by adding layers, so no pattern ever has to be subtracted from another.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  let regexp = compiled.get(pattern)
  if (!regexp) {
    regexp = compile(pattern)
    compiled.set(pattern, regexp)
  }
  return regexp.test(path)
}

export function matchesAny(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, path))
}

const compiled = new Map<string, RegExp>()

function compile(pattern: string): RegExp {
  const trimmed = pattern.replace(/^\.\//, '').replace(/\/+$/, '')
  if (trimmed === '' || trimmed === '.' || trimmed === '**') return /^[\s\S]*$/
  return new RegExp(`^${translate(trimmed)}(?:/[\\s\\S]*)?$`)
}

function translate(pattern: string): string {
  let out = ''
  let depth = 0
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string
    if (c === '*') {
      let stars = 1
      while (pattern[i + 1] === '*') {
        stars++
        i++
      }
      if (stars === 1) out += '[^/]*'
      else if (pattern[i + 1] === '/') {
        // `**/` also stands for no folder at all: `**/x` matches `x`.
        out += '(?:[^/]+/)*'
        i++
      } else out += '[\\s\\S]*'
    } else if (c === '?') out += '[^/]'
    else if (c === '{' && pattern.indexOf('}', i) > 0) {
      out += '(?:'
      depth++
    } else if (c === '}' && depth > 0) {
      out += ')'
      depth--
    } else if (c === ',' && depth > 0) out += '|'
    else out += c.replace(/[\\^$.|+()[\]{}]/g, '\\$&')
  }
  return out + ')'.repeat(depth)
}
