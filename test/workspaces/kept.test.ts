import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Landing } from '../../src/domain/index.js'
import { createHost, type Trees, type WorkTree } from '../../src/host/index.js'
import { createKept, type KeptParts } from '../../src/workspaces/kept.js'
import type { KnownAgent } from '../../src/workspaces/kept-work.js'
import { tree as filesOf, git, makeProject } from '../support/project.js'
import { receiptOf, resultOf } from '../support/tree-events.js'

const RUN = 'r1'
const DAY = 24 * 3_600_000
const NOTE = { message: 'Work', author: { name: 'Retinue a1', email: 'a1@localhost' }, at: 1_700_000_000_000 }

type Status = 'running' | 'interrupted' | 'closed' | null

/** A folder with a run in it: real trees, and what a store would say about it. */
async function folder(options: { git?: boolean; below?: string; files?: Record<string, string> } = {}) {
  const files = options.files ?? { 'a.md': 'one\ntwo\nthree\n', 'b.md': 'b\n' }
  const top = makeProject(files, { git: options.git ?? true })
  const cwd = options.below ? join(top, options.below) : top
  const host = createHost()
  const opened = await host.trees(cwd)
  if (!opened.ok) throw new Error(opened.message)
  const { trees } = opened
  const known = {
    status: 'closed' as Status,
    landing: null as Landing | null,
    base: null as string | null,
    changed_at: 0,
    is_away: false,
    /** `<agent> <commit>` */
    carried: new Set<string>(),
    agents: new Map<string, KnownAgent>(),
  }
  const parts: KeptParts = {
    trees,
    git: host.git,
    statusOf: async (run_id) => (run_id === RUN ? known.status : null),
    landingOf: async () => known.landing,
    baseOf: async () => known.base,
    changedAt: async (run_id) => (run_id === RUN ? known.changed_at : null),
    isAway: async () => known.is_away,
    isCarried: async (_, agent_id, commit) => known.carried.has(`${agent_id} ${commit}`),
    isAlive: (owner) => host.identity.isAlive(owner),
    agentOf: async (_, agent_id) => known.agents.get(agent_id) ?? null,
    carriedOf: async () => null,
    now: () => 40 * DAY,
    titleOf: async () => 'Mend the roof',
  }
  return { cwd, top, host, trees, known, kept: createKept(parts), parts }
}
type Folder = Awaited<ReturnType<typeof folder>>

async function made<T>(result: Promise<({ ok: true } & T) | { ok: false; message: string }>): Promise<T> {
  const value = await result
  if (!value.ok) throw new Error(value.message)
  return value
}

function write(tree: WorkTree, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(tree.root, path), text)
}

async function addTree(trees: Trees, name: string, base: string, files: Record<string, string>) {
  const { tree } = await made(trees.add(RUN, name, base))
  write(tree, files)
  const { commit } = await made(tree.snapshot(NOTE))
  return { tree, commit }
}

/** A run that wrote `files` in a tree of its own and kept them on its branch. */
async function keptRun(at: Folder, files: Record<string, string>, run_state: Landing['state'] = 'kept') {
  const { trees, known } = at
  const { commit: base } = await made(trees.capture(RUN))
  const { commit, tree } = await addTree(trees, 'integration', base, files)
  await made(trees.remember(RUN, { base, result: commit }))
  if (run_state === 'kept') await made(trees.publish(RUN, 'integration'))
  const paths = Object.keys(files).map((path) => ({ path, kind: 'modified' as const }))
  const branch = run_state === 'kept' ? `retinue/${RUN}/integration` : null
  const reason = run_state === 'kept' ? 'the folder changed' : null
  known.base = base
  known.landing = { state: run_state, base, commit, files: paths, landed_commit: null, branch, reason }
  return { base, commit, tree }
}

const states = async ({ kept }: Folder) =>
  (await made(kept.worktrees())).trees.map(({ agent_id, state, why }) => [agent_id, state, why])
