import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lutimesSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, filesIn } from './merge-files.js'
import { git, makeProject, type WhenFinished } from './project.js'

/** Fixed, because what an interruption adds to a conversation would change an estimate. */
const USAGE = 'usage: { input_tokens: 100, output_tokens: 10 }'

/**
 * Three that write different files, one of them judged by a command; one that has to wait for the first; and one that
 * could have written and did not. The root writes too. A command that was interrupted is not made again, so the third
 * looks a second time whether it was.
 */
export const SCRIPT = `
agents:
  root:
    - ${USAGE}
      calls:
        - spawn: { task: Write the first, owns: ["one/**"] }
        - spawn: { task: Write the second, owns: ["two/**"], checks: ["grep -q second two/new.txt"] }
        - spawn: { task: Write the third, owns: ["three/**"] }
        - spawn: { task: Write the first again, owns: ["one/**"] }
        - spawn: { task: Write nothing, owns: ["four/**"] }
    - expect: { matches: "^a1\\\\na2\\\\na3\\\\na4\\\\na5$" }
      ${USAGE}
      calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: ["[a1: OK]", "[a2: OK]", "[a3: OK]", "[a4: OK]", "[a5: OK]"] }
      ${USAGE}
      calls:
        - write_file: { path: summary.txt, content: "all of it\\n" }
    - ${USAGE}
      text: "All done."
  a1:
    - ${USAGE}
      calls:
        - edit_file: { path: one/old.txt, old_text: uno, new_text: eins }
    - ${USAGE}
      delay_ms: 100
      text: First.
  a2:
    - ${USAGE}
      calls:
        - write_file: { path: two/new.txt, content: "the second\\n" }
    - ${USAGE}
      text: Second.
  a3:
    - ${USAGE}
      calls:
        - run_command: { command: "rm -f three/old.txt" }
    - ${USAGE}
      calls:
        - write_file: { path: three/new.txt, content: "third\\n" }
    - ${USAGE}
      calls:
        - run_command: { command: "rm -f three/old.txt" }
    - ${USAGE}
      text: Third.
  a4:
    - ${USAGE}
      calls:
        - edit_file: { path: one/old.txt, old_text: one, new_text: ONE }
    - ${USAGE}
      text: First again.
  a5:
    - ${USAGE}
      calls:
        - run_command: { command: "sh -c true" }
    - ${USAGE}
      text: Nothing.
`

/** Those that change something, in the order in which they are merged. */
export const CHILDREN = ['a1', 'a2', 'a3', 'a4']

const COMMITTED = {
  '.gitignore': '*.log\n',
  'one/old.txt': 'one\n',
  'two/old.txt': 'two\n',
  'three/old.txt': 'three\n',
  'gone.txt': 'gone\n',
  'staged.txt': 'committed\n',
}

/** What the person has when a run begins: something of every kind that git tells apart. */
const THEIRS: Files = {
  '.gitignore': '*.log\n',
  'one/old.txt': 'one\nuno\n',
  'two/old.txt': 'two\n',
  'three/old.txt': 'three\n',
  'staged.txt': 'staged\nand more\n',
  'untracked.txt': 'untracked\n',
  'ignored.log': 'ignored\n',
}

/** And what a run adds to it. */
export function landedIn(files: Files): Files {
  const { 'three/old.txt': _, ...rest } = files
  return {
    ...rest,
    'one/old.txt': 'ONE\neins\n',
    'two/new.txt': 'the second\n',
    'three/new.txt': 'third\n',
    'summary.txt': 'all of it\n',
  }
}

export type Checkout = { files: Files; repository: Record<string, string> }

export function workspaceProject(finished: WhenFinished, script = SCRIPT): { cwd: string; before: Checkout } {
  const cwd = makeProject({ 'script.yaml': script, ...COMMITTED }, { git: true, finished })
  writeFileSync(join(cwd, 'staged.txt'), 'stashed\n')
  git(cwd, 'stash', 'push', '--quiet')
  git(cwd, 'branch', 'other')
  writeFileSync(join(cwd, 'staged.txt'), 'staged\n')
  git(cwd, 'add', 'staged.txt')
  for (const [name, text] of Object.entries(THEIRS)) writeFileSync(join(cwd, name), text as string)
  rmSync(join(cwd, 'gone.txt'))
  return { cwd, before: checkout(cwd) }
}

