import {
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Attack, LURE, type Place, run, type ToolCall } from './place.js'
import { onFile, onFolder } from './spellings.js'

type Links = Record<string, string | ((place: Place) => string)>

function link(place: Place, links: Links): void {
  for (const [name, target] of Object.entries(links)) {
    const path = join(place.root, name)
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { recursive: true, force: true })
    symlinkSync(typeof target === 'string' ? target : target(place), path)
  }
}

/** A file outside by way of links, read and overwritten. */
function toFile(name: string, links: Links, path: string): Attack {
  return {
    name: `link: ${name}`,
    prepare: (place) => link(place, links),
    calls: () => onFile(path),
    twin: (place) => run(place, 'cat', ['--', path]),
  }
}

function toFolder(name: string, links: Links, path: string): Attack {
  return {
    name: `linked folder: ${name}`,
    prepare: (place) => link(place, links),
    calls: () => onFolder(path),
    twin: (place) => run(place, 'grep', ['-r', LURE, '--', `${path}/`]),
  }
}

/** A file that is not there yet, outside, by way of links that lead nowhere. */
function toNew(name: string, links: Links, path: string): Attack {
  return {
    name: `dangling link: ${name}`,
    prepare: (place) => link(place, links),
    calls: () => [
      ['write_file', { path, content: 'planted' }],
      ['edit_file', { path, old_text: '', new_text: 'planted' }],
    ],
    twin: (place) => run(place, 'sh', ['-c', 'echo planted > "$0"', path]),
  }
}

const chain = (length: number, end: string): Links =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`l${i}`, i + 1 < length ? `l${i + 1}` : end]))

const TO_FILES: Attack[] = [
  toFile('relative', { x: '../outside/secret.txt' }, 'x'),
  toFile('absolute', { x: ({ base }) => `${base}/outside/secret.txt` }, 'x'),
  toFile('in place of a file', { 'a.txt': '../outside/secret.txt' }, 'a.txt'),
  toFile('in a folder', { 'sub/x': '../../outside/secret.txt' }, 'sub/x'),
  toFile('through a folder, relative', { out: '../outside' }, 'out/secret.txt'),
  toFile('through a folder, absolute', { out: ({ base }) => `${base}/outside` }, 'out/secret.txt'),
  toFile('in place of a folder', { sub: '../outside' }, 'sub/secret.txt'),
  toFile('with a slash at its end', { out: '../outside/' }, 'out/secret.txt'),
  toFile('with many slashes', { x: '..//outside///secret.txt' }, 'x'),
  toFile('that goes in and out', { x: 'sub/../../outside/secret.txt' }, 'x'),
  toFile('that goes out and in and out', { x: '../ws/../outside/secret.txt' }, 'x'),
  toFile('to the parent', { up: '..' }, 'up/outside/secret.txt'),
  toFile('to the parent by absolute path', { up: ({ base }) => base }, 'up/outside/secret.txt'),
  toFile('to the parent, twice', { up: '..', 'sub/up': '../up' }, 'sub/up/outside/secret.txt'),
  toFile('to here, then up', { here: '.' }, 'here/../ws/../outside/secret.txt'),
  toFile('out and up', { out: '../outside/inner' }, 'out/../secret.txt'),
  toFile('out and to a sibling', { out: '../outside' }, 'out/../ws-evil/secret.txt'),
  toFile('to a prefix sibling', { x: '../ws-evil/secret.txt' }, 'x'),
  toFile('to a folder that is a prefix sibling', { out: ({ root }) => `${root}-evil` }, 'out/secret.txt'),
  toFile('of two', chain(2, '../outside/secret.txt'), 'l0'),
  toFile('of ten', chain(10, '../outside/secret.txt'), 'l0'),
  toFile('of as many as the kernel follows', chain(39, '../outside/secret.txt'), 'l0'),
  toFile('folder by folder', { 'a/b': '../c', 'c/d': '../../outside' }, 'a/b/d/secret.txt'),
  toFile('to the root of the system', { slash: '/' }, `slash/proc/self/cwd/../outside/secret.txt`),
  toFile('to /proc/self/root', { r: ({ base }) => `/proc/self/root${base}/outside` }, 'r/secret.txt'),
  toFile('to /proc/self/cwd', { c: '/proc/self/cwd' }, 'c/../outside/secret.txt'),
  toFile('named like a pattern', { '*': '../outside' }, '*/secret.txt'),
  toFile('with a line break in its name', { 'x\ny': '../outside' }, 'x\ny/secret.txt'),
  toFile('named like an option', { '-rf': '../outside' }, '-rf/secret.txt'),
  toFile('named like dots', { '...': '../outside' }, '.../secret.txt'),
]

