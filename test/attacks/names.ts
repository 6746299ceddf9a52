import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { put } from '../host/helpers.js'
import { type Attack, CANARY, LURE, type Place, run, type ToolCall } from './place.js'
import { spelled } from './spellings.js'

function overwrite(path: string): ToolCall[] {
  return [
    ['write_file', { path, content: 'overwritten' }],
    ['edit_file', { path, old_text: 'e', new_text: 'x', replace_all: true }],
  ]
}

/** As the kernel takes it: dots behind links, slashes and line breaks as they are. */
const write = (path: string) => (place: Place) => {
  const whole = path.startsWith('/') ? path : `${place.root}/${path}`
  mkdirSync(whole.slice(0, whole.lastIndexOf('/')), { recursive: true })
  writeFileSync(whole, 'overwritten')
  return ''
}

/** The files that hold the fences themselves. */
const FENCES: Attack[] = [
  '.git/config',
  '.git/HEAD',
  '.git/hooks/pre-commit',
  '.git/hooks/new/hook',
  '.git/info/attributes',
  '.git/info/exclude',
  './.git/config',
  '.git//config',
  '.git/./config',
  '.git/hooks/../config',
  '.git/../.git/config',
  'sub/../.git/config',
  '../ws/.git/config',
  'sub/.git/config',
  'sub/deep/.git/hooks/post-checkout',
  'sub/.git',
  '.retinue/retinue.db',
  '.retinue/new.yaml',
  'sub/.retinue/demo.yaml',
  'sub/../.retinue/retinue.db',
  'retinue.yaml',
  './retinue.yaml',
  'sub/../retinue.yaml',
  'retinue.yml',
  '{root}/.git/config',
  '{root}/retinue.yaml',
  '/proc/self/root{root}/.git/config',
].map((path) => ({
  name: `fence: ${path}`,
  calls: (place) => overwrite(spelled(path, place)),
  twin: (place) => write(spelled(path, place))(place),
}))

const COMMITTED_FENCES: Attack[] = ['.retinue', '.retinue/retinue.db', 'sub/../.retinue', 'retinue.yaml'].map(
  (path) => ({
    name: `fence: git_commit of ${path}`,
    calls: () => [
      ['git_commit', { message: 'x', paths: [path] }],
      ['run_command', { command: 'git ls-files .retinue retinue.yaml | sed s/^/COMMITTED:/' }],
    ],
    unseen: 'COMMITTED:',
    twin: (place) =>
      run(place, 'git', ['add', '-f', '--', path]) +
      run(place, 'git', ['ls-files', '.retinue', 'retinue.yaml']).replace(/^/, 'COMMITTED:'),
  }),
)

const LINKED_FENCES: Attack[] = [
  ['a folder', 'g', '.git', 'g/config'],
  ['a file', 'c', '.git/config', 'c'],
  ['a folder below', 'h', '.git/hooks', 'h/post-commit'],
  ['a file that is not there', 'h', '.git/hooks/post-commit', 'h'],
  ['the configuration', 'y', 'retinue.yaml', 'y'],
  ['a configuration that is not there', 'y', 'retinue.yml', 'y'],
  ['the log', 'sub/r', '../.retinue', 'sub/r/retinue.db'],
  ['the workspace', 'w', '.', 'w/.git/config'],
].map(([name = '', link = '', target = '', path = '']) => ({
  name: `fence by a link to ${name}`,
  prepare: ({ root }) => symlinkSync(target, join(root, link)),
  calls: () => overwrite(path),
  twin: write(path),
}))

/** Names that are .git, .retinue or retinue.yaml on the file systems of other machines, where this is checked out. */
const ELSEWHERE = [
  '.GIT/config',
  '.Git/hooks/post-checkout',
  'sub/.gIT/config',
  '.git./config',
  '.git /config',
  '.git. ./config',
  '.git . /config',
  'git~1/config',
  'GIT~1/config',
  'sub/Git~2/config',
  '.git::$INDEX_ALLOCATION/config',
  '.git:x/config',
  '.git.::$INDEX_ALLOCATION/config',
  '.g\u200Cit/config',
  '.gi\u200Dt/config',
  '\u200E.git/config',
  '.git\uFEFF/config',
  '.\u206AG\u202EiT/hooks/post-checkout',
  '.RETINUE/retinue.db',
  '.Retinue/x',
  '.retinue./x',
  '.retinue::$DATA/x',
  '.ret\u200Cinue/x',
  'retinu~1/x',
  'Retinue.yaml',
  'RETINUE.YML',
  'retinue.yaml.',
  'retinue.yaml ',
  'retinue.yaml::$DATA',
  'retinue.y\u200Baml',
  'RETINU~1.YAM',
]

