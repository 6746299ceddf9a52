import { baseName, type CommandPart, type CommandWord, UNSPEAKABLE } from '../../domain/index.js'
import { flagsOf } from './flags.js'
import { NEVER, programName, SHELLS, SPECIAL_VARIABLES } from './programs.js'
import { isInside, onlyPasses } from './riders.js'
import { throughRunner } from './runners.js'
import { type Redirection, readsFile, type Simple } from './simple.js'
import type { Place } from './structure.js'
import { isPlainTest } from './test-expression.js'
import { findRuns, innerCommands, isHarmlessVariable } from './wrappers.js'

/** What was found in a command line so far. */
export type Found = {
  parts: CommandPart[]
  /** Texts that a shell inside it would run, and where that shell stands. */
  scripts: { text: string; place: Place }[]
  /** Variables that a builtin may have given a value, or `ANY_VARIABLE`. */
  changed: Set<string>
  doubt: (why: string) => void
}

export const ANY_VARIABLE = '*'

const RESERVED = new Set(
  'if then elif else fi do done case esac while until for select function in { } ! [[ ]] coproc'.split(' '),
)
const HARMLESS_TARGETS = new Set(['/dev/null', '/dev/stdout', '/dev/stderr'])
const NETWORK_TARGET = /^\/dev\/(?:tcp|udp)/

/** Adds what a simple command does; answers whether it does nothing by itself. */
export function partsOf(found: Found, simple: Simple, place: Place): boolean {
  const [first] = simple.raws
  assign(found, simple)
  for (const redirection of simple.redirections) redirect(found, redirection)
  if (simple.defines !== undefined && (isKnown(simple.defines) || RESERVED.has(simple.defines))) {
    found.doubt(`it gives ${simple.defines} another meaning`)
  }
  if (first === undefined) return true
  if (RESERVED.has(first)) found.doubt(`${first} stands in an odd place`)
  const reads = readsFile(simple) ? 'own' : place.reads
  return command(found, simple.words, { ...place, after: place.after || simple.fed === true, reads })
}

function assign(found: Found, { assignments, words }: Simple): void {
  for (const { name, value } of assignments) {
    if (words.length === 0) {
      if (SPECIAL_VARIABLES.test(name)) found.doubt(`it sets ${name}`)
      continue
    }
    const forRead = name === 'IFS' && words[0] === 'read'
    if (!forRead && !isHarmlessVariable(name, value)) found.doubt(`it sets ${name} for a command`)
  }
}

function redirect(found: Found, { operator, target }: Redirection): void {
  const known = typeof target === 'string' ? target : null
  const starts = typeof target === 'string' ? target : target.starts
  if (NETWORK_TARGET.test(starts)) found.doubt('it redirects to the network')
  if (operator === '<<<') return
  if (operator === '<') {
    if (known === null && (starts === '' || '/dev/tcp/'.startsWith(starts)))
      found.doubt('it reads from an unknown file')
    return
  }
  if (/^[<>]&$/.test(operator) && known !== null && /^(?:\d+-?|-)$/.test(known)) return
  if (operator === '<&') found.doubt('it copies an unknown stream')
  if (known !== null && HARMLESS_TARGETS.has(known)) return
  found.parts.push({ kind: 'write', path: known })
}

/** Names that are taken at their meaning somewhere here. */
function isKnown(name: string): boolean {
  return BUILTINS.has(name) || programName(name) !== null || Object.hasOwn(NEVER, name)
}

const BUILTINS = new Set(
  (
    'cd set export declare typeset local readonly unset read printf test echo true false pwd wait exit return break ' +
    'continue shift command builtin type umask ulimit kill env xargs timeout nice nohup time stdbuf'
  ).split(' '),
)

