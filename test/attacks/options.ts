import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { onTestFinished } from 'vitest'
import { git, put } from '../host/helpers.js'
import { type Attack, CANARY, LURE, type Place, run, type ToolCall } from './place.js'

/** What git takes for more than a path, in a workspace that is a part of a repository. */
const PATHSPECS = [
  '../other',
  '../other/secret.txt',
  '..',
  ':/',
  ':/other',
  ':(top)',
  ':(top)other',
  ':(top)other/secret.txt',
  ':(top,icase)OTHER',
  ':(top,glob)**/secret.txt',
  ':(top,literal)other',
  ':(glob)../**',
  ':!none',
  ':^none',
  ':(exclude)none',
  ':(top,exclude)none',
  ':/*',
  ':(attr:!x)../other',
]

const DIFFS: Attack[] = PATHSPECS.map((path) => ({
  name: `pathspec: git_diff of ${path}`,
  in: 'mono/pkg',
  calls: () => [
    ['git_diff', { paths: [path] }],
    ['git_diff', { ref: 'HEAD~1', paths: ['a.txt', path] }],
  ],
  twin: (place) => run(place, 'git', ['diff', '--', path]),
}))

const COMMITS: Attack[] = ['../other', ':/', ':/other', ':(top)other', ':(glob)../**', ':!none'].map((path) => ({
  name: `pathspec: git_commit of ${path}`,
  in: 'mono/pkg',
  calls: () => [['git_commit', { message: 'x', paths: [path] }]],
  twin: (place) => run(place, 'git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-m', 'x', '--', path]),
}))

const LOGS: Attack[] = ['../other', ':/', ':/other', ':(top)other', ':!none'].map((path) => ({
  name: `pathspec: git_log of ${path}`,
  in: 'mono/pkg',
  calls: () => [['git_log', { path }]],
  twin: (place) => run(place, 'git', ['log', '--', path]),
}))

const REFS: Attack[] = [
  'HEAD:other/secret.txt..HEAD:pkg/a.txt',
  'HEAD:pkg/a.txt..HEAD:other/secret.txt',
  ':other/secret.txt',
  ':0:other/secret.txt',
  'HEAD:../other/secret.txt',
  '--no-relative',
  '--output=../other/secret.txt',
  '--output=../../outside/secret.txt',
].map((ref) => ({
  name: `ref: git_diff of ${ref}`,
  in: 'mono/pkg',
  calls: () => [
    ['git_diff', { ref }],
    ['git_diff', { ref, paths: ['a.txt'] }],
    ['git_diff', { ref, staged: true }],
  ],
  twin: (place) =>
    run(place, 'git', ref.startsWith('-') || ref.includes('..H') ? ['diff', ref] : ['diff', ref, 'a.txt']),
}))

/** The whole of a repository, seen from a part of it. */
const WHOLE: Attack[] = [
  ['git_diff', { ref: 'HEAD~1' }, ['diff', 'HEAD~1']],
  ['git_diff', { ref: 'HEAD~1..HEAD' }, ['diff', 'HEAD~1..HEAD']],
  ['git_log', {}, ['log']],
].map(([tool, args, twin]) => ({
  name: `whole repository: ${tool} ${JSON.stringify(args)}`,
  in: 'mono/pkg',
  calls: () => [[tool, args] as ToolCall],
  twin: (place) => run(place, 'git', twin as string[]),
}))

const GIT_OPTIONS: Attack[] = [
  ['--output=../outside/secret.txt'],
  ['--output', '../outside/secret.txt'],
  ['-O../outside/secret.txt', '--output=../outside/new.txt'],
  ['--no-index', '/dev/null', '../outside/secret.txt'],
  ['--ext-diff', '--no-index', '/dev/null', '../outside/secret.txt'],
].map((paths) => ({
  name: `option: git_diff of ${paths.join(' ')}`,
  prepare: ({ root }) => writeFileSync(join(root, 'a.txt'), 'changed\n'),
  calls: () => [['git_diff', { paths }]],
  twin: (place) => run(place, 'git', ['diff', ...paths]),
}))

/** Runs when ripgrep or git run it, and then reads what is outside. */
function withProgram({ base, root }: Place): void {
  const program = join(root, 'evil.sh')
  writeFileSync(program, `#!/bin/sh\necho planted > ${base}/outside/planted.txt\ncat ${base}/outside/secret.txt\n`)
  chmodSync(program, 0o755)
}

const RIPGREP: Attack[] = [
  '--follow',
  '-L',
  '--pre=./evil.sh',
  '--hostname-bin=./evil.sh',
  '--files-with-matches --follow',
  '-Lu',
].map((option) => ({
  name: `option: search for ${option}`,
  prepare: (place) => {
    withProgram(place)
    symlinkSync('../outside', join(place.root, 'out'))
  },
  calls: () => [
    ['search_files', { pattern: option }],
    ['search_files', { pattern: option, literal: true }],
    ['search_files', { pattern: LURE, path: option }],
    ['search_files', { pattern: LURE, glob: option }],
    ['find_files', { pattern: option }],
    ['find_files', { pattern: '*', path: option }],
  ],
  // A link to a host is made from the name of the machine, which the program is asked for.
  twin: (place) => run(place, rgPath, [...option.split(' '), '--hyperlink-format=file://{host}{path}', '.', './']),
}))