/** All that is the person's: their files and, by digests, what their repository is made of, but for refs of ours. */
export function checkout(cwd: string): Checkout {
  const { 'script.yaml': _, ...files } = filesIn(cwd, ['.git', '.retinue'])
  return { files, repository: digestsIn(join(cwd, '.git')) }
}

function digestsIn(folder: string): Record<string, string> {
  const digests: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const below = path.slice(folder.length + 1)
    // Nobody sees objects that no ref leads to.
    if (!entry.isFile() || below.startsWith('objects/')) continue
    if (/^(?:logs\/)?refs\/(?:heads\/)?retinue\//.test(below)) continue
    digests[below] = createHash('sha1').update(readFileSync(path)).digest('hex')
  }
  return digests
}

/** Refs whose names begin with one of these, in the person's repository or in the private one. */
export function refsIn(cwd: string, where: 'theirs' | 'private', ...begin: string[]): string[] {
  const git_dir = join(cwd, where === 'theirs' ? '.git' : '.retinue/git')
  if (!existsSync(git_dir)) return []
  const args = [`--git-dir=${git_dir}`, 'for-each-ref', '--format=%(refname)', ...begin]
  return execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
}

/** The worktrees that there are, as receipts name them. */
export function treesIn(cwd: string): string[] {
  const folder = join(cwd, '.retinue/worktrees')
  const runs = existsSync(folder) ? readdirSync(folder) : []
  return runs.flatMap((run) => readdirSync(join(folder, run)).map((name) => `.retinue/worktrees/${run}/${name}`)).sort()
}

/** What there may be in a folder's .retinue when no run is at work, besides worktrees that are kept. */
const LASTING = [
  // The folder, with nobody in it.
  /^git\/owners$/,
  /^(?:\.gitignore|calls\.jsonl|asked|retinue\.db.*|reports(?:\/.*)?|plans(?:\/<run>\.yaml)?|worktrees|git)$/,
  /^git\/(?:HEAD|config|format|worktrees|info|info\/exclude|refs|objects|objects\/(?:info|pack)|objects\/info\/alternates)$/,
  /^git\/objects\/(?:[0-9a-f]{2}(?:\/[0-9a-f]{38})?|pack\/pack-[0-9a-f]+\.[a-z]+)$/,
  /^git\/refs\/(?:heads|retinue)(?:\/retinue)?(?:\/<run>(?:\/(?:base|result|integration|a[0-9.]+))?)?$/,
]

/** What a process that was killed has left, and nobody has cleaned up. `kept`: so many worktrees may be there. */
export function leftovers(cwd: string, run_id: string, kept = 0): string[] {
  const names = readdirSync(join(cwd, '.retinue'), { recursive: true, encoding: 'utf8' })
  const trees = kept === 0 ? [] : [/^worktrees\/<run>/, /^git\/worktrees\/<run>-a\d+(?!.*\.lock$)/]
  return names
    .map((name) => name.replace(run_id, '<run>'))
    .filter((name) => ![...LASTING, ...trees].some((lasting) => lasting.test(name)))
    .sort()
}

/** As if that had been a day ago: things with names of chance may belong to somebody, so nobody removes them at once. */
export function passADay(cwd: string): void {
  const then = Date.now() / 1000 - 86_400
  for (const name of readdirSync(join(cwd, '.retinue'), { recursive: true, encoding: 'utf8' })) {
    if (isOfChance(name)) lutimesSync(join(cwd, '.retinue', name), then, then)
  }
}

/** Made before it can be known whose it is, and whether that one is alive. */
export function isOfChance(name: string): boolean {
  return /^git-new-|^git\/(?:capture-|sharedindex)|\/tmp_obj_\w+$|\.[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name)
}