const branches = (cwd: string) => git(cwd, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/retinue').trim()
const messageOf = async (result: Promise<{ ok: boolean; code?: string; message?: string }>) => {
  const { ok, code, message } = await result
  return ok ? 'ok' : `${code}: ${message}`
}

describe('the worktrees that there are', () => {
  it.each([
    ['running', 'its run is at work'],
    ['interrupted', 'its run was interrupted and can go on: retinue resume r1'],
  ] as const)('are in use while their run is %s, and gc leaves them alone', async (status, why) => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' })
    at.known.status = status
    expect(await states(at)).toEqual([['root', 'in_use', why]])
    expect(await made(at.kept.gc())).toMatchObject({ removed: [], kept: [{ state: 'in_use', path: tree.top }] })
    expect(existsSync(tree.top)).toBe(true)
  })

  it('are kept while the result is on its branch alone, and gc removes no more than the folder', async () => {
    const at = await folder()
    const { tree, commit } = await keptRun(at, { 'a.md': 'ONE\n' })
    const why = 'its result is not in the folder: the folder changed. Bring it in: retinue apply r1'
    expect(await states(at)).toEqual([['root', 'kept', why]])
    const { removed, kept } = await made(at.kept.gc())
    expect(removed).toEqual([])
    expect(kept).toMatchObject([
      { state: 'kept', path: null, why: `${why} (its folder was removed: all of it is on the branch)` },
    ])
    expect(existsSync(tree.top)).toBe(false)
    expect(git(at.cwd, 'rev-parse', `retinue/${RUN}/integration`).trim()).toBe(commit)
  })

  it('are kept with their folder where files are on no branch', async () => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    write(tree, { 'new.md': 'not committed\n' })
    expect(await states(at)).toEqual([['root', 'kept', 'it has files that are on no branch']])
    await made(at.kept.gc())
    expect(readFileSync(join(tree.root, 'new.md'), 'utf8')).toBe('not committed\n')
  })

  it('are left over once the result is in the folder, and gc removes them', async () => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    expect(await states(at)).toEqual([['root', 'left_over', 'its result is in the folder']])
    expect((await made(at.kept.gc())).removed).toMatchObject([{ agent_id: 'root' }])
    expect(existsSync(tree.top)).toBe(false)
    expect(await states(at)).toEqual([])
  })

  it('are kept where the branch has more than what landed', async () => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    write(tree, { 'a.md': 'MORE\n' })
    await made(tree.snapshot(NOTE))
    expect(await states(at)).toEqual([['root', 'kept', 'it has more than what was brought into the folder']])
  })

  it('of sub-agents are left over where all of it is in the result or in a tree above, and kept otherwise', async () => {
    const at = await folder()
    const { base, commit } = await keptRun(at, { 'a.md': 'ONE\n' })
    const a2 = await addTree(at.trees, 'a2', base, { 'b.md': 'conflict\n' })
    await addTree(at.trees, 'a1', commit, {})
    await addTree(at.trees, 'a2.1', a2.commit, {})
    await addTree(at.trees, 'a22', a2.commit, { 'c.md': 'c\n' })
    expect((await states(at)).slice(0, 4)).toEqual([
      ['a1', 'left_over', "all of it is in the run's result"],
      ['a2', 'kept', 'its work was not merged. Bring it in: retinue apply r1 a2'],
      ['a2.1', 'left_over', `all of it is on retinue/${RUN}/a2`],
      ['a22', 'kept', 'its work was not merged. Bring it in: retinue apply r1 a22'],
    ])
    const { removed, kept } = await made(at.kept.gc())
    expect(removed.map(({ agent_id }) => agent_id)).toEqual(['a1', 'a2.1'])
    expect(kept.map(({ agent_id, path }) => [agent_id, path])).toEqual([
      ['a2', null],
      ['a22', null],
      ['root', null],
    ])
  })

  it('are kept for files that git ignores, which gc and apply leave alone and discard removes', async () => {
    const at = await folder({ files: { 'a.md': 'a\n', '.gitignore': 'dist/\n*.log\n' } })
    const { base, tree } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    mkdirSync(join(tree.root, 'dist'))
    write(tree, { 'dist/out.js': 'made\n', 'a.log': 'seen\n' })
    const a1 = await addTree(at.trees, 'a1', base, { 'a.md': 'conflict\n', 'b.log': 'seen\n' })
    const why = 'it has files that git ignores: a.log, dist/'
    const expected = [
      ['a1', 'kept', 'its work was not merged. Bring it in: retinue apply r1 a1; it has files that git ignores: b.log'],
      ['root', 'kept', why],
    ]
    expect(await states(at)).toEqual(expected)
    expect(await made(at.kept.gc())).toMatchObject({
      removed: [],
      kept: [
        { agent_id: 'a1', path: a1.tree.top, has_branch: true },
        { agent_id: 'root', path: tree.top, has_branch: false, why },
      ],
    })
    expect(await states(at)).toEqual(expected)
    expect(readFileSync(join(tree.root, 'dist/out.js'), 'utf8')).toBe('made\n')
    expect(readFileSync(join(a1.tree.root, 'b.log'), 'utf8')).toBe('seen\n')
    expect((await made(at.trees.list())).trees.map(({ name, commit }) => [name, commit])).toEqual([
      ['a1', a1.commit],
      ['integration', null],
    ])
    expect((await made(at.kept.discard(RUN))).removed).toHaveLength(2)
    expect([existsSync(tree.top), existsSync(a1.tree.top)]).toEqual([false, false])
  })

  it('are not kept for what they were given of the folder, unless an agent changed it', async () => {
    const at = await folder({
      files: {
        'a.md': 'a\n',
        '.gitignore': 'node_modules/\n.env\nsecret/\n',
        '.worktreeinclude': 'node_modules/\n.env\nsecret/key\n',
      },
    })
    for (const path of ['node_modules', 'secret']) mkdirSync(join(at.cwd, path))
    for (const path of ['node_modules/x.js', '.env', 'secret/key']) writeFileSync(join(at.cwd, path), 'mine\n')
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    expect([existsSync(join(tree.root, 'node_modules/x.js')), existsSync(join(tree.root, 'secret/key'))]).toEqual([
      true,
      true,
    ])
    expect(await states(at)).toEqual([['root', 'left_over', 'its result is in the folder']])
    write(tree, { '.env': 'more\n' })
    expect(await states(at)).toEqual([['root', 'kept', 'it has files that git ignores: .env']])
    write(tree, { '.env': 'mine\n', 'secret/other': 'new\n' })
    expect(await states(at)).toMatchObject([['root', 'kept', 'it has files that git ignores: secret/']])
  })

  it('of a run that this store does not know are never taken for left over', async () => {
    const at = await folder()
    const { tree, base } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    const a1 = await addTree(at.trees, 'a1', base, {})
    at.known.status = null
    expect((await states(at)).map((state) => state.slice(0, 2))).toEqual([
      ['a1', 'kept'],
      ['root', 'kept'],
    ])
    expect(await made(at.kept.gc())).toMatchObject({ removed: [], kept: [{ path: a1.tree.top }, { path: tree.top }] })
    expect(existsSync(tree.top)).toBe(true)
    expect((await made(at.kept.discard(RUN))).removed).toHaveLength(2)
    expect(existsSync(tree.top)).toBe(false)
  })
})

