import { closeSync, openSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Attack, LURE, type Place, run, type ToolCall } from './place.js'

/** Every tool that takes the path of a file, on one path. */
export function onFile(path: string): ToolCall[] {
  return [
    ['read_file', { path }],
    ['search_files', { pattern: LURE, path }],
    ['edit_file', { path, old_text: 'A', new_text: 'x' }],
    ['write_file', { path, content: 'overwritten' }],
  ]
}

/** git takes its time, so that its tools try only some of the paths. */
function onFileWithGit(path: string): ToolCall[] {
  return [
    ['git_diff', { paths: [path] }],
    ['git_log', { path }],
    ['git_commit', { message: 'x', paths: [path] }],
    ...onFile(path),
  ]
}

/** Every tool that takes a folder, on one folder. */
export function onFolder(path: string): ToolCall[] {
  return [
    ['list_dir', { path }],
    ['overview', { path }],
    ['find_files', { pattern: '*', path }],
    ['search_files', { pattern: LURE, path }],
    ['run_command', { command: 'ls; cat secret.txt; echo x > new.txt', cwd: path }],
  ]
}

type Reader = (place: Place, path: string) => string

/** A path as it is in a place: `{base}`, `{root}`, the last part of the base as `{name}`, `{pid}`, descriptors. */
export function spelled(spelling: string, { base, root }: Place): string {
  return spelling.replace(/\{(base|root|name|pid|fd:([^}]+))\}/g, (_, what: string, path: string | undefined) => {
    if (path !== undefined) return String(opened(join(base, path)))
    return { base, root, name: basename(base), pid: String(process.pid) }[what] ?? ''
  })
}

function opened(path: string): number {
  const fd = openSync(path, 'r')
  onTestFinished(() => closeSync(fd))
  return fd
}

function files(group: string, reader: Reader, spellings: string[]): Attack[] {
  return spellings.map((spelling, i) => ({
    name: `${group}: ${JSON.stringify(spelling)}`,
    calls: (place) => (i < 3 ? onFileWithGit : onFile)(spelled(spelling, place)),
    twin: (place) => reader(place, spelled(spelling, place)),
  }))
}

/** What the kernel makes of it. */
const cat: Reader = (place, path) => run(place, 'cat', ['--', path])
/** The same in this process, whose descriptors are meant. */
const here: Reader = (_, path) => readFileSync(path, 'utf8')
/** What a shell makes of it. */
const shell: Reader = (place, path) => run(place, 'bash', ['-c', `cat ${path}`])
/** What a program makes of it that takes paths for addresses of files. */
const address: Reader = (place, path) => readFileSync(new URL(path, pathToFileURL(`${place.root}/`)), 'utf8')

const SECRET = 'outside/secret.txt'

const DOTS = files('dots', cat, [
  `../${SECRET}`,
  `./../${SECRET}`,
  `.//..///${SECRET}`,
  `sub/../../${SECRET}`,
  `sub/deep/../../../${SECRET}`,
  `sub/./.././../${SECRET}`,
  `sub/../sub/../../${SECRET}`,
  '../outside/./secret.txt',
  '../outside/inner/../secret.txt',
  '../outside/../outside/secret.txt',
  `../ws/../${SECRET}`,
  `../ws/sub/../../${SECRET}`,
  `../../{name}/${SECRET}`,
  `${'../'.repeat(40)}{base}/${SECRET}`,
])

const ABSOLUTE = files('absolute', cat, [
  `{base}/${SECRET}`,
  `//{base}/${SECRET}`,
  `/.{base}/${SECRET}`,
  `/..{base}/${SECRET}`,
  '{base}//outside/./secret.txt',
  `{root}/../${SECRET}`,
  `{root}/sub/../../${SECRET}`,
  `{root}/./../${SECRET}`,
])

const SIBLINGS = files('prefix sibling', cat, [
  '../ws-evil/secret.txt',
  'sub/../../ws-evil/secret.txt',
  '../ws/../ws-evil/secret.txt',
  '{root}-evil/secret.txt',
  '{root}/../ws-evil/secret.txt',
  '{root}-evil/../ws-evil/secret.txt',
])

/** The last ones begin in the folder of the process that asks, which is the workspace for the twin. */
const PROC = files('proc', cat, [
  `/proc/self/root{base}/${SECRET}`,
  `/proc/thread-self/root{base}/${SECRET}`,
  `/proc/{pid}/root{base}/${SECRET}`,
  `/proc/{pid}/task/{pid}/root{base}/${SECRET}`,
  `/proc/self/root/proc/self/root{base}/${SECRET}`,
  `/dev/fd/../root{base}/${SECRET}`,
  `/proc/self/root{root}/../${SECRET}`,
  '/proc/self/root{root}-evil/secret.txt',
  `/proc/self/cwd/../${SECRET}`,
  `/proc/thread-self/cwd/../${SECRET}`,
  `/dev/fd/../cwd/../${SECRET}`,
])