const GLOBS: Attack[] = [
  '../outside/*',
  '../*/secret.txt',
  '../{outside,none}/*',
  './../outside/*',
  'sub/../../outside/*',
  '{..,.}/outside/*',
  '~/*',
  'out/*',
  'o*t/*',
].map((pattern) => ({
  name: `glob: ${pattern}`,
  prepare: ({ root }) => symlinkSync('../outside', join(root, 'out')),
  calls: ({ base }) => [
    ['find_files', { pattern }],
    ['find_files', { pattern, path: 'sub' }],
    ['find_files', { pattern: `${base}/outside/*` }],
    ['search_files', { pattern: LURE, glob: pattern }],
    ['search_files', { pattern: LURE, glob: `!${pattern}` }],
  ],
  twin: (place) => run(place, 'bash', ['-c', `cat ${pattern}`]),
}))

/** A repository that the agent makes, whose configuration runs programs. */
const EVIL_CONFIG =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n[filter "x"]\n\tclean = ./evil.sh\n'
const REPOSITORIES: Attack[] = [
  {
    name: 'repository: one without .git, in the place of the real one',
    fresh: true,
    in: 'mono/pkg',
    prepare: withProgram,
    calls: () => [
      ['write_file', { path: 'HEAD', content: 'ref: refs/heads/main\n' }],
      ['write_file', { path: 'objects/x', content: '' }],
      ['write_file', { path: 'refs/x', content: '' }],
      ['write_file', { path: 'config', content: EVIL_CONFIG }],
      ['write_file', { path: '.gitattributes', content: '* filter=x\n' }],
      ['git_status', {}],
      ['git_diff', {}],
      ['git_commit', { message: 'x' }],
    ],
    twin: (place) => {
      put(place.root, { HEAD: 'ref: refs/heads/main\n', config: EVIL_CONFIG, '.gitattributes': '* filter=x\n' })
      for (const folder of ['objects', 'refs']) mkdirSync(join(place.root, folder))
      return run(place, 'git', ['add', '.'])
    },
  },
  {
    name: 'repository: one below, whose state the one above asks for',
    fresh: true,
    prepare: (place) => {
      withProgram(place)
      const nested = join(place.root, 'nested')
      put(nested, { 'f.txt': 'one\n' })
      git(nested, 'init', '-q')
      git(nested, 'add', '-A')
      git(nested, 'commit', '-q', '-m', 'x')
      git(place.root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'nested')
      git(nested, 'config', 'filter.x.clean', '../evil.sh')
      put(nested, { '.gitattributes': '* filter=x\n', 'f.txt': 'two\n' })
    },
    calls: () => [
      ['git_status', {}],
      ['git_diff', {}],
      ['git_diff', { ref: 'HEAD' }],
      ['git_diff', { paths: ['nested'] }],
      ['git_commit', { message: 'x', paths: ['nested'] }],
      ['git_commit', { message: 'x' }],
    ],
    twin: (place) => run(place, 'git', ['status']),
  },
]

/** What never ends without a fence. */
const HUNG = `${CANARY}, after a time without end`
const hangs = (place: Place, ...command: string[]): string => {
  try {
    execFileSync('timeout', ['1', ...command], { cwd: place.root, stdio: 'ignore' })
    return ''
  } catch (error) {
    return (error as { status: number }).status === 124 ? HUNG : ''
  }
}

const special = (name: string, path: string): ToolCall[] => [
  ['read_file', { path }],
  ['write_file', { path, content: 'x' }],
  ['edit_file', { path, old_text: 'x', new_text: 'y' }],
  ['search_files', { pattern: 'x', path }],
  ['search_files', { pattern: name }],
  ['find_files', { pattern: name }],
  ['list_dir', {}],
  ['list_dir', { path }],
  ['run_command', { command: 'true', cwd: path }],
  ['git_commit', { message: 'x', paths: [path] }],
]

const SPECIAL: Attack[] = [
  {
    name: 'special file: a named pipe is read',
    prepare: ({ root }) => void execFileSync('mkfifo', [join(root, 'pipe')]),
    calls: () => special('pipe', 'pipe'),
    twin: (place) => hangs(place, 'cat', 'pipe'),
  },
  {
    name: 'special file: a named pipe is written',
    prepare: ({ root }) => void execFileSync('mkfifo', [join(root, 'pipe')]),
    calls: () => [['write_file', { path: 'pipe', content: 'x' }]],
    twin: (place) => hangs(place, 'sh', '-c', 'echo x > pipe'),
  },
  {
    name: 'special file: a link to a device without end',
    prepare: ({ root }) => symlinkSync('/dev/zero', join(root, 'zero')),
    calls: () => special('zero', 'zero'),
    twin: (place) => hangs(place, 'cat', 'zero'),
  },
  {
    name: 'special file: a link to a named pipe outside',
    prepare: ({ base, root }) => {
      execFileSync('mkfifo', [join(base, 'outside/pipe')])
      symlinkSync('../outside/pipe', join(root, 'pipe'))
    },
    calls: () => special('pipe', 'pipe'),
    twin: (place) => hangs(place, 'cat', 'pipe'),
  },
  {
    name: 'special file: a socket',
    prepare: ({ root }) => {
      const server = createServer().listen(join(root, 'socket'))
      onTestFinished(() => void server.close())
    },
    calls: () => special('socket', 'socket'),
    twin: null,
  },
]

export const OPTIONS = [
  ...[DIFFS, COMMITS, LOGS, REFS, WHOLE, GIT_OPTIONS, RIPGREP, GLOBS, REPOSITORIES, SPECIAL].flat(),
]