describe('apply', () => {
  it('brings the result into the folder beside what the person did since, and its branch goes', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'one\ntwo\nTHREE\n' })
    writeFileSync(join(at.cwd, 'b.md'), 'mine\n')
    writeFileSync(join(at.cwd, 'a.md'), 'ONE\ntwo\nthree\n')
    expect(await made(at.kept.apply(RUN))).toEqual({ ok: true, paths: ['a.md'], commit: null })
    expect(filesOf(at.cwd)).toEqual({ 'a.md': 'ONE\ntwo\nTHREE\n', 'b.md': 'mine\n' })
    expect(branches(at.cwd)).toBe('')
    expect(await states(at)).toEqual([])
    expect(await messageOf(at.kept.apply(RUN))).toBe(
      'nothing: The result of run r1 is not kept any more: it was applied or discarded before',
    )
    expect(await made(at.kept.diff(RUN))).toMatchObject({ text: expect.stringContaining('+THREE') })
  })

  it('changes nothing where both have changed the same lines, and says which files and what to do', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n', 'b.md': 'B\n' })
    writeFileSync(join(at.cwd, 'a.md'), 'mine\n')
    expect(await messageOf(at.kept.apply(RUN))).toBe(
      'in_the_way: Run r1 was not applied, and your files are as they were: you and the run have changed the same places: a.md. Commit your own changes and merge with git: git merge retinue/r1/integration. That branch also has, as a commit, what was uncommitted or untracked in the folder when the run began',
    )
    expect(filesOf(at.cwd)).toEqual({ 'a.md': 'mine\n', 'b.md': 'b\n' })
    expect(branches(at.cwd)).toBe('retinue/r1/integration')
  })

  it('does not overwrite a file that git ignores', async () => {
    const at = await folder()
    await keptRun(at, { 'new.md': 'theirs\n' })
    writeFileSync(join(at.cwd, '.git/info/exclude'), 'new.md\n')
    writeFileSync(join(at.cwd, 'new.md'), 'mine\n')
    expect(await messageOf(at.kept.apply(RUN))).toMatch(
      /^in_the_way: Run r1 was not applied: .*new\.md.*apply it again$/,
    )
    expect(filesOf(at.cwd)['new.md']).toBe('mine\n')
  })

  it('commits exactly what the run changed, where that is asked for', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' })
    writeFileSync(join(at.cwd, 'b.md'), 'mine\n')
    const { commit } = await made(at.kept.apply(RUN, { commit: true }))
    expect(git(at.cwd, 'rev-parse', 'HEAD').trim()).toBe(commit)
    expect(git(at.cwd, 'show', '--format=%s', '--name-only', 'HEAD').trim()).toBe('Mend the roof\n\na.md')
    expect(git(at.cwd, 'status', '--porcelain', '--untracked-files=no').trim()).toBe('M b.md')
  })

  it('commits what an apply that was killed had brought already', async () => {
    const at = await folder()
    const { base, commit } = await keptRun(at, { 'a.md': 'ONE\n' })
    await made(at.trees.land({ base, to: commit, exactly: false }))
    const applied = await made(at.kept.apply(RUN, { commit: true }))
    expect(applied.paths).toEqual([])
    expect(git(at.cwd, 'show', '--format=%H', '--name-only', 'HEAD').trim()).toBe(`${applied.commit}\n\na.md`)
  })

  it('says that a commit did not come about, with the files in the folder', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' })
    const check = () => ({ push() {}, end: () => 'a secret' })
    const kept = createKept({ ...at.parts, check })
    expect(await messageOf(kept.apply(RUN, { commit: true }))).toMatch(
      /^failed: What run r1 changed is in the folder, but not committed: .*a secret/,
    )
    expect(filesOf(at.cwd)['a.md']).toBe('ONE\n')
  })

  it('works in a folder below the top, with paths as one sees them there', async () => {
    const at = await folder({ below: 'pkg', files: { 'pkg/a.md': 'a\n', 'top.md': 't\n' } })
    await keptRun(at, { 'a.md': 'A\n' })
    const { paths, commit } = await made(at.kept.apply(RUN, { commit: true }))
    expect({ paths, committed: commit !== null }).toEqual({ paths: ['a.md'], committed: true })
    expect(readFileSync(join(at.top, 'pkg/a.md'), 'utf8')).toBe('A\n')
  })

  it('works without git, but commits nothing there and says so before anything is done', async () => {
    const at = await folder({ git: false })
    await keptRun(at, { 'a.md': 'ONE\n' })
    expect(await messageOf(at.kept.apply(RUN, { commit: true }))).toMatch(/^nothing: There is no git repository here/)
    expect(filesOf(at.cwd)['a.md']).toBe('one\ntwo\nthree\n')
    writeFileSync(join(at.cwd, 'a.md'), 'mine\n')
    const blocked = await messageOf(at.kept.apply(RUN))
    expect(blocked).toContain('retinue diff r1')
    expect(blocked).not.toContain('git merge')
    writeFileSync(join(at.cwd, 'a.md'), 'one\ntwo\nthree\n')
    await made(at.kept.apply(RUN))
    expect(filesOf(at.cwd)['a.md']).toBe('ONE\n')
    expect(existsSync(join(at.cwd, '.git'))).toBe(false)
  })

  it('keeps the branch and its folder where somebody has worked there since', async () => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' })
    write(tree, { 'new.md': 'by hand\n' })
    await made(at.kept.apply(RUN))
    expect(readFileSync(join(tree.root, 'new.md'), 'utf8')).toBe('by hand\n')
  })

  it('keeps the folder for files that git ignores, and is not done twice', async () => {
    const at = await folder({ files: { 'a.md': 'a\n', '.gitignore': '*.log\n' } })
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' })
    write(tree, { 'a.log': 'seen\n' })
    await made(at.kept.apply(RUN))
    expect(readFileSync(join(tree.root, 'a.log'), 'utf8')).toBe('seen\n')
    expect(branches(at.cwd)).toBe('')
    expect(await states(at)).toEqual([['root', 'kept', 'it has files that git ignores: a.log']])
    expect(await messageOf(at.kept.apply(RUN))).toMatch(/^nothing: The result of run r1 is not kept any more/)
  })

  it("does not speak of git merge where the person's branch is another one", async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' })
    git(at.cwd, 'update-ref', `refs/heads/retinue/${RUN}/integration`, 'HEAD')
    git(at.cwd, '-c', 'user.name=p', '-c', 'user.email=p@localhost', 'commit', '--allow-empty', '-qm', 'mine')
    git(at.cwd, 'update-ref', `refs/heads/retinue/${RUN}/integration`, 'HEAD')
    writeFileSync(join(at.cwd, 'a.md'), 'mine\n')
    const blocked = await messageOf(at.kept.apply(RUN))
    expect(blocked).toContain('retinue diff r1')
    expect(blocked).not.toContain('git merge')
  })

  it('publishes the branch before it speaks of git merge, where the run could not', async () => {
    const at = await folder()
    const { commit } = await keptRun(at, { 'a.md': 'ONE\n' })
    git(at.cwd, 'update-ref', '-d', `refs/heads/retinue/${RUN}/integration`)
    writeFileSync(join(at.cwd, 'a.md'), 'mine\n')
    expect(await messageOf(at.kept.apply(RUN))).toContain('git merge retinue/r1/integration')
    expect(git(at.cwd, 'rev-parse', `retinue/${RUN}/integration`).trim()).toBe(commit)
  })

  it('says what there is to say where there is nothing to apply', async () => {
    const at = await folder()
    expect(await messageOf(at.kept.apply('nope'))).toBe('unknown: There is no run "nope" in this store')
    expect(await messageOf(at.kept.apply(RUN))).toMatch(/^nothing: Run r1 has no tree of its own: /)
    const { base, commit } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    expect(await messageOf(at.kept.apply(RUN))).toBe(
      'nothing: The result of run r1 is already in the folder that it was begun in',
    )
    const rest = { landed_commit: null, branch: null, reason: 'the disk is full' }
    at.known.landing = { state: 'kept', base, commit, files: [], ...rest }
    expect(await messageOf(at.kept.apply(RUN))).toBe(
      'nothing: Run r1 has no result: the disk is full. See what there is with: retinue worktrees',
    )
    for (const state of ['landed', 'kept'] as const) {
      at.known.landing = { state, base, commit, files: [], ...rest, reason: null }
      expect(await messageOf(at.kept.apply(RUN))).toBe('nothing: Run r1 changed nothing, there is nothing to apply')
    }
    at.known.status = 'interrupted'
    expect(await messageOf(at.kept.apply(RUN))).toMatch(/^not_closed: Run r1 was interrupted, .*retinue resume r1/)
  })
})