/** Descriptors of this process: what is open here for other reasons is not open to agents. */
const DESCRIPTORS = files('descriptor', here, [
  '/proc/self/fd/{fd:outside/secret.txt}',
  '/dev/fd/{fd:outside/secret.txt}',
  '/proc/{pid}/fd/{fd:outside/secret.txt}',
  '/proc/thread-self/fd/{fd:outside/secret.txt}',
  '/proc/self/fd/{fd:outside}/secret.txt',
  `/proc/self/fd/{fd:ws}/../${SECRET}`,
])

const input: Reader = (place, path) => run(place, 'sh', ['-c', `cat ${path} < ../${SECRET}`])
const INPUT = files('input', input, ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])

const SHELL = files('shell', shell, [
  '~/secret.txt',
  '~/inner/../secret.txt',
  `~+/../${SECRET}`,
  '$HOME/secret.txt',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's variable.
  '${HOME}/secret.txt',
  `$(dirname "$PWD")/${SECRET}`,
  `\`dirname "$PWD"\`/${SECRET}`,
  '../out*/secret.txt',
  '../outsid?/secret.txt',
  '../[o]utside/secret.txt',
  '../{outside,none}/secret.txt',
  `'../${SECRET}'`,
  `"../${SECRET}"`,
  '..\\/outside\\/secret.txt',
  "$'\\x2e\\x2e/outside/secret.txt'",
  "$'\\056\\056/outside/secret.txt'",
])

const ADDRESSES = files('address', address, [
  `file://{base}/${SECRET}`,
  `FILE://{base}/${SECRET}`,
  `file://localhost{base}/${SECRET}`,
  `file:{base}/${SECRET}`,
  `file:../${SECRET}`,
  `%2e%2e/${SECRET}`,
  `.%2e/${SECRET}`,
  `%2E./${SECRET}`,
  `sub/%2e%2e/%2e%2e/${SECRET}`,
  '../%6futside/s%65cret.txt',
  '..\\outside\\secret.txt',
  'sub\\..\\..\\outside\\secret.txt',
  '..\\/outside/secret.txt',
  `.\t./${SECRET}`,
  `..\n/${SECRET}`,
  ` ../${SECRET} `,
  `../${SECRET}?x`,
  `../${SECRET}#x`,
])

/** A program that reads up to the first NUL. */
const NUL = files('NUL', (place, path) => run(place, 'xargs', ['-0', 'cat', '--'], path), [
  `../${SECRET}\0`,
  `../${SECRET}\0.txt`,
  `{base}/${SECRET}\0/../../ws/a.txt`,
])

const FOLDERS: Attack[] = [
  '..',
  '../',
  '../outside',
  '../outside/',
  '../outside/.',
  '../outside/inner/..',
  'sub/../../outside',
  '../ws-evil',
  '{root}-evil',
  '{base}/outside',
  '/proc/self/root{base}/outside',
  '{root}/../outside/',
].map((spelling) => ({
  name: `folder: ${spelling}`,
  calls: (place) => onFolder(spelled(spelling, place)),
  twin: (place) => run(place, 'grep', ['-r', LURE, '--', spelled(spelling, place)]),
}))

/** Nothing here takes them for anything but names. */
const NAMES: Attack[] = [
  '\uFF0E\uFF0E/outside/secret.txt',
  '..\u2215outside\u2215secret.txt',
  '..\uFF0Foutside\uFF0Fsecret.txt',
  '..%2foutside%2fsecret.txt',
  '%252e%252e/outside/secret.txt',
  '..%c0%afoutside%c0%afsecret.txt',
  '.\u200B./outside/secret.txt',
  '\u202Etxt.terces/edistuo/..',
  '..;/outside/secret.txt',
  '..../outside/secret.txt',
  `${'a'.repeat(300)}/../../outside/secret.txt`,
  `${'a/'.repeat(3000)}secret.txt`,
  '\\\\localhost\\outside\\secret.txt',
  'C:\\outside\\secret.txt',
].map((path) => ({
  name: `name: ${JSON.stringify(path).slice(0, 60)}`,
  calls: () => onFile(path),
  twin: null,
}))

export const SPELLINGS = [
  ...[DOTS, ABSOLUTE, SIBLINGS, PROC, DESCRIPTORS, INPUT, SHELL, ADDRESSES, NUL, FOLDERS, NAMES].flat(),
]
