/** Whether small programs inside commands are plain enough to know that they only print. */

/** sed: addresses, and commands that print, delete, quit, append text or substitute. None that writes a file or runs. */
export function isPlainSed(script: string): boolean {
  let rest = script
  while (rest !== '') {
    const next = sedCommand(rest.replace(/^[\s;]+/, ''))
    if (next === null) return false
    rest = next
  }
  return true
}

const ADDRESS =
  /^(?:(?:\d+|\$|\/((?:[^/\\\n]|\\[^\n])*)\/I?)(?:,\s*[+~]?(?:\d+|\$|\/((?:[^/\\\n]|\\[^\n])*)\/I?))?\s*!?\s*)?/

/** What comes after the first command, or null where it is not plain. */
function sedCommand(text: string): string | null {
  if (text === '') return ''
  const [address = '', ...patterns] = ADDRESS.exec(text) ?? []
  if (!patterns.every((pattern) => bracketsClose(pattern ?? ''))) return null
  const after = text.slice(address.length)
  const plain = /^[pdqPDNnGgHhxl=]\s*(?=$|[;\n])/.exec(after)
  if (plain) return after.slice(plain[0].length)
  const delimiter = after[1] ?? ''
  if (!/^[sy][^\w\s\\;]/.test(after)) return null
  const parts = splitAt(after.slice(2), delimiter)
  if (!parts || (after[0] === 'y' ? parts.first.includes('[') : !bracketsClose(parts.first))) return null
  const flags = /^[gpiIm\d]*\s*(?=$|[;\n])/.exec(parts.rest)
  return flags && !/\n/.test(parts.text) ? parts.rest.slice(flags[0].length) : null
}

/**
 * Whether every bracket that a pattern opens is closed in it. In an open one the delimiter would be meant as itself,
 * and the pattern would go on.
 */
function bracketsClose(pattern: string): boolean {
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '[') {
      // A closing bracket that comes first is a member. What else is read in two ways (`[\\]]`, `[[.`) is not plain.
      const set = /^\[(?:\^|(?!\^))(?:\]|(?!\]))(?:\[:[a-z]+:\]|\\[^\]]|[^\]\\[]|\[(?![:.=]))*\]/.exec(
        pattern.slice(i),
      )?.[0]
      if (set === undefined) return false
      i += set.length - 1
    }
  }
  return true
}

/** Two texts, each ended by the delimiter. */
function splitAt(text: string, delimiter: string): { first: string; text: string; rest: string } | null {
  let first: string | null = null
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === delimiter && first === null) first = text.slice(0, i)
    else if (text[i] === delimiter && first !== null) return { first, text: text.slice(0, i), rest: text.slice(i + 1) }
  }
  return null
}

/** awk: nothing that runs, reads by itself, or prints anywhere but to the output. */
export function isPlainAwk(program: string): boolean {
  return (
    !/system|getline|close|fflush|ENVIRON|extension|printf?[^;}]*[>|]|[@`]/.test(program) &&
    !/[>|]/.test(program.replace(/\|\|/g, ''))
  )
}