const TO_FOLDERS: Attack[] = [
  toFolder('relative', { out: '../outside' }, 'out'),
  toFolder('absolute', { out: ({ base }) => `${base}/outside` }, 'out'),
  toFolder('to the parent', { up: '..' }, 'up'),
  toFolder('in place of a folder', { sub: '../outside' }, 'sub'),
  toFolder('through another', { up: '..' }, 'up/outside'),
  toFolder('of three', chain(3, '../outside'), 'l0'),
]

const NEW: Attack[] = [
  toNew('relative', { x: '../outside/new.txt' }, 'x'),
  toNew('absolute', { x: ({ base }) => `${base}/outside/new.txt` }, 'x'),
  toNew('of two', { x: 'y', y: '../outside/new.txt' }, 'x'),
  toNew('through a folder', { out: '../outside' }, 'out/new.txt'),
  toNew('through a folder to a hidden file', { out: '../outside' }, 'out/.bashrc'),
  toNew('into the home', { x: ({ base }) => `${base}/outside/.profile` }, 'x'),
]

/** Walking a tree never follows what links out of it. */
const WALKS: Attack[] = [
  {
    name: 'walk: search_files over a linked folder',
    prepare: (place) => link(place, { out: '../outside' }),
    calls: () => [
      ['search_files', { pattern: LURE }],
      ['search_files', { pattern: LURE, glob: 'out/**' }],
    ],
    twin: (place) => run(place, 'grep', ['-R', LURE, '.']),
  },
  {
    name: 'walk: search_files over a linked file',
    prepare: (place) => link(place, { 'x.txt': '../outside/secret.txt' }),
    calls: () => [['search_files', { pattern: LURE, glob: '*.txt' }]],
    twin: (place) => run(place, 'grep', ['-R', LURE, '.']),
  },
  {
    name: 'walk: find_files over a linked folder',
    prepare: (place) => link(place, { out: '../outside' }),
    calls: () => ['**/*', 'out/*', 'out/**', '*', 'CANARY*'].map((pattern): ToolCall => ['find_files', { pattern }]),
    twin: (place) => run(place, 'find', ['-L', '.']),
  },
  {
    name: 'walk: list_dir of a folder with a link',
    prepare: (place) => link(place, { out: '../outside' }),
    calls: () => [['list_dir', { path: '.' }]],
    twin: (place) => run(place, 'ls', ['-L', '-R', '.']),
  },
  {
    name: 'walk: overview of a folder with links',
    prepare: (place) => link(place, { out: '../outside', 'README.md': '../outside/secret.txt' }),
    calls: () => [['overview', {}]],
    twin: (place) => run(place, 'ls', ['-L', '-R', '.']),
  },
  {
    name: 'walk: git_commit of a link',
    prepare: (place) => link(place, { 'x.txt': '../outside/secret.txt' }),
    calls: () => [
      ['git_commit', { message: 'x' }],
      ['git_diff', { ref: 'HEAD~1' }],
    ],
    twin: (place) => run(place, 'tar', ['-chO', 'x.txt']),
  },
]

/** A hard link is the file itself. What is written gets a file of its own. */
const HARD: Attack[] = (['write_file', 'edit_file'] as const).flatMap((tool) =>
  [
    ['outside', '../outside/secret.txt'],
    ['what belongs to git', '.git/config'],
    ['what belongs to Retinue', '.retinue/retinue.db'],
  ].map(
    ([what = '', target = '']): Attack => ({
      name: `hard link: ${tool} to ${what}`,
      fresh: true,
      prepare: ({ root }) => linkSync(join(root, target), join(root, 'x')),
      calls: () => [
        tool === 'write_file'
          ? [tool, { path: 'x', content: 'overwritten' }]
          : [tool, { path: 'x', old_text: target.includes('config') ? 'bare' : 'e', new_text: 'x', replace_all: true }],
      ],
      twin: ({ root }) => {
        writeFileSync(join(root, 'x'), 'overwritten')
        return ''
      },
    }),
  ),
)