function command(found: Found, words: readonly CommandWord[], place: Place): boolean {
  const [program, ...args] = words
  if (typeof program !== 'string' || program === '') {
    found.doubt('what it runs is known only when it runs')
    return false
  }
  const name = baseName(program)
  if (program.includes('=') || name === '') found.doubt(`${program} is no program`)
  if (Object.hasOwn(NEVER, name)) found.doubt(NEVER[name] as string)
  const add = (rides: boolean, spelled: readonly { at: number; flag: string }[] = [], hides = false) => {
    found.parts.push({ kind: 'command', words, spelled, hides, rides })
    return rides
  }
  if (SHELLS.has(name)) return shell(found, name, args, place, add)
  if (CHANGES_SHELL.has(name)) {
    if (!keepsShell(name, args)) found.doubt(`it uses ${name} in a way that changes how the rest is read`)
    if (name === 'export')
      for (const arg of args) found.changed.add(typeof arg === 'string' ? nameIn(arg) : ANY_VARIABLE)
    else if (CHANGES_VARIABLES.has(name)) found.changed.add(ANY_VARIABLE)
    return add(!place.feeds && place.reads !== 'own' && !(place.reads && name === 'printf'))
  }
  const runner = throughRunner(name, words)
  if (runner) {
    if (!runner.inner.ok) found.doubt(`what ${name} runs is not clear`)
    else for (const each of runner.inner.commands) forbidden(found, each, place)
    return add(false, [runner.spelled])
  }
  const inner = innerCommands(name, words)
  if (inner) {
    if (!inner.ok) {
      found.doubt(`what ${name} runs is not clear`)
      return false
    }
    if (inner.commands.length === 0) return add(name === 'command' && !place.feeds)
    const fetches = /^(?:npx|bunx|pnpx)$/.test(name)
    if (!fetches) add(true)
    else add(false, [{ at: words.length - (inner.commands[0]?.length ?? 0), flag: firstWord(inner.commands[0]) }])
    const rides = inner.commands.map((each) => within(found, name, each, place, fetches))
    return !fetches && rides.every((ride) => ride)
  }
  const ran = name === 'find' || name === 'gfind' ? findRuns(words) : null
  if (ran && !ran.ok) found.doubt('what find runs is not clear')
  const { spelled, hides } = flagsOf(name, words)
  const global = gitWithoutOptions(name, words)
  if (global) {
    add(global.harmless, spelled, hides)
    return command(found, global.words, place) && global.harmless
  }
  const rides = spelled.length === 0 && !hides && !place.feeds && !place.reads && onlyPasses(name, args, place.after)
  add(rides, spelled, hides)
  if (ran?.ok) for (const each of ran.commands) within(found, name, each, place, false)
  return rides
}

/** A command that another program runs. What it prints and reads is that program's business. */
function within(found: Found, wrapper: string, words: readonly CommandWord[], place: Place, fetched: boolean): boolean {
  const [first] = words
  if (typeof first === 'string' && (RESERVED.has(first) || (wrapper === 'time' && first === 'time'))) {
    found.doubt(`${first} stands in an odd place`)
  }
  // Only where the shell itself meets them are assignments kept whole.
  if (
    typeof first === 'string' &&
    CHANGES_SHELL.has(first) &&
    words.some((word) => typeof word !== 'string' && word.many)
  ) {
    found.doubt(`what ${wrapper} gives to ${first} is not clear`)
  }
  if (!fetched)
    return command(found, words, wrapper === 'xargs' || wrapper === 'find' ? { ...place, feeds: true } : place)
  // The program is fetched or found elsewhere: deny rules see its name, the yes is to the one that fetches it.
  found.parts.push({ kind: 'command', words, spelled: [], hides: false, rides: true })
  return false
}

/** What a runner runs needs no yes beside the runner's own, but whatever is denied or asked about is seen in it. */
function forbidden(found: Found, words: readonly CommandWord[], place: Place): void {
  const inner: Found = { ...found, parts: [] }
  command(inner, words, { ...place, feeds: true })
  for (const part of inner.parts) found.parts.push(part.kind === 'command' ? { ...part, rides: true } : part)
}

function nameIn(assignment: string): string {
  return assignment.split('=')[0] as string
}

function firstWord(words: readonly CommandWord[] | undefined): string {
  return typeof words?.[0] === 'string' ? words[0] : UNSPEAKABLE
}

