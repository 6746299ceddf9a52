import type { CommandWord } from '../../domain/index.js'
import { type Inner, past } from './wrappers.js'

type Runner = {
  /** Its own words that come before the command, as a rule must spell them. */
  says: string
  flags?: RegExp
  valued?: RegExp
  operands?: number
}

/** Tools of a project that run a program in an environment of their own. */
const RUNNERS: Record<string, Runner[]> = {
  uv: [
    { says: 'run', flags: /^(?:--frozen|--locked|--no-sync|--isolated|-q|--quiet|--all-extras|--dev|--no-dev)$/ },
    { says: 'tool run' },
  ],
  uvx: [{ says: '' }],
  pipx: [{ says: 'run' }],
  poetry: [{ says: 'run' }],
  pipenv: [{ says: 'run' }],
  pdm: [{ says: 'run' }],
  hatch: [{ says: 'run' }],
  rye: [{ says: 'run' }],
  pixi: [{ says: 'run' }],
  conda: [{ says: 'run', flags: /^(?:--no-capture-output|--live-stream)$/, valued: /^-[np]$/ }],
  mamba: [{ says: 'run', valued: /^-[np]$/ }],
  micromamba: [{ says: 'run', valued: /^-[np]$/ }],
  bundle: [{ says: 'exec' }],
  direnv: [{ says: 'exec', operands: 1 }],
  asdf: [{ says: 'exec' }],
  doppler: [{ says: 'run' }],
  op: [{ says: 'run' }],
}

/** What such a tool runs, and the word that a rule must say for it; null for all others. */
export function throughRunner(
  name: string,
  words: readonly CommandWord[],
): { inner: Inner; spelled: { at: number; flag: string } } | null {
  const runners = Object.hasOwn(RUNNERS, name) ? (RUNNERS[name] as Runner[]) : []
  for (const { says, flags = /^$/, valued = /^$/, operands = 0 } of runners) {
    const own = says.split(' ').filter((word) => word !== '')
    if (!own.every((word, i) => words[i + 1] === word)) continue
    return {
      inner: past(words.slice(own.length), flags, valued, operands),
      spelled: { at: own.length, flag: own.at(-1) ?? name },
    }
  }
  return null
}
