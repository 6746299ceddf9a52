import { type CommandWord, UNSPEAKABLE, type UnknownWord } from '../../domain/index.js'
import { type Flags, HIDING, type Program, programName, programOf } from './programs.js'
import { isPlainAwk, isPlainSed } from './scripts.js'

/** Words by which a program does more than its name says, and whether what it does then can be seen here. */
export type Findings = { spelled: { at: number; flag: string }[]; hides: boolean }

export function flagsOf(program: string, words: readonly CommandWord[]): Findings {
  const name = programName(program) ?? program
  if (HIDING.has(name)) return { spelled: [{ at: 0, flag: program }], hides: true }
  const known = programOf(name)
  if (!known) return { spelled: [], hides: false }
  if (name === 'find' && words.some((word) => typeof word !== 'string' && (word.option || word.many))) {
    // It may become an -exec.
    return { spelled: [{ at: words.length, flag: UNSPEAKABLE }], hides: true }
  }
  const found = known.by_first_word ? byFirstWord(name, known.by_first_word, words) : search(known, words, 1)
  if (name === 'sed' || name === 'awk') return merge(found, scripts(name, words))
  if (known.interprets && !words.slice(1).some((word) => isOperand(word) || isAlone(known, word))) {
    // It takes its orders from its input, and no rule can say which.
    return merge(found, { spelled: [{ at: words.length, flag: UNSPEAKABLE }], hides: true })
  }
  return found
}

function isOperand(word: CommandWord): boolean {
  return typeof word !== 'string' || (!word.startsWith('-') && word !== '')
}

function isAlone(known: Program, word: CommandWord): boolean {
  return typeof word === 'string' && known.interprets?.test(word) === true
}

/** Programs whose first word says what they do; an option in its place hides it. */
function byFirstWord(name: string, subs: Record<string, Program>, words: readonly CommandWord[]): Findings {
  const first = words[1]
  if (first === undefined) return { spelled: [], hides: false }
  if (typeof first !== 'string') return { spelled: [{ at: 1, flag: UNSPEAKABLE }], hides: true }
  if (words.length === 2 && /^(?:-v|-V|--version|-h|--help)$/.test(first)) return { spelled: [], hides: false }
  if (/^[-+]/.test(first)) return { spelled: [{ at: 1, flag: first }], hides: name !== 'git' || gitHides(words) }
  const sub = Object.hasOwn(subs, first) ? subs[first] : undefined
  if (!sub) return { spelled: [], hides: false }
  if (name === 'git' && first === 'config' && readsConfig(words)) return { spelled: [], hides: false }
  if (sub.named) return { spelled: [{ at: 1, flag: first }], hides: true }
  return search(sub, words, 2)
}

/** Options of git itself that let it run something else than what it says. */
function gitHides(words: readonly CommandWord[]): boolean {
  return words.some(
    (word) =>
      typeof word !== 'string' || /^(?:-c|--exec-path|--config-env|-p|--paginate|--git-dir|--work-tree)/.test(word),
  )
}

function readsConfig(words: readonly CommandWord[]): boolean {
  const args = words.slice(2)
  const [first] = args
  if (args.some((arg) => typeof arg !== 'string' || /^(?:-e|-f|--edit|--file|--blob)/.test(arg))) return false
  return (
    typeof first === 'string' &&
    (/^(?:--get|--get-all|--list|-l|list|get)$/.test(first) || (args.length === 1 && !first.startsWith('-')))
  )
}

function search(known: Program, words: readonly CommandWord[], from: number): Findings {
  const spelled: Findings['spelled'] = []
  let hides = false
  for (let at = from; at < words.length; at++) {
    const word = words[at] as CommandWord
    if (word === '--' && !known.never_ends) break
    for (const [kind, flags] of [
      ['writes', known.writes],
      ['runs', known.runs],
    ] as const) {
      if (!flags) continue
      const flag = flagIn(flags, known, word)
      if (flag === null) continue
      spelled.push({ at, flag })
      hides ||= kind === 'runs'
    }
  }
  return { spelled, hides }
}

/** The flag in a word, as far as a rule must spell it. */
function flagIn(flags: Flags, known: Program, word: CommandWord): string | null {
  if (typeof word !== 'string') return mayBeFlag(flags, known, word) ? UNSPEAKABLE : null
  if (flags.words?.test(word)) return word
  if (word.startsWith('--')) {
    const name = word.split('=')[0] as string
    if (name === '--' || known.safe?.split(' ').includes(name)) return null
    // Programs take any beginning of an option that is clear to them.
    return flags.long?.split(' ').some((long) => `--${long}`.startsWith(name)) ? name : null
  }
  if (!/^-./.test(word)) return null
  for (let i = 1; i < word.length; i++) {
    const letter = word[i] as string
    if (flags.short?.includes(letter)) return word.slice(0, i + 1)
    if (known.takes?.includes(letter)) return null
  }
  return null
}

function mayBeFlag(flags: Flags, known: Program, { starts, many, option }: UnknownWord): boolean {
  if (option && many) return true
  // Where the name of the option is known, only its value is not.
  if (/^--[\w-]+=/.test(starts)) return flagIn(flags, known, starts) !== null
  if (/^-\w/.test(starts) && [...starts.slice(1)].some((letter) => known.takes?.includes(letter))) {
    return flagIn(flags, known, starts) !== null
  }
  return option || mayBeWord(flags, starts)
}

/** A word that is no option may still be one of the other forms. */
function mayBeWord(flags: Flags, starts: string): boolean {
  return flags.words !== undefined && (flags.words.test(starts) || !/^[-\w./]+\//.test(starts))
}

/** The script of sed or awk, which must be plain or be spelled out by the rule. */
function scripts(name: 'sed' | 'awk', words: readonly CommandWord[]): Findings {
  const spelled: Findings['spelled'] = []
  let given = false
  let hides = false
  const check = (at: number) => {
    const script = words[at]
    given = true
    if (typeof script === 'string' && (name === 'sed' ? isPlainSed(script) : isPlainAwk(script))) return
    spelled.push({ at, flag: typeof script === 'string' ? script : UNSPEAKABLE })
    hides = true
  }
  for (let at = 1; at < words.length; at++) {
    const word = words[at]
    if (typeof word !== 'string') {
      if (!given) check(at)
    } else if (name === 'sed' && /^(?:-[nErsuz]*e|--expression)$/.test(word)) check(++at)
    else if (name === 'sed' && /^(?:-[nErsuz]*e.|--e)/.test(word)) {
      given = true
      spelled.push({ at, flag: word })
      hides = true
    } else if (name === 'awk' && /^-[Fv]$/.test(word)) at++
    else if (!word.startsWith('-') && !given) check(at)
  }
  return { spelled, hides }
}

function merge(a: Findings, b: Findings): Findings {
  return { spelled: [...a.spelled, ...b.spelled], hides: a.hides || b.hides }
}
