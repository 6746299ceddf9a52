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
  /^(?:(?:\d+|\$|\/(?:[^/\\\n]|\\[^\n])*\/I?)(?:,\s*[+~]?(?:\d+|\$|\/(?:[^/\\\n]|\\[^\n])*\/I?))?\s*!?\s*)?/

/** What comes after the first command, or null where it is not plain. */
function sedCommand(text: string): string | null {
  if (text === '') return ''
  const after = text.slice(ADDRESS.exec(text)?.[0].length ?? 0)
  const plain = /^[pdqPDNnGgHhxl=]\s*(?=$|[;\n])/.exec(after)
  if (plain) return after.slice(plain[0].length)
  const delimiter = after[1] ?? ''
  if (!/^[sy][^\w\s\\;]/.test(after)) return null
  const parts = splitAt(after.slice(2), delimiter)
  if (!parts) return null
  const flags = /^[gpiIm\d]*\s*(?=$|[;\n])/.exec(parts.rest)
  return flags && !/\n/.test(parts.text) ? parts.rest.slice(flags[0].length) : null
}

/** Two texts, each ended by the delimiter. */
function splitAt(text: string, delimiter: string): { text: string; rest: string } | null {
  let found = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    // In brackets the delimiter may be meant as itself; who means that is not plain.
    else if (text[i] === '[' && found === 0 && text.slice(i).indexOf(']') > text.slice(i).indexOf(delimiter))
      return null
    else if (text[i] === delimiter && ++found === 2) return { text: text.slice(0, i), rest: text.slice(i + 1) }
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
