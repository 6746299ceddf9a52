import { type CommandWord, UNSPEAKABLE, type UnknownWord } from '../../domain/index.js'
import { type Flags, GIT_OTHERS, HIDING, LOADER, type Program, programName, programOf } from './programs.js'
import { isPlainAwk, isPlainSed } from './scripts.js'

/** Words by which a program does more than its name says, and whether what it does then can be seen here. */
export type Findings = { spelled: { at: number; flag: string }[]; hides: boolean }

export function flagsOf(program: string, words: readonly CommandWord[]): Findings {
  const name = programName(program) ?? program
  if (HIDING.has(name) || LOADER.test(name)) return { spelled: [{ at: 0, flag: program }], hides: true }
  const known = programOf(name)
  if (!known) return { spelled: [], hides: false }
  if (name === 'find' && words.some((word) => typeof word !== 'string' && (word.option || word.many))) {
    // It may become an -exec.
    return { spelled: [{ at: words.length, flag: UNSPEAKABLE }], hides: true }
  }
  const found = known.by_first_word ? byFirstWord(name, known.by_first_word, words) : search(known, words, 1)
  if (name === 'sed' || name === 'awk') return merge(found, scripts(name, words))
  if (known.second_writes) return merge(found, secondOperand(known.second_writes, words))
  if (
    known.interprets &&
    !words.some((_, at) => at > 0 && (isScript(known, found, words, at) || isAlone(known, words[at])))
  ) {
    // It takes its orders from its input, and no rule can say which.
    return merge(found, { spelled: [{ at: words.length, flag: UNSPEAKABLE }], hides: true })
  }
  return found
}

function isOperand(word: CommandWord | undefined): boolean {
  return typeof word !== 'string' || (!word.startsWith('-') && word !== '')
}

/** Whether an interpreter takes the word for what it is to run, and not for the value of an option before it. */
function isScript(known: Program, found: Findings, words: readonly CommandWord[], at: number): boolean {
  const before = words[at - 1]
  if (!isOperand(words[at])) return false
  if (at === 1 || isOperand(before) || found.spelled.some((flag) => flag.at === at - 1)) return true
  return typeof before === 'string' && (/^--$|=/.test(before) || known.plain_options?.test(before) === true)
}

/** Programs that read their first operand and write their second. */
function secondOperand(valued: RegExp, words: readonly CommandWord[]): Findings {
  let operands = 0
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as CommandWord
    if (typeof word === 'string' && valued.test(word)) at++
    else if (typeof word !== 'string' && word.many) operands = 2
    else if (typeof word !== 'string' || !/^-./.test(word)) operands++
    if (operands > 1) return { spelled: [{ at, flag: typeof word === 'string' ? word : UNSPEAKABLE }], hides: false }
  }
  return { spelled: [], hides: false }
}

function isAlone(known: Program, word: CommandWord | undefined): boolean {
  return typeof word === 'string' && known.interprets?.test(word) === true
}

/** Programs whose first word says what they do; an option in its place hides it. */
function byFirstWord(name: string, subs: Record<string, Program>, words: readonly CommandWord[]): Findings {
  const first = words[1]
  if (first === undefined) return { spelled: [], hides: false }
  if (typeof first !== 'string') return { spelled: [{ at: 1, flag: UNSPEAKABLE }], hides: true }
  if (words.length === 2 && /^(?:-v|-V|--version|-h|--help)$/.test(first)) return { spelled: [], hides: false }
  if (/^[-+]/.test(first)) return { spelled: [{ at: 1, flag: first }], hides: name !== 'git' || gitHides(words) }
  const sub = Object.hasOwn(subs, first) ? subs[first] : name === 'git' ? GIT_OTHERS : undefined
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
    // After an option it may be that option's value.
    const before = words[at - 1] as CommandWord
    if (word === '--' && !known.never_ends && !(typeof before === 'string' ? before.startsWith('-') : before.option))
      break
    for (const [kind, flags] of [
      ['writes', known.writes],
      ['runs', known.runs],
    ] as const) {
      if (!flags) continue
      const old = at === from && typeof word === 'string' && flags.first?.test(word) ? word : null
      const flag = old ?? flagIn(flags, known, word)
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
  const hide = (at: number, flag: string) => {
    spelled.push({ at, flag })
    hides = true
  }
  const check = (at: number) => {
    const script = words[at]
    given = true
    if (typeof script === 'string' && (name === 'sed' ? isPlainSed(script) : isPlainAwk(script))) return
    hide(at, typeof script === 'string' ? script : UNSPEAKABLE)
  }
  let ended = false
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as CommandWord
    if (typeof word !== 'string') {
      // It may become an option with another script.
      if (!given) check(at)
      else if (word.option && !ended) hide(at, UNSPEAKABLE)
    } else if (ended || !/^-./.test(word)) {
      if (!given) check(at)
      // After its program awk reads no more options.
      if (name === 'awk') ended = true
    } else if (word === '--') ended = true
    else if (name === 'sed' && /^(?:-[nErsuz]*e|--expression)$/.test(word)) check(++at)
    else if (name === 'awk' && /^-[Fv]$/.test(word)) at++
    else if (!PLAIN_OPTIONS[name].test(word)) {
      if (/^-[nErsuz]*e.|^--e/.test(word)) given = true
      hide(at, word)
    } else if (/^(?:-f|--file)$/.test(word)) {
      given = true
      at++
    }
  }
  return { spelled, hides }
}

/** What is none of these may bring a script along, or take away the word that looks like one. */
const PLAIN_OPTIONS = {
  sed: /^(?:-[nErsuz]+|-[nErsuz]*i.*|-f|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|help|version|file|in-place(?:=.*)?))$/,
  awk: /^(?:-[Fv].+|-f|--(?:version|help|csv|posix))$/,
}

function merge(a: Findings, b: Findings): Findings {
  return { spelled: [...a.spelled, ...b.spelled], hides: a.hides || b.hides }
}