/** A sub-agent whose work was not merged, of a run whose own result is in the folder. */
async function keptAgent(at: Folder, files: Record<string, string>) {
  const { base } = await keptRun(at, { 'b.md': 'of the run\n' }, 'landed')
  const { tree, commit } = await addTree(at.trees, 'a1', base, files)
  await made(at.trees.publish(RUN, 'a1'))
  const receipt = receiptOf({
    base,
    files: Object.keys(files).map((path) => ({ path, kind: 'modified' })),
    kept: { branch: `retinue/${RUN}/a1`, path: '.retinue/worktrees/r1/a1' },
  })
  at.known.agents.set('a1', { title: 'Mend the gutter', result: resultOf({ outcome: 'gate_failed', receipt }) })
  return { base, tree, commit, receipt }
}

describe('the kept work of one sub-agent', () => {
  it.each([{ git: true }, { git: false }])('is shown and applied, and its branch goes: %o', async (options) => {
    const at = await folder(options)
    const { tree } = await keptAgent(at, { 'a.md': 'one\ntwo\nTHREE\n' })
    writeFileSync(join(at.cwd, 'a.md'), 'ONE\ntwo\nthree\n')
    const { text } = await made(at.kept.diff(RUN, { agent_id: 'a1' }))
    expect(text).toContain('+THREE')
    expect(text).not.toContain('b.md')
    expect((await made(at.kept.diff(RUN, { agent_id: 'a1', stat: true }))).text).toContain('1 file changed')
    expect(await made(at.kept.apply(RUN, { agent_id: 'a1' }))).toEqual({ ok: true, paths: ['a.md'], commit: null })
    expect(filesOf(at.cwd)).toEqual({ 'a.md': 'ONE\ntwo\nTHREE\n', 'b.md': 'b\n' })
    expect(existsSync(tree.top)).toBe(false)
    expect((await states(at)).map(([id]) => id)).toEqual(['root'])
    const gone = 'nothing: The work of a1 of run r1 is not kept any more: it was applied or discarded before'
    expect(await messageOf(at.kept.apply(RUN, { agent_id: 'a1' }))).toBe(gone)
    expect(await messageOf(at.kept.diff(RUN, { agent_id: 'a1' }))).toBe(gone)
  })

  it('is committed under its own title', async () => {
    const at = await folder()
    await keptAgent(at, { 'a.md': 'ONE\n' })
    const { commit } = await made(at.kept.apply(RUN, { agent_id: 'a1', commit: true }))
    expect(git(at.cwd, 'show', '--format=%H %s', '--name-only', 'HEAD').trim()).toBe(
      `${commit} Mend the gutter\n\na.md`,
    )
    expect(branches(at.cwd)).toBe('')
  })

  it('stays with its worktree where that has more than was applied', async () => {
    const at = await folder()
    const { tree } = await keptAgent(at, { 'a.md': 'ONE\n' })
    write(tree, { 'new.md': 'not committed\n' })
    await made(at.kept.apply(RUN, { agent_id: 'a1' }))
    expect(readFileSync(join(tree.root, 'new.md'), 'utf8')).toBe('not committed\n')
  })

  it('is not applied where the person has changed the same lines', async () => {
    const at = await folder()
    await keptAgent(at, { 'a.md': 'ONE\n' })
    writeFileSync(join(at.cwd, 'a.md'), 'mine\n')
    expect(await messageOf(at.kept.apply(RUN, { agent_id: 'a1' }))).toMatch(
      /^in_the_way: a1 of run r1 was not applied, .* you and a1 have changed the same places: a\.md\. .*git merge retinue\/r1\/a1\. That branch also has/,
    )
    expect(filesOf(at.cwd)).toMatchObject({ 'a.md': 'mine\n' })
  })

  it('is not there where it was merged, or where there never was any, and that is said', async () => {
    const at = await folder()
    const { receipt } = await keptAgent(at, { 'a.md': 'ONE\n' })
    const said = async (result: KnownAgent['result']) => {
      at.known.agents.set('a1', { title: 'Mend the gutter', result })
      const applied = await messageOf(at.kept.apply(RUN, { agent_id: 'a1' }))
      expect(await messageOf(at.kept.diff(RUN, { agent_id: 'a1' }))).toBe(applied)
      return applied
    }
    const merged = { commit: 'c', kind: 'merge' } as const
    expect(await said(resultOf({ receipt: { ...receipt, merged } }))).toMatch(
      /^nothing: What a1 of run r1 wrote was merged/,
    )
    expect(await said(resultOf({ receipt: { ...receipt, files: [] } }))).toMatch(/^nothing: a1 .* changed nothing/)
    expect(await said(resultOf({ receipt: { ...receipt, kept: null } }))).toBe(
      'nothing: Nothing of a1 of run r1 was kept',
    )
    expect(await said(resultOf())).toMatch(/^nothing: a1 of run r1 had no tree of its own/)
    expect(await said(null)).toMatch(/^not_closed: a1 of run r1 is not closed/)
    expect(await messageOf(at.kept.apply(RUN, { agent_id: 'a9' }))).toMatch(/^unknown: Run r1 has no agent "a9"/)
    expect(filesOf(at.cwd)).toMatchObject({ 'a.md': 'one\ntwo\nthree\n' })
  })

  it('is not applied while its run is not closed', async () => {
    const at = await folder()
    await keptAgent(at, { 'a.md': 'ONE\n' })
    at.known.status = 'running'
    expect(await messageOf(at.kept.apply(RUN, { agent_id: 'a1' }))).toMatch(/^not_closed: Run r1 is at work/)
  })
})