const OTHER_SYSTEMS: Attack[] = ELSEWHERE.map((path) => ({
  name: `name elsewhere: ${JSON.stringify(path)}`,
  calls: () => [['write_file', { path, content: 'overwritten' }]],
  guarded: [`ws/${path}`],
  twin: null,
}))

/** Where the contract narrows the paths, no spelling and no tool gets past that. */
const writable = { write_paths: [['src', 'src*/public/**']] }
const NARROW_WRITES: Attack[] = [
  ['plainly', 'docs/guide.txt'],
  ['by dots', 'src/../docs/guide.txt'],
  ['by dots behind what matches', 'src/x/../../docs/guide.txt'],
  ['by the name of the workspace', '../ws/docs/guide.txt'],
  ['by a link in what matches', 'src/link/guide.txt'],
  ['by a linked file in what matches', 'src/guide.txt'],
  ['by a folder named like the pattern', 'src*/guide.txt'],
  ['by a prefix', 'src-evil/guide.txt'],
  ['by a line break', 'src\n/guide.txt'],
  ['by braces', '{src,docs}/guide.txt'],
  ['by case', 'SRC/guide.txt'],
].map(([name = '', path = '']) => ({
  name: `write_paths: ${name}`,
  prepare: ({ root }) => {
    mkdirSync(join(root, 'src/x'), { recursive: true })
    symlinkSync('../docs', join(root, 'src/link'))
    symlinkSync('../docs/guide.txt', join(root, 'src/guide.txt'))
  },
  authority: writable,
  guarded: ['ws/docs/', ...(path.includes('..') || path.startsWith('src/') ? [] : [`ws/${dirname(path)}/`])],
  calls: () => overwrite(path),
  twin: write(path),
}))

/** A file in the workspace that may not be read. */
const HIDDEN = { 'ws/private/key.txt': `${CANARY}\n` }
const hidden = {
  rules: [
    {
      mode: 'dangerous' as const,
      rules: [{ decision: 'deny' as const, tool: 'read_file', pattern: 'private/**' }],
    },
  ],
}
const reads: [name: string, calls: ToolCall[], twin: (place: Place) => string][] = [
  ['plainly', [['read_file', { path: 'private/key.txt' }]], (place) => run(place, 'cat', ['private/key.txt'])],
  [
    'by dots',
    [['read_file', { path: 'sub/../private/key.txt' }]],
    (place) => run(place, 'cat', ['sub/../private/key.txt']),
  ],
  ['by a link', [['read_file', { path: 'p/key.txt' }]], (place) => run(place, 'cat', ['p/key.txt'])],
  ['by a linked file', [['read_file', { path: 'k' }]], (place) => run(place, 'cat', ['k'])],
  [
    'by searching',
    [
      ['search_files', { pattern: LURE }],
      ['search_files', { pattern: '.', context: 3 }],
    ],
    (place) => run(place, 'grep', ['-r', LURE, '.']),
  ],
  [
    'by searching it',
    [
      ['search_files', { pattern: LURE, path: 'private' }],
      ['search_files', { pattern: LURE, path: 'private/key.txt' }],
      ['search_files', { pattern: LURE, path: 'p/key.txt' }],
    ],
    (place) => run(place, 'grep', ['-r', LURE, 'private']),
  ],
  ['by the difference', [['git_diff', {}]], (place) => run(place, 'git', ['diff'])],
  [
    'by the difference of it',
    [
      ['git_diff', { paths: ['private'] }],
      ['git_diff', { ref: 'HEAD', paths: ['private/key.txt'] }],
    ],
    (place) => run(place, 'git', ['diff', 'private']),
  ],
  [
    'by a failed edit',
    [['edit_file', { path: 'private/key.txt', old_text: 'CANARX-7f3a', new_text: 'x' }]],
    (place) => run(place, 'cat', ['private/key.txt']),
  ],
]
const NARROW_READS: Attack[] = reads.map(([name, calls, twin]) => ({
  name: `a file that may not be read: ${name}`,
  prepare: ({ base, root }) => {
    put(base, HIDDEN)
    symlinkSync('private', join(root, 'p'))
    symlinkSync('private/key.txt', join(root, 'k'))
  },
  authority: hidden,
  calls: () => calls,
  twin,
}))

const HARD_WRITE: Attack = {
  name: 'write_paths: by a hard link in what matches',
  fresh: true,
  prepare: ({ root }) => {
    mkdirSync(join(root, 'src'))
    linkSync(join(root, 'docs/guide.txt'), join(root, 'src/guide.txt'))
  },
  authority: writable,
  guarded: ['ws/docs/'],
  calls: () => overwrite('src/guide.txt'),
  twin: write('src/guide.txt'),
}

export const NAMES = [
  ...FENCES,
  ...COMMITTED_FENCES,
  ...LINKED_FENCES,
  ...NARROW_WRITES,
  HARD_WRITE,
  ...NARROW_READS,
  ...OTHER_SYSTEMS,
]
