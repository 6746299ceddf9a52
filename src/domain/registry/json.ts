/** The first thing in a text that keeps it from being JSON, and where it is. null: it is JSON. */
export type JsonFault = { line: number; column: number; message: string }

/** Deeper than any registry, and shallow enough for the stack. */
const DEEPEST = 50

/**
 * Walks through a text as JSON. The engine's own reader does not always say where it stopped, and takes the last of two
 * keys of one name without a word, so that half of what somebody wrote would be gone.
 */
export function jsonFault(text: string): JsonFault | null {
  let at = 0
  let fault: JsonFault | null = null
  if (value(0)) {
    blank()
    if (at < text.length) no('there is more after the end of the value')
  }
  return fault

  function no(message: string, where = at): false {
    const before = text.slice(0, where).split('\n')
    fault = { line: before.length, column: [...(before.at(-1) as string)].length + 1, message }
    return false
  }

  function blank(): void {
    while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++
  }

  function taken(char: string): boolean {
    if (text[at] !== char) return false
    at++
    return true
  }

  function value(depth: number): boolean {
    blank()
    if (depth > DEEPEST) return no(`lists and objects are nested more than ${DEEPEST} deep`)
    if (text[at] === '{') return object(depth)
    if (text[at] === '[') return list(depth)
    if (text[at] === '"') return string()
    const [word] =
      /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/.exec(text.slice(at, at + 400)) ?? []
    if (word !== undefined) {
      at += word.length
      return true
    }
    if (at >= text.length) return no('the text ends where a value should be')
    return no(`expected a value, found ${found()}`)
  }

  function object(depth: number): boolean {
    const keys = new Set<string>()
    at++
    blank()
    if (taken('}')) return true
    for (;;) {
      blank()
      const start = at
      if (text[at] !== '"') return no(`expected a key in double quotes, found ${found()}`)
      if (!string()) return false
      const key = JSON.parse(text.slice(start, at)) as string
      if (keys.has(key)) return no(`the key ${text.slice(start, at).slice(0, 60)} is there twice`, start)
      keys.add(key)
      blank()
      if (!taken(':')) return no(`expected a colon after the key, found ${found()}`)
      if (!value(depth + 1)) return false
      blank()
      if (taken('}')) return true
      if (!taken(',')) return no(`expected a comma or }, found ${found()}`)
    }
  }

  function list(depth: number): boolean {
    at++
    blank()
    if (taken(']')) return true
    for (;;) {
      if (!value(depth + 1)) return false
      blank()
      if (taken(']')) return true
      if (!taken(',')) return no(`expected a comma or ], found ${found()}`)
    }
  }

  function string(): boolean {
    const start = at++
    for (;;) {
      const char = text[at]
      if (char === undefined) return no('this text has no closing quote', start)
      if (char < ' ') return no('a line break, tab or control character in a text: write it as \\n, \\t or \\u0000')
      if (char === '"') {
        at++
        return true
      }
      if (char === '\\' && !/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(at, at + 6))) {
        return no('an escape that JSON does not have')
      }
      at += char === '\\' ? 2 : 1
    }
  }

  function found(): string {
    const char = text.codePointAt(at)
    return char === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(char))
  }
}