describe('the trees of a run that this store does not know', () => {
  async function foreign(owner: (mine: string) => string) {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' })
    at.known.status = null
    await made(at.trees.own(RUN, owner(at.host.identity.owner)))
    return { at, tree }
  }

  it('are in use while the process that works in them is alive: nothing removes them', async () => {
    const { at, tree } = await foreign((mine) => mine)
    const why = expect.stringMatching(/^process \d+ on .* works on its run; .*--store/)
    expect(await states(at)).toEqual([['root', 'in_use', why]])
    expect(await messageOf(at.kept.discard(RUN))).toMatch(/^not_closed: Run r1 cannot be discarded: process \d+ on /)
    expect(await made(at.kept.gc())).toMatchObject({ removed: [], kept: [{ state: 'in_use' }] })
    expect(existsSync(tree.top)).toBe(true)
    await made(at.trees.own(RUN, null))
    expect(await states(at)).toMatchObject([['root', 'kept', expect.stringContaining('retinue discard r1')]])
    await made(at.kept.discard(RUN))
    expect(existsSync(tree.top)).toBe(false)
  })

  it('are kept when that process is gone, and can be discarded with the name of it', async () => {
    const { at, tree } = await foreign((mine) => mine.replace(/\d+$/, '1'))
    expect(await states(at)).toMatchObject([['root', 'kept', expect.stringContaining('retinue discard r1')]])
    await made(at.kept.discard(RUN))
    expect(existsSync(tree.top)).toBe(false)
    expect(existsSync(join(at.cwd, '.retinue/git/owners/r1'))).toBe(false)
  })

  it('are kept with a warning where nobody can tell from here', async () => {
    const { at } = await foreign(() => 'elsewhere:boot:12:34')
    const why = expect.stringContaining('process 12 on elsewhere may be at work on it')
    expect(await states(at)).toEqual([['root', 'kept', why]])
  })

  it('say nothing about a run that the store knows to be closed, though its process lives on', async () => {
    const { at } = await foreign((mine) => mine)
    at.known.status = 'closed'
    expect(await states(at)).toMatchObject([['root', 'kept', expect.stringContaining('retinue apply r1')]])
    await made(at.kept.apply(RUN))
    expect(filesOf(at.cwd)).toMatchObject({ 'a.md': 'ONE\n' })
  })
})

