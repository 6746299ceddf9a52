import type { CommandWord } from '../../domain/index.js'
import { HARMLESS_VALUES, HARMLESS_VARIABLES } from './programs.js'

/** What a program that runs another one runs. `ok: false`: its form is not simple enough to say. */
export type Inner = { ok: true; commands: CommandWord[][] } | { ok: false }

const NOT_SIMPLE: Inner = { ok: false }
const NONE: Inner = { ok: true, commands: [] }

/** Looks through programs that run what their arguments say; null for all others. */
export function innerCommands(name: string, words: readonly CommandWord[]): Inner | null {
  switch (name) {
    case 'timeout':
      return past(
        words,
        /^(?:-[v]+|--preserve-status|--foreground|--verbose|--(?:signal|kill-after)=\w+)$/,
        /^-[ks]$/,
        1,
      )
    case 'nice':
      return past(words, /^(?:-\d+|-n\d+|--adjustment=\d+)$/, /^-n$/, 0)
    case 'nohup':
      return past(words, /^$/, /^$/, 0)
    case 'time':
      return past(words, /^-[pv]$/, /^$/, 0)
    case 'stdbuf':
      return past(words, /^(?:-[ioe](?:L|\d+)|--(?:input|output|error)=(?:L|\d+))$/, /^-[ioe]$/, 0)
    case 'command':
      return typeof words[1] === 'string' && /^-[vV]$/.test(words[1]) ? NONE : past(words, /^$/, /^$/, 0)
    case 'builtin':
    case 'busybox':
    case 'toybox':
      return past(words, /^$/, /^$/, 0)
    case 'env':
      return throughEnv(words)
    case 'xargs':
      return throughXargs(words)
    case 'npx':
    case 'bunx':
    case 'pnpx':
      return past(words, /^(?:-y|--yes|--no|--no-install)$/, /^$/, 0)
    default:
      return null
  }
}

/** The command after known options and a number of operands. */
export function past(words: readonly CommandWord[], flags: RegExp, valued: RegExp, operands: number): Inner {
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    if (typeof word !== 'string') return NOT_SIMPLE
    if (word === '--') {
      at++
      break
    }
    if (!word.startsWith('-')) break
    if (valued.test(word) && typeof words[at + 1] === 'string') at++
    else if (!flags.test(word)) return NOT_SIMPLE
  }
  for (const operand of words.slice(at, at + operands)) {
    if (typeof operand !== 'string' || operand.startsWith('-')) return NOT_SIMPLE
  }
  const inner = words.slice(at + operands)
  return inner.length > 0 ? { ok: true, commands: [inner] } : NOT_SIMPLE
}

function throughEnv(words: readonly CommandWord[]): Inner {
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    const assigned = typeof word === 'string' ? /^(\w+)=(.*)$/s.exec(word) : null
    if (!assigned) break
    if (!isHarmlessVariable(assigned[1] as string, assigned[2] as string)) return NOT_SIMPLE
  }
  if (at === words.length) return NONE
  const first = words[at]
  return typeof first === 'string' && !/^-|=/.test(first) ? { ok: true, commands: [words.slice(at)] } : NOT_SIMPLE
}

/** Set in front of a command it changes nothing about what the command does to the world. */
export function isHarmlessVariable(name: string, value: CommandWord): boolean {
  if (typeof value !== 'string') return false
  if (Object.hasOwn(HARMLESS_VALUES, name)) return HARMLESS_VALUES[name]?.test(value) === true
  return HARMLESS_VARIABLES.has(name) && /^[\w.,:=+@%*-]*$/.test(value)
}

const ANY: CommandWord = { starts: '', many: true, option: true }

function throughXargs(words: readonly CommandWord[]): Inner {
  let replaced: string | null = null
  let counts = false
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    if (typeof word !== 'string') return NOT_SIMPLE
    if (!word.startsWith('-')) break
    const next = words[at + 1]
    counts ||= /^(?:-[nL]|--max-(?:args|lines))/.test(word)
    if (/^-[nPLds]$/.test(word) && typeof next === 'string') at++
    else if (word === '-I' && typeof next === 'string' && next !== '') {
      replaced = next
      at++
    } else if (/^-I./.test(word)) replaced = word.slice(2)
    else if (!/^(?:-[0rtx]+|-[nPL]\d+|-d.+|--null|--no-run-if-empty|--max-(?:args|procs|lines)=\d+)$/.test(word)) {
      return NOT_SIMPLE
    }
  }
  const inner = words.slice(at)
  // Without a command it prints what it reads.
  if (inner.length === 0) return NONE
  const mark = replaced
  // The later of the two undoes the other, and then words are added at the end.
  if (mark !== null && counts) return NOT_SIMPLE
  if (mark === null) return { ok: true, commands: [[...inner, ANY]] }
  return {
    ok: true,
    commands: [
      inner.map((word) => {
        const place = typeof word === 'string' ? word.indexOf(mark) : -1
        if (typeof word !== 'string' || place < 0) return word
        return { starts: word.slice(0, place), many: false, option: place === 0 || word.startsWith('-') }
      }),
    ],
  }
}

/** What `find` runs by `-exec` and its kin. */
export function findRuns(words: readonly CommandWord[]): Inner {
  const commands: CommandWord[][] = []
  for (let i = 1; i < words.length; i++) {
    const word = words[i]
    if (typeof word !== 'string' || !/^-./.test(word)) continue
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) {
      const values = valuesOf(word)
      if (values === null) return NOT_SIMPLE
      i += values
      continue
    }
    const rest = words.slice(i + 1)
    const plus = word.startsWith('-exec')
    const length = rest.findIndex((other, at) => other === ';' || (plus && other === '+' && rest[at - 1] === '{}'))
    const inner = rest.slice(0, length)
    if (length < 1 || inner.some((other) => typeof other !== 'string')) return NOT_SIMPLE
    if ((inner[0] as string).startsWith('-')) return NOT_SIMPLE
    const several = rest[length] === '+'
    commands.push(inner.map((other) => filled(other as string, several)))
    i += length + 1
  }
  return { ok: true, commands }
}

const FIND_ALONE = new Set(
  (
    '-print -print0 -ls -delete -prune -quit -depth -d -mount -xdev -follow -daystart -noleaf -ignore_readdir_race ' +
    '-noignore_readdir_race -warn -nowarn -empty -executable -readable -writable -true -false -nogroup -nouser -not ' +
    '-and -or -a -o -H -L -P -E -X -O0 -O1 -O2 -O3 -help --help -version --version --'
  ).split(' '),
)
const FIND_VALUED = new Set(
  (
    '-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex ' +
    '-iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -printf -regex -regextype ' +
    '-samefile -size -type -uid -used -user -wholename -xtype -fprint -fprint0 -fls -files0-from -Bmin -Btime -flags'
  ).split(' '),
)

/** How many words after it belong to a test of find; null where the test is not known. */
function valuesOf(test: string): number | null {
  if (FIND_ALONE.has(test)) return 0
  if (FIND_VALUED.has(test) || /^-newer[aBcm][aBcmt]$/.test(test)) return 1
  return test === '-fprintf' ? 2 : null
}

/** A name that find found begins as its starting point does; where none begins with a dash, no name does. */
function filled(word: string, several: boolean): CommandWord {
  const place = word.indexOf('{}')
  if (place < 0) return word
  return { starts: word.slice(0, place), many: several, option: word.startsWith('-') }
}
