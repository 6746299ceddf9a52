import { posix } from 'node:path'

/** What is to be run of all tests. `path` is relative to the workspace. */
type Selection = { filter: string | null; path: string | null }

/** The words that select tests, in the way of one runner; a string says why it cannot. */
type Select = (selection: Selection) => string[] | string

const NO_NAME = 'it has no filter by name; give a path'
const NO_PATH = 'it has no filter by path; give a filter'

export const RUNNERS = {
  vitest: named('--testNamePattern='),
  jest: named('--testNamePattern='),
  mocha: named('--fgrep='),
  ava: named('--match='),
  playwright: named('--grep='),
  node: named('--test-name-pattern='),
  bun: named('--test-name-pattern='),
  deno: named('--filter='),
  pytest: apart('-k'),
  unittest: apart('-k'),
  rspec: apart('--example'),
  phpunit: apart('--filter'),
  mix: ({ filter, path }) => (filter === null ? words(path) : NO_NAME),
  dotnet: ({ filter, path }) => [...words(path), ...(filter === null ? [] : ['--filter', filter])],
  cargo: ({ filter, path }) => {
    if (path === null) return words(filter)
    const [, name] = /^tests\/([\w-]+)\.rs$/.exec(path) ?? []
    return name === undefined
      ? 'by path it runs only files in tests/; give a filter'
      : ['--test', name, ...words(filter)]
  },
  go: ({ filter, path }) => {
    const folder = path?.endsWith('.go') ? posix.dirname(path) : path
    const where = folder === null || folder === undefined ? './...' : folder === '.' ? '.' : `./${folder}`
    return [...(filter === null ? [] : ['-run', filter]), where]
  },
  maven: ({ filter, path }) => {
    const name = filter ?? (path === null ? null : posix.basename(path).replace(/\.\w+$/, ''))
    return name === null ? [] : [`-Dtest=${name}`, '-Dsurefire.failIfNoSpecifiedTests=false']
  },
  gradle: ({ filter, path }) => (path === null ? (filter === null ? [] : ['--tests', filter]) : NO_PATH),
} satisfies Record<string, Select>

export type Runner = keyof typeof RUNNERS

function named(option: string): Select {
  return ({ filter, path }) => [...(filter === null ? [] : [`${option}${filter}`]), ...words(path)]
}

function apart(option: string): Select {
  return ({ filter, path }) => [...(filter === null ? [] : [option, filter]), ...words(path)]
}

function words(word: string | null): string[] {
  return word === null ? [] : [word]
}

const SIGNS: [RegExp, Runner][] = [
  [/\bvitest\b/, 'vitest'],
  [/\b(?:jest|react-scripts test)\b/, 'jest'],
  [/\bmocha\b/, 'mocha'],
  [/\bava\b/, 'ava'],
  [/\bplaywright test\b/, 'playwright'],
  [/\b(?:node|tsx|c8)\b.*\s--test\b/, 'node'],
  [/\bbun test\b/, 'bun'],
  [/\bdeno test\b/, 'deno'],
  [/\b(?:pytest|py\.test)\b/, 'pytest'],
  [/-m unittest\b/, 'unittest'],
  [/\bcargo (?:test|t)\b/, 'cargo'],
  [/\bgo test\b/, 'go'],
  [/\brspec\b/, 'rspec'],
  [/\bphpunit\b/, 'phpunit'],
  [/\bmix test\b/, 'mix'],
  [/\bdotnet test\b/, 'dotnet'],
  [/\bmvnw?\b/, 'maven'],
  [/\bgradlew?\b/, 'gradle'],
]

/** The runner that words added to the end of a command would reach; null when it cannot be told. */
export function runnerOf(command: string): Runner | null {
  const last = command.split(/&&|\|\||;/).at(-1) ?? ''
  if (/[|<>#()`\n&]|\$\(/.test(last)) return null
  return SIGNS.find(([sign]) => sign.test(last))?.[1] ?? null
}