describe('what a run that was begun in another checkout leaves here', () => {
  /** It had a tree here for itself and for a sub-agent, and went on elsewhere with what it had carried from here. */
  async function passedThrough() {
    const at = await folder()
    const { commit, tree, base } = await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    const below = await addTree(at.trees, 'a1', base, { 'b.md': 'B\n' })
    Object.assign(at.known, { is_away: true, changed_at: 40 * DAY })
    at.known.carried = new Set([`root ${commit}`, `a1 ${below.commit}`])
    return { at, tree, below: below.tree }
  }
  const left = async ({ cwd, trees }: Folder) => ({
    trees: (await made(trees.list())).trees.map(({ name }) => name),
    refs: git(cwd, '--git-dir=.retinue/git', 'for-each-ref', '--format=%(refname)').trim().split('\n'),
  })
  const NOTHING = { trees: [], refs: [''] }
  const ALL = {
    trees: ['a1', 'integration'],
    refs: [
      'refs/heads/retinue/r1/a1',
      'refs/heads/retinue/r1/integration',
      'refs/retinue/r1/base',
      'refs/retinue/r1/result',
    ],
  }

  it.each(['sweep', 'gc'] as const)('is removed by %s where all of it was carried', async (how) => {
    const { at } = await passedThrough()
    expect(await left(at)).toEqual(ALL)
    await made<object>(at.kept[how]())
    expect(await left(at)).toEqual(NOTHING)
  })

  it('is forgotten where it has no tree any more', async () => {
    const { at } = await passedThrough()
    for (const name of ['a1', 'integration']) await made(at.trees.remove(RUN, name))
    await made(at.kept.sweep())
    expect(await left(at)).toEqual(NOTHING)
  })

  it('stays where a worktree has what is not committed', async () => {
    const { at, below } = await passedThrough()
    write(below, { 'new.md': 'not committed\n' })
    await made(at.kept.sweep())
    expect(await left(at)).toEqual(ALL)
    expect(readFileSync(join(below.root, 'new.md'), 'utf8')).toBe('not committed\n')
  })

  it('stays where a commit of it was never carried', async () => {
    const { at, tree } = await passedThrough()
    write(tree, { 'new.md': 'not carried\n' })
    await made(tree.snapshot(NOTE))
    await made(at.kept.sweep())
    expect(await left(at)).toEqual(ALL)
  })

  it('stays where the branch of a worktree is lost, and nobody can tell what was carried', async () => {
    const { at, below } = await passedThrough()
    git(at.cwd, '--git-dir=.retinue/git', 'update-ref', '-d', `refs/heads/retinue/${RUN}/a1`)
    await made(at.kept.sweep())
    expect(existsSync(below.top)).toBe(true)
  })

  it.each(['running', 'interrupted', null] as const)('stays while the run is %s', async (status) => {
    const { at } = await passedThrough()
    at.known.status = status
    await made(at.kept.sweep())
    expect(await left(at)).toEqual(ALL)
  })

  it('stays where the run was begun here', async () => {
    const { at } = await passedThrough()
    at.known.is_away = false
    await made(at.kept.sweep())
    expect(await left(at)).toEqual(ALL)
  })
})

