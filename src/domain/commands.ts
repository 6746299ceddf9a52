import { matchesWord } from './globs.js'

/**
 * A word of a command as a shell will make it. A string is known exactly. Of any other only the beginning is known,
 * because an expansion, a substitution or the names of files decide the rest.
 */
export type CommandWord = string | UnknownWord
export type UnknownWord = {
  starts: string
  /** It may become no word or several. */
  many: boolean
  /** It may be read as an option. */
  option: boolean
}

/** One simple command of a command line, or a file that the command line writes by a redirection. */
export type CommandPart =
  | {
      kind: 'command'
      words: readonly CommandWord[]
      /** Words by which the program does more than its name says. An allow rule must spell them out. */
      spelled: readonly { at: number; flag: string }[]
      /** It may run what cannot be seen here, so every deny and ask with a pattern speaks about it. */
      hides: boolean
      /** It does nothing by itself (`cd src`, `| head`), so it needs no yes of its own beside a part that has one. */
      rides: boolean
    }
  | { kind: 'write'; path: string | null }

/** A flag that no rule can spell out: the word is not known. */
export const UNSPEAKABLE = '\n'

/** Word by word; a trailing `*` stands for any further words, a `*` inside a word for any characters of that word. */
function patternWords(pattern: string): { words: string[]; open: boolean } {
  const words = pattern.split(/\s+/)
  const open = words.at(-1) === '*'
  return { words: open ? words.slice(0, -1) : words, open }
}

/** Whether an allow rule covers the command whatever its unknown words become. */
export function coversCommand(pattern: string, part: CommandPart): boolean {
  if (part.kind === 'write') return false
  const { words, open } = patternWords(pattern)
  if (open ? part.words.length < words.length : part.words.length !== words.length) return false
  return (
    words.every((word, i) => surelyMatches(word, part.words[i] as CommandWord)) &&
    part.spelled.every(({ at, flag }) => spells(words[at], flag))
  )
}

function surelyMatches(pattern: string, word: CommandWord): boolean {
  if (typeof word === 'string') return matchesWord(pattern, word)
  return !word.many && pattern === '*'
}

/** The pattern says the flag itself, not merely something that the flag matches too. */
function spells(pattern: string | undefined, flag: string): boolean {
  return pattern?.split('*')[0]?.startsWith(flag) === true
}

/** Whether a deny or ask rule may speak about the command: for some value of its unknown words it does. */
export function mayMean(pattern: string, part: CommandPart): boolean {
  if (part.kind === 'write') return false
  if (part.hides) return true
  const [program, ...rest] = part.words
  if (mayMatch(pattern, part.words)) return true
  // `/bin/rm` is `rm` for whoever forbids it; for whoever allows `rm`, it might be another one.
  return typeof program === 'string' && mayMatch(pattern, [baseName(program), ...rest])
}

function mayMatch(pattern: string, argv: readonly CommandWord[]): boolean {
  const { words, open } = patternWords(pattern)
  // The places in the pattern that the words so far may have led to.
  let places = new Set([0])
  for (const word of argv) {
    const next = new Set<number>()
    for (const place of places) {
      if (place === words.length) {
        if (open || (typeof word !== 'string' && word.many)) next.add(place)
        continue
      }
      if (typeof word === 'string') {
        if (matchesWord(words[place] as string, word)) next.add(place + 1)
      } else if (word.many) {
        // Of several words only the first begins as written; none at all is possible too.
        for (let i = place; i <= words.length; i++) {
          if (i === place || i > place + 1 || compatible(words[place] as string, word.starts)) next.add(i)
        }
      } else if (compatible(words[place] as string, word.starts)) next.add(place + 1)
    }
    places = next
  }
  return places.has(words.length)
}

/** Whether some word with this beginning matches. */
function compatible(pattern: string, starts: string): boolean {
  const fixed = pattern.split('*')[0] as string
  if (!pattern.includes('*')) return pattern.startsWith(starts)
  return fixed.startsWith(starts) || starts.startsWith(fixed)
}

export function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