/** Judged, exchanged, done. The twin judges by the real path too, and then trusts the name. */
function exchanged(
  name: string,
  calls: ToolCall[],
  exchange: (place: Place) => void,
  use: (place: Place) => string,
): Attack {
  return {
    name: `exchanged after it was judged: ${name}`,
    calls: () => calls,
    meanwhile: exchange,
    twin: (place) => {
      if (!realpathSync(place.root).startsWith(place.root)) return ''
      exchange(place)
      return use(place)
    },
  }
}

const away = (name: string, target: string) => (place: Place) => {
  renameSync(join(place.root, name), join(place.root, 'away'))
  symlinkSync(target, join(place.root, name))
}
const reading = (path: string) => (place: Place) => readFileSync(join(place.root, path), 'utf8')
const writing = (path: string) => (place: Place) => {
  writeFileSync(join(place.root, path), 'overwritten')
  return ''
}

const EXCHANGED: Attack[] = [
  exchanged(
    'a file that is read',
    [['read_file', { path: 'a.txt' }]],
    away('a.txt', '../outside/secret.txt'),
    reading('a.txt'),
  ),
  exchanged(
    'the folder of a file that is read',
    [['read_file', { path: 'sub/secret.txt' }]],
    away('sub', '../outside'),
    reading('sub/secret.txt'),
  ),
  exchanged(
    'a file that is written',
    [['write_file', { path: 'a.txt', content: 'overwritten' }]],
    away('a.txt', '../outside/secret.txt'),
    writing('a.txt'),
  ),
  exchanged(
    'the folder of a file that is written',
    [['write_file', { path: 'sub/secret.txt', content: 'overwritten' }]],
    away('sub', '../outside'),
    writing('sub/secret.txt'),
  ),
  exchanged(
    'the folder of folders that are made',
    [['write_file', { path: 'sub/x/y/z.txt', content: 'planted' }]],
    away('sub', '../outside'),
    (place) => {
      mkdirSync(join(place.root, 'sub/x/y'), { recursive: true })
      return writing('sub/x/y/z.txt')(place)
    },
  ),
  exchanged(
    'nothing, for a link that leads to a new file',
    [['write_file', { path: 'new.txt', content: 'planted' }]],
    (place) => symlinkSync('../outside/new.txt', join(place.root, 'new.txt')),
    writing('new.txt'),
  ),
  exchanged(
    'nothing, for a link into git',
    [['write_file', { path: 'hook', content: 'planted' }]],
    (place) => symlinkSync('.git/hooks/post-commit', join(place.root, 'hook')),
    writing('hook'),
  ),
  exchanged(
    'a file that is edited',
    [['edit_file', { path: 'a.txt', old_text: 'inside', new_text: 'x' }]],
    away('a.txt', '../outside/secret.txt'),
    writing('a.txt'),
  ),
  exchanged('a folder that is listed', [['list_dir', { path: 'sub' }]], away('sub', '../outside'), (place) =>
    run(place, 'ls', ['sub/']),
  ),
  exchanged(
    'a folder in which files are found',
    [['find_files', { path: 'sub', pattern: '*' }]],
    away('sub', '../outside'),
    (place) => run(place, 'find', ['sub/']),
  ),
  exchanged(
    'a folder that is searched',
    [['search_files', { path: 'sub', pattern: LURE }]],
    away('sub', '../outside'),
    (place) => run(place, 'grep', ['-r', LURE, 'sub/']),
  ),
  exchanged(
    'a file that is searched',
    [['search_files', { path: 'a.txt', pattern: LURE }]],
    away('a.txt', '../outside/secret.txt'),
    (place) => run(place, 'grep', [LURE, 'a.txt']),
  ),
  exchanged(
    'the folder that a command runs in',
    [['run_command', { command: 'cat secret.txt', cwd: 'sub' }]],
    away('sub', '../outside'),
    (place) => run(place, 'sh', ['-c', 'cd sub && cat secret.txt']),
  ),
]

const LOOPS: Attack[] = [
  { x: 'x' },
  { x: 'y', y: 'x' },
  { 'x/up': '..', 'x/up2': '../x/up2/../up' },
  chain(60, '../outside/secret.txt'),
].map((links, i) => ({
  name: `loop: #${i + 1}`,
  prepare: (place) => link(place, links),
  calls: () => ['x', 'x/y', 'x/up2', 'l0'].flatMap((path) => [...onFile(path), ...onFolder(path)]),
  twin: null,
}))

export const LINKS = [...TO_FILES, ...TO_FOLDERS, ...NEW, ...WALKS, ...HARD, ...EXCHANGED, ...LOOPS]