describe('discard', () => {
  it('removes every worktree and branch of the run, and what was remembered', async () => {
    const at = await folder()
    const { base } = await keptRun(at, { 'a.md': 'ONE\n' })
    await addTree(at.trees, 'a1', base, { 'b.md': 'conflict\n' })
    const { removed } = await made(at.kept.discard(RUN))
    expect(removed.map(({ agent_id, state }) => [agent_id, state])).toEqual([
      ['a1', 'kept'],
      ['root', 'kept'],
    ])
    expect(await states(at)).toEqual([])
    expect(git(at.cwd, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n')
    expect((await at.trees.recall(RUN)).ok).toBe(false)
    expect(filesOf(at.cwd)['a.md']).toBe('one\ntwo\nthree\n')
  })

  it('is refused while the run is not closed', async () => {
    const at = await folder()
    const { tree } = await keptRun(at, { 'a.md': 'ONE\n' })
    at.known.status = 'running'
    expect(await messageOf(at.kept.discard(RUN))).toMatch(/^not_closed: Run r1 is at work, .*retinue cancel r1/)
    at.known.status = 'interrupted'
    expect(await messageOf(at.kept.discard(RUN))).toMatch(/^not_closed: .*retinue resume r1.*retinue cancel r1/)
    expect(existsSync(tree.top)).toBe(true)
    expect(await messageOf(at.kept.discard('nope'))).toBe('unknown: There is no run "nope" in this store')
  })

  it('leaves what landed to be shown', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    await made(at.kept.discard(RUN))
    expect((await made(at.trees.recall(RUN))).base).toBe(at.known.base)
    expect((await made(at.kept.diff(RUN))).text).toContain('+ONE')
  })
})

describe('what is remembered of a run', () => {
  const recalled = async ({ kept, trees }: Folder) => {
    await made(kept.gc())
    return (await trees.recall(RUN)).ok
  }

  it.each([
    ['landed', 9 * DAY, false],
    ['landed', 11 * DAY, true],
  ] as const)('is forgotten 30 days after it %s (day %d)', async (state, changed_at, is_there) => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' }, state)
    at.known.changed_at = changed_at
    expect(await recalled(at)).toBe(is_there)
  })

  it('is forgotten after it was applied, and not while it is kept', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' })
    expect(await recalled(at)).toBe(true)
    await made(at.kept.apply(RUN))
    expect(await recalled(at)).toBe(false)
  })

  it.each([
    ['is at work', 'running'],
    ['can go on', 'interrupted'],
    ['is not known', null],
  ] as const)('stays where the run %s', async (_, status) => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'ONE\n' }, 'landed')
    await made(at.trees.remove(RUN, 'integration'))
    at.known.status = status
    expect(await recalled(at)).toBe(true)
  })
})

describe('diff', () => {
  it('shows what the run changed, whole or as a line for each file', async () => {
    const at = await folder()
    await keptRun(at, { 'a.md': 'one\nTWO\nthree\n' })
    expect((await made(at.kept.diff(RUN))).text).toContain('-two\n+TWO\n')
    expect((await made(at.kept.diff(RUN, { stat: true }))).text).toMatch(/a\.md \| 2 \+-/)
  })

  it('shows what there is so far of a run that is at work', async () => {
    const at = await folder()
    const { commit: base } = await made(at.trees.capture(RUN))
    await addTree(at.trees, 'integration', base, { 'a.md': 'ONE\n' })
    Object.assign(at.known, { status: 'running', base })
    expect((await made(at.kept.diff(RUN))).text).toContain('+ONE\n')
  })

  it('says that a run had no tree of its own, or does not exist', async () => {
    const at = await folder()
    expect(await messageOf(at.kept.diff(RUN))).toMatch(/^nothing: Run r1 has no tree of its own/)
    expect(await messageOf(at.kept.diff('nope'))).toBe('unknown: There is no run "nope" in this store')
  })
})
