import { matchesAny } from './globs.js'

/** The runtime's and git's own files. Writing them would let an agent move its own fences, in this run or the next. */
const PROTECTED = ['.git', '**/.git', '.retinue', '**/.retinue', 'retinue.yaml', 'retinue.yml']

/**
 * Whether a path, relative to the workspace, belongs to git or Retinue. Names count by what they are on any file system,
 * since a repository goes from one machine to another: `.GIT`, `.git.`, `git~1` and `.g<U+200C>it` are `.git` somewhere.
 */
export function isProtected(path: string): boolean {
  return matchesAny(PROTECTED, path.split(/[/\\]/).map(plainName).join('/'))
}

/** For git: of what is in `.retinue`, people version the agents and skills that they put there, and nothing else. */
export const OWN_GITIGNORE = ['*', '!/agents', '!/agents/**', '!/skills', '!/skills/**', ''].join('\n')

/**
 * Whether a path is what Retinue keeps about runs: the log, reports of sub-agents. What an agent knows of others is what
 * it is told, so its sub-agents do not read that. Skills are there to be read.
 */
export function isRecord(path: string): boolean {
  const [first, second] = path.split(/[/\\]/).map(plainName)
  return first === '.retinue' && second !== 'skills'
}

/** Characters that HFS+ leaves out when it compares names, and others that nobody sees. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
/** What NTFS leaves out at the end of a name: a stream, and dots and spaces before it. */
const ENDING = /[. ]*(?::.*)?$/s
/** The short names that Windows gives to them. */
const SHORT_NAMES: [RegExp, string][] = [
  [/^git~\d+$/, '.git'],
  [/^retinu~\d+$/, '.retinue'],
  [/^retinu~\d+\.yam$/, 'retinue.yaml'],
]

function plainName(name: string): string {
  const plain = name.replace(INVISIBLE, '').replace(ENDING, '').toLowerCase()
  if (plain === '') return name
  return SHORT_NAMES.find(([short]) => short.test(plain))?.[1] ?? plain
}