/** `bash -c 'text'` is what the text is; `bash file` is that file; anything else is not understood. */
function shell(
  found: Found,
  name: string,
  args: readonly CommandWord[],
  place: Place,
  add: (rides: boolean, spelled: { at: number; flag: string }[]) => boolean,
): boolean {
  const options = args.findIndex((arg) => typeof arg !== 'string' || !/^-[eux]+$/.test(arg))
  const at = options < 0 ? args.length : options
  const [first, script] = args.slice(at)
  if (typeof first === 'string' && /^-[eux]*c$/.test(first) && typeof script === 'string') {
    // Other shells than bash read some signs in another way.
    if (name !== 'bash' && /\$['"]|[<>]\(|&>|\[\[|\(\(|<<<|\bfunction\b/.test(script))
      found.doubt(`${name} reads it otherwise`)
    found.scripts.push({ text: script, place })
    return add(true, [])
  }
  if (typeof first !== 'string' || first.startsWith('-') || first.startsWith('+')) {
    found.doubt(`what ${name} runs is not clear`)
    return false
  }
  return add(false, [{ at: at + 1, flag: first }])
}

const CHANGES_SHELL = new Set('set export declare typeset local readonly unset read printf test [ wait'.split(' '))
const CHANGES_VARIABLES = new Set('set declare typeset local readonly unset read'.split(' '))
/** `%n` gives a variable a value. */
const ASSIGNS = /%[-#+ 0'*\d.]*[hjlLtz]*n/

/** Builtins in the forms that leave the meaning of every later word as it is. */
function keepsShell(name: string, args: readonly CommandWord[]): boolean {
  const known = args.map((arg) => (typeof arg === 'string' ? arg : null))
  switch (name) {
    case 'set':
      return known.every(
        (arg, i) =>
          arg !== null && (/^[-+][eux]*o?$/.test(arg) || (i > 0 && /^(?:pipefail|errexit|nounset|xtrace)$/.test(arg))),
      )
    case 'test':
      return isPlainTest(args)
    case '[':
      return args.at(-1) === ']' && isPlainTest(args.slice(0, -1))
    case 'printf': {
      const format = known[0] === '--' ? known[1] : known[0]
      return typeof format === 'string' && (known[0] === '--' || !format.startsWith('-')) && !ASSIGNS.test(format)
    }
    case 'wait':
      return known.every((arg) => arg === null || !arg.startsWith('-'))
    case 'read':
      return known.every((arg) => arg !== null && /^(?:-r|[a-z_]\w*)$/.test(arg))
    case 'unset':
      return known.every((arg) => arg !== null && isFreeName(arg))
    case 'export':
      return args.every((arg) => exports(arg))
    default:
      return args.every((arg) => {
        const text = typeof arg === 'string' ? arg : arg.starts
        const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(text)?.[1]
        return name === undefined ? text === '-r' : isFreeName(name) && (typeof arg === 'string' || text.includes('='))
      })
  }
}

function isFreeName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !SPECIAL_VARIABLES.test(name)
}

function exports(arg: CommandWord): boolean {
  if (typeof arg !== 'string') return false
  const [, name = '', value] = /^(\w+)(?:=(.*))?$/s.exec(arg) ?? []
  return value === undefined ? isHarmlessVariable(name, '') : isHarmlessVariable(name, value)
}

/** `git --no-pager push` is `git push` for every rule. */
function gitWithoutOptions(
  name: string,
  words: readonly CommandWord[],
): { words: CommandWord[]; harmless: boolean } | null {
  if (name !== 'git') return null
  let at = 1
  let harmless = true
  for (; at < words.length; at++) {
    const word = words[at]
    if (typeof word !== 'string' || !word.startsWith('-')) break
    if (
      /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix|--attr-source)$/.test(word)
    ) {
      harmless &&= word === '-C' && isInside(words[at + 1])
      at++
    } else harmless &&= /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/.test(word)
  }
  if (at === 1 || at >= words.length) return null
  return { words: [words[0] as CommandWord, ...words.slice(at)], harmless }
}
