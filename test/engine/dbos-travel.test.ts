import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { leaveToWorkers, type Retinue, type Run, type Settings, type StoredEvent } from '../../src/index.js'
import { endsOf } from '../support/busy-tree.js'
import { sharedPostgres } from '../support/postgres.js'
import { git, makeProject, type WhenFinished } from '../support/project.js'
import { openFace, startWorkers, type WorkerKill, type WorkerOrder, WorkerVictim } from '../support/worker-victim.js'

const SETTINGS: Settings = { mode: 'dangerous', model: { name: 'scripted/script.yaml', source: 'user' } }

const write = (path: string, content = `${path}\n`) => ({ calls: [{ write_file: { path, content } }] })
const DONE = { text: 'Done.' }
const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }

const spawn = (task: string, more: object = {}) => ({ spawn: { task, ...more } })

const RUN = { calls: [{ run_command: { command: 'cat a.txt untracked.txt > out/three.txt' } }] }

/** One writes, one reads what the person has not committed, one runs a command. */
const THREE = {
  root: [
    {
      calls: [
        spawn('Write', { owns: ['one.txt'] }),
        spawn('Read'),
        spawn('Run', { owns: ['out/**'], checks: ['test -f out/three.txt'] }),
      ],
    },
    { ...AWAIT },
    { expect: { contains: ['[a1: OK]', '[a2: OK]', '[a3: OK]'] }, ...write('four.txt') },
    { calls: [{ run_command: { command: 'cat one.txt out/three.txt four.txt' } }] },
    { expect: { contains: ['one.txt', 'changed', 'four.txt'] }, text: 'All done.' },
  ],
  a1: [write('one.txt'), { calls: [{ read_file: { path: 'one.txt' } }] }, { expect: { contains: 'one.txt' }, ...DONE }],
  a2: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { expect: { contains: 'changed' }, ...DONE }],
  a3: [
    RUN,
    // What a command had done when its machine was lost is lost with it, and nobody knows how far it had come.
    { branches: [{ when: { contains: 'Interrupted' }, steps: [RUN] }, { steps: [] }] },
    DONE,
  ],
}

type Team = { home: string; clone: (name: string) => string; order: (cwd: string) => WorkerOrder; face: Retinue }

/** A person with a clone of a repository in which not everything is committed, and what others need for clones of theirs. */
async function team(agents: object, finished: WhenFinished, settings = SETTINGS): Promise<Team> {
  const files = { 'script.yaml': JSON.stringify({ agents }), 'a.txt': 'alpha\n', '.gitignore': 'ignored/\n' }
  const first = makeProject(files, { git: true, finished })
  const place = makeProject({}, { finished })
  const origin = join(place, 'origin.git')
  git(place, 'clone', '--quiet', '--bare', first, origin)
  const clone = (name: string) => {
    git(place, 'clone', '--quiet', origin, name)
    git(join(place, name), 'config', 'user.name', 'Test')
    git(join(place, name), 'config', 'user.email', 'test@localhost')
    return join(place, name)
  }
  const home = clone('home')
  const store = await (await sharedPostgres()).database({ finished })
  const order = (cwd: string) => ({ cwd, store, settings, machine: cwd.split('/').at(-1) as string })
  return { home, clone, order, face: await openFace({ cwd: home, store, settings }, finished) }
}

/** What is not committed is part of what the run begins with. */
function edit(home: string): void {
  writeFileSync(join(home, 'a.txt'), 'changed\n')
  writeFileSync(join(home, 'untracked.txt'), 'new\n')
}

const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8')

/** Nothing of closed runs is left in a clone when a worker has begun there, and its own files are as they were. */
async function expectUntouched(order: WorkerOrder, finished: WhenFinished): Promise<void> {
  const { cwd } = order
  expect(git(cwd, 'status', '--porcelain')).toBe('')
  expect(git(cwd, 'branch', '--list').trim()).toBe('* main')
  // They sweep when they begin, and then once a minute.
  const [sweeper] = (await startWorkers(1, order, finished)) as [WorkerVictim]
  await expect.poll(() => leftIn(cwd)).toEqual({ trees: [], refs: '' })
  await sweeper.stop()
}

/** What there is of runs in a clone. */
function leftIn(cwd: string): { trees: string[]; refs: string } {
  const trees = readdirSync(join(cwd, '.retinue/worktrees'), { recursive: true, encoding: 'utf8' })
  return { trees, refs: git(cwd, '--git-dir=.retinue/git', 'for-each-ref') }
}

const places = (log: readonly StoredEvent[]) =>
  log.flatMap(({ agent_id, type }) => (type === 'agent.worktree_moved' ? [agent_id] : []))

it('a conflict is resolved where somebody else goes on with the run', async ({ onTestFinished }) => {
  const agents = {
    root: [
      { calls: [spawn('Write', { owns: ['a.txt'] }), spawn('Say something')] },
      { calls: [{ spawn_await: { job_ids: 'a2' } }] },
      // When it gets here the first may write, and has not.
      { delay_ms: 1500, ...write('a.txt', 'by the root\n') },
      AWAIT,
      DONE,
    ],
    a1: [write('a.txt', 'by the child\n'), DONE],
    a2: [DONE],
    a3: [{ calls: [{ read_file: { path: 'a.txt' } }] }, write('a.txt', 'by both\n'), DONE],
  }
  const { home, clone, order, face } = await team(agents, onTestFinished, { ...SETTINGS, workspace: { repair: true } })
  const kill: WorkerKill = { type: 'agent.subagent_started', agent_id: 'a3', when: 'after' }
  const [away] = await startWorkers(1, { ...order(clone('away')), per_run: 1, kill }, onTestFinished)
  const run = face.run({ task: 'Go' })
  await away?.ended
  await startWorkers(1, { ...order(clone('other')), per_run: 1 }, onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  expect(read(home, 'a.txt')).toBe('by both\n')
  const log = await face.events(run.run_id)
  expect(places(log)).toContain('root')
  expect(endsOf(log).ends).toEqual({ root: 'completed', a1: 'completed', a2: 'completed', a3: 'completed' })
})

it('a run goes to where its workers are, with what the person has now, and its result comes back', async ({
  onTestFinished,
}) => {
  const { home, clone, order, face } = await team(THREE, onTestFinished)
  const away = clone('away')
  await startWorkers(1, order(away), onTestFinished)
  edit(home)
  const run = face.run({ task: 'Do the work' })
  const result = await run.result()
  const log = await face.events(run.run_id)
  expect(endsOf(log)).toEqual({
    ends: { root: 'completed', a1: 'completed', a2: 'completed', a3: 'completed' },
    faults: [],
  })
  expect(result).toMatchObject({ outcome: 'completed', landing: { state: 'landed', branch: null, reason: null } })
  expect(result.landing?.files.map(({ path }) => path)).toEqual(['four.txt', 'one.txt', 'out/three.txt'])
  expect([read(home, 'one.txt'), read(home, 'out/three.txt'), read(home, 'four.txt')]).toEqual([
    'one.txt\n',
    'changed\nnew\n',
    'four.txt\n',
  ])
  expect(git(home, 'status', '--porcelain').trimEnd().split('\n').sort()).toEqual(
    [' M a.txt', '?? four.txt', '?? one.txt', '?? out/', '?? untracked.txt'].sort(),
  )
  await expectUntouched(order(away), onTestFinished)
  expect(await face.replay(run.run_id)).toMatchObject({ ok: true })
})

it('those of one run work in several checkouts, and what they did goes together in one of them', async ({
  onTestFinished,
}) => {
  const { home, clone, order, face } = await team(THREE, onTestFinished)
  const clones = ['one', 'two', 'three'].map(clone)
  for (const cwd of clones) await startWorkers(1, { ...order(cwd), concurrency: 1 }, onTestFinished)
  edit(home)
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  expect(endsOf(await face.events(run.run_id)).faults).toEqual([])
  expect(read(home, 'out/three.txt')).toBe('changed\nnew\n')
  for (const cwd of clones) await expectUntouched(order(cwd), onTestFinished)
})

it('a run leaves nothing in a checkout from which it went on in another', async ({ onTestFinished }) => {
  const agents = {
    root: [
      write('zero.txt'),
      { calls: [spawn('Write', { owns: ['one.txt'], label: 'far' })] },
      AWAIT,
      { expect: { contains: '[a1: OK]' }, ...write('two.txt') },
      DONE,
    ],
    a1: [write('one.txt'), DONE],
  }
  const { home, clone, order, face } = await team(agents, onTestFinished)
  const [near, far] = [order(clone('near')), { ...order(clone('far')), labels: ['far'] }]
  const [first] = (await startWorkers(1, near, onTestFinished)) as [WorkerVictim]
  const run = face.run({ task: 'Do the work' })
  await first.appended('agent.subagent_created', 'root')
  await first.stop()
  expect(readdirSync(join(near.cwd, '.retinue/worktrees', run.run_id))).toEqual(['integration'])
  await startWorkers(1, far, onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  expect(places(await face.events(run.run_id))).toEqual(['root'])
  expect(['zero.txt', 'one.txt', 'two.txt'].map((path) => read(home, path))).toEqual([
    'zero.txt\n',
    'one.txt\n',
    'two.txt\n',
  ])
  for (const place of [near, far]) await expectUntouched(place, onTestFinished)
})

it('what could not be carried stays in the checkout that it was written in', async ({ onTestFinished }) => {
  const command = 'printf %s-%s kx93-hv02 qq71-zz > token.txt'
  const agents = { root: [write('one.txt'), { calls: [{ run_command: { command } }] }, DONE] }
  process.env.TEAM_TOKEN = 'kx93-hv02-qq71-zz'
  onTestFinished(() => {
    delete process.env.TEAM_TOKEN
  })
  const { clone, order, face } = await team(agents, onTestFinished, { ...SETTINGS, secrets: ['TEAM_TOKEN'] })
  const away = order(clone('away'))
  await startWorkers(1, away, onTestFinished)
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'error' })
  const there = await openFace(away, onTestFinished)
  expect(await there.worktrees()).toMatchObject([{ run_id: run.run_id, agent_id: 'root', state: 'kept' }])
  expect(await there.gc()).toMatchObject({ removed: [] })
  const file = `retinue/${run.run_id}/integration:token.txt`
  expect(git(away.cwd, '--git-dir=.retinue/git', 'show', file)).toBe('kx93-hv02-qq71-zz')
})

/** A run whose worker dies then, with its checkout; there is another in another one. */
async function afterLoss({ clone, order, face }: Team, kill: WorkerKill, finished: WhenFinished): Promise<Run> {
  const victim = new WorkerVictim({ ...order(clone('first')), kill }, finished)
  await victim.begin()
  const run = face.run({ task: 'Do the work' })
  expect((await victim.ended).signal).toBe('SIGKILL')
  await startWorkers(1, order(clone('second')), finished)
  return run
}

const KILLS = [
  { name: 'a sub-agent has written', type: 'tool.finished', agent_id: 'a1' },
  { name: 'a sub-agent has ended', type: 'agent.subagent_waiting_for_merge', agent_id: 'a3' },
  { name: 'its work was taken', type: 'agent.work_taken', agent_id: 'root' },
  { name: 'a merge has begun', type: 'agent.merge_started', agent_id: 'root' },
  { name: 'a merge was made', type: 'agent.worktree_merged', agent_id: 'root' },
  { name: 'the root has written', type: 'agent.files_carried', agent_id: 'root' },
] as const

it.for(KILLS)('a checkout that is lost when $name takes nothing with it', async (kill, { onTestFinished }) => {
  const place = await team(THREE, onTestFinished)
  const { home, face } = place
  edit(home)
  const run = await afterLoss(place, { ...kill, when: 'after' }, onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  const log = await face.events(run.run_id)
  expect(endsOf(log).faults).toEqual([])
  expect(places(log)).toContain('root')
  expect([read(home, 'one.txt'), read(home, 'out/three.txt'), read(home, 'four.txt')]).toEqual([
    'one.txt\n',
    'changed\nnew\n',
    'four.txt\n',
  ])
})

const TWO_FILES = {
  root: [{ calls: [spawn('Write', { owns: ['one.txt', 'two.txt'] })] }, AWAIT, { text: 'All done.' }],
  a1: [write('one.txt'), write('two.txt'), DONE],
}
const FIRST_WRITE = { type: 'tool.finished', agent_id: 'a1', when: 'after' } as const

it('a tree that is made ready in another checkout still has what was done', async ({ onTestFinished }) => {
  const settings = { ...SETTINGS, workspace: { setup: 'mkdir -p ignored && touch ignored/ready mess.txt' } }
  const place = await team(TWO_FILES, onTestFinished, settings)
  const { home, face } = place
  const run = await afterLoss(place, FIRST_WRITE, onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  const log = await face.events(run.run_id)
  expect(endsOf(log).faults).toEqual([])
  expect(places(log)).toContain('a1')
  expect([read(home, 'one.txt'), read(home, 'two.txt')]).toEqual(['one.txt\n', 'two.txt\n'])
  expect(existsSync(join(home, 'mess.txt'))).toBe(false)
})

it('a tree that cannot be made ready in another checkout ends its agent, which says why', async ({
  onTestFinished,
}) => {
  // As a package list that is half written.
  const settings = { ...SETTINGS, workspace: { setup: 'test ! -e one.txt' } }
  const place = await team(TWO_FILES, onTestFinished, settings)
  const { home, face } = place
  const run = await afterLoss(place, FIRST_WRITE, onTestFinished)
  await run.result()
  const log = await face.events(run.run_id)
  const { ends, faults } = endsOf(log)
  expect([ends.a1, faults]).toEqual(['error', []])
  const failed = log.find(({ type, agent_id }) => type === 'agent.worktree_failed' && agent_id === 'a1')
  expect(failed).toMatchObject({
    data: {
      message: expect.stringMatching(
        /^its worktree could not be made ready in another checkout: workspace.setup failed/,
      ),
    },
  })
  expect(existsSync(join(home, 'one.txt'))).toBe(false)
  // What it had done can be had all the same.
  expect(await face.diff(run.run_id, { agent_id: 'a1' })).toContain('+one.txt')
})

it('a worker that cannot have the repository says so, and another takes the run', async ({ onTestFinished }) => {
  const { home, clone, order, face } = await team(THREE, onTestFinished)
  const old = clone('old')
  git(old, 'config', `url.${join(home, 'nowhere')}.insteadOf`, git(old, 'config', 'remote.origin.url').trim())
  edit(home)
  git(home, 'add', '.')
  git(home, 'commit', '--quiet', '-m', 'changed')
  git(home, 'push', '--quiet')
  const [unable] = (await startWorkers(1, order(old), onTestFinished)) as [WorkerVictim]
  const run = face.run({ task: 'Do the work' })
  await expect.poll(() => unable.said.map((said) => (said as unknown as { text: string }).text)).not.toEqual([])
  const [said] = unable.said as unknown as { text: string }[]
  expect(said?.text).toContain('this checkout does not have the commit')
  expect((await face.events(run.run_id)).map(({ type }) => type)).toEqual(['run.created', 'agent.started'])
  const why = expect.stringContaining('this checkout does not have the commit')
  await expect.poll(() => face.refusals(run.run_id)).toMatchObject([{ agent_id: 'root', reason: why }])
  // This one was made before that commit, too, but can get it.
  const able = clone('able')
  git(able, 'reset', '--quiet', '--hard', 'HEAD~1')
  git(able, 'update-ref', '-d', 'refs/remotes/origin/main')
  git(able, 'update-ref', '-d', 'refs/remotes/origin/HEAD')
  await startWorkers(1, order(able), onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  expect(existsSync(join(home, 'out/three.txt'))).toBe(true)
  expect(await face.refusals(run.run_id)).toEqual([])
})

it('work that was not merged elsewhere can be had at home', async ({ onTestFinished }) => {
  const agents = {
    root: [{ calls: [spawn('Write', { owns: ['one.txt'], checks: ['false'] })] }, AWAIT, { text: 'It failed.' }],
    a1: [write('one.txt'), DONE],
  }
  const { home, clone, order, face } = await team(agents, onTestFinished)
  await startWorkers(1, order(clone('away')), onTestFinished)
  const run = face.run({ task: 'Do the work' })
  const result = await run.result()
  expect(result.kept_work).toMatchObject([{ agent_id: 'a1' }])
  expect(existsSync(join(home, 'one.txt'))).toBe(false)
  expect(await face.diff(run.run_id, { agent_id: 'a1' })).toContain('+one.txt')
  expect(await face.apply(run.run_id, { agent_id: 'a1' })).toEqual({ paths: ['one.txt'], commit: null })
  expect(read(home, 'one.txt')).toBe('one.txt\n')
})

it('a result that nobody waited for can be had in every checkout, also in that of its worker', async ({
  onTestFinished,
}) => {
  const agents = { root: [write('one.txt'), DONE] }
  const { home, clone, order, face } = await team(agents, onTestFinished)
  const [away, other] = [order(clone('away')), order(clone('other'))]
  const run = face.run({ task: 'Do the work' })
  await leaveToWorkers(run)
  await startWorkers(1, away, onTestFinished)
  await expect.poll(async () => (await face.find(run.run_id)).status).toBe('closed')
  for (const order of [away, other, { ...away, cwd: home }]) {
    const there = await openFace(order, onTestFinished)
    expect(await there.canBring(run.run_id)).toBe(true)
    expect(await there.apply(run.run_id)).toEqual({ paths: ['one.txt'], commit: null })
    expect(await there.canBring(run.run_id)).toBe(false)
    expect(read(order.cwd, 'one.txt')).toBe('one.txt\n')
  }
})

it('a landing that was begun at home and ends elsewhere says so, and is finished at home', async ({
  onTestFinished,
}) => {
  const { home, clone, order, face } = await team({ root: [write('one.txt'), write('two.txt'), DONE] }, onTestFinished)
  // Nobody is there, so that its files go with it.
  const run = face.run({ task: 'Do the work' })
  await leaveToWorkers(run)
  const kill = { type: 'run.landing', agent_id: 'root', when: 'after' } as const
  const victim = new WorkerVictim({ ...order(home), kill }, onTestFinished)
  await victim.begin()
  expect((await victim.ended).signal).toBe('SIGKILL')
  writeFileSync(join(home, 'one.txt'), 'one.txt\n')
  await startWorkers(1, order(clone('away')), onTestFinished)
  await expect.poll(async () => (await face.find(run.run_id)).status).toBe('closed')
  const [closed] = (await face.events(run.run_id)).flatMap(({ type, data }) =>
    type === 'agent.finished' ? [data.result] : [],
  )
  expect(closed?.landing).toMatchObject({
    state: 'kept',
    reason: `the run ended in another checkout than it began in, after a worker there had begun to bring it in: some of it may be in the folder already, and retinue apply ${run.run_id} brings the rest`,
  })
  await face.apply(run.run_id)
  expect([read(home, 'one.txt'), read(home, 'two.txt')]).toEqual(['one.txt\n', 'two.txt\n'])
})

const LEFT = [
  { name: 'makes way', when: 'after', left: [] },
  { name: 'stays where it has what was never carried', when: 'before', left: [{ agent_id: 'root', state: 'kept' }] },
] as const

it.for(LEFT)(
  'a result comes home, and the tree that the run went away from $name',
  async (given, { onTestFinished }) => {
    const hold = [{ calls: [{ run_command: { command: 'sleep 600', timeout_ms: 600_000 } }] }]
    const work = [write('one.txt'), write('two.txt'), DONE]
    const agents = { root: [{ branches: [{ when: { contains: 'Hold' }, steps: hold }, { steps: work }] }] }
    const { home, clone, order, face } = await team(agents, onTestFinished)
    const [away] = (await startWorkers(1, { ...order(clone('away')), concurrency: 1 }, onTestFinished)) as [
      WorkerVictim,
    ]
    const held = face.run({ task: 'Hold' })
    held.result().catch(() => {})
    await away.appended('tool.called', 'root')
    // The run may go to the other, but that has no room yet.
    const kill = { type: 'tool.finished', agent_id: 'root', when: given.when } as const
    const victim = new WorkerVictim({ ...order(home), kill }, onTestFinished)
    await victim.begin()
    const run = face.run({ task: 'Do the work' })
    expect((await victim.ended).signal).toBe('SIGKILL')
    await face.cancel(held.run_id, 'ada', 'enough')
    expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
    expect([read(home, 'one.txt'), read(home, 'two.txt')]).toEqual(['one.txt\n', 'two.txt\n'])
    const trees = (await face.worktrees()).filter(({ run_id }) => run_id === run.run_id)
    expect(trees.map(({ agent_id, state }) => ({ agent_id, state }))).toEqual(given.left)
  },
)

it('a result stays out of a folder that changed meanwhile, and is kept', async ({ onTestFinished }) => {
  const agents = { root: [{ delay_ms: 500, ...write('a.txt', 'theirs\n') }, DONE] }
  const { home, clone, order, face } = await team(agents, onTestFinished)
  await startWorkers(1, order(clone('away')), onTestFinished)
  const run = face.run({ task: 'Do the work' })
  await expect.poll(async () => (await face.events(run.run_id)).length).toBeGreaterThan(2)
  writeFileSync(join(home, 'a.txt'), 'mine\n')
  const { landing } = await run.result()
  expect(landing).toMatchObject({ state: 'kept', branch: `retinue/${run.run_id}/integration` })
  expect(landing?.reason).toContain('a.txt')
  expect(read(home, 'a.txt')).toBe('mine\n')
})

it('a run in a repository with submodules stays where these are, and says so', async ({ onTestFinished }) => {
  const { home, clone, order, face } = await team({ root: [DONE] }, onTestFinished)
  const below = makeProject({ 'b.txt': 'b\n' }, { git: true, finished: onTestFinished })
  git(home, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', below, 'below')
  await startWorkers(1, order(clone('away')), onTestFinished)
  const run = face.run({ task: 'Do the work' })
  run.result().catch(() => {})
  await expect.poll(async () => (await face.events(run.run_id)).length).toBe(2)
  const [created] = await face.events(run.run_id)
  expect(created).toMatchObject({ data: { notes: [expect.stringContaining('the repository has submodules')] } })
  expect(await face.cancel(run.run_id, 'tester', 'enough')).toMatchObject({ outcome: 'cancelled' })
})

it('a shallow clone gets what it needs, and what git ignores is said to be left behind', async ({ onTestFinished }) => {
  const agents = {
    root: [{ calls: [spawn('Write', { owns: ['ignored/**', 'one.txt'] })] }, AWAIT, { text: 'Done.' }],
    a1: [write('ignored/b.txt'), write('one.txt'), DONE],
  }
  const { home, clone, order, face } = await team(agents, onTestFinished)
  git(home, 'commit', '--quiet', '--allow-empty', '-m', 'more')
  git(home, 'push', '--quiet')
  git(home, 'checkout', '--quiet', 'HEAD~1')
  const shallow = join(clone('whole'), '..', 'shallow')
  const origin = git(home, 'config', 'remote.origin.url').trim()
  git(home, 'clone', '--quiet', '--depth', '1', `file://${origin}`, shallow)
  git(shallow, 'config', 'remote.origin.url', origin)
  await startWorkers(1, order(shallow), onTestFinished)
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
  expect(read(home, 'one.txt')).toBe('one.txt\n')
  const closed = (await face.events(run.run_id)).find(({ type }) => type === 'agent.subagent_closed')
  expect(closed).toMatchObject({ data: { result: { receipt: { left_out: ['ignored/b.txt'], kept: null } } } })
  expect(closed).toMatchObject({ data: { close_reason: expect.stringContaining('left behind in another checkout') } })
})

it('what is secret does not leave the machine: the run waits for a worker in its folder, and says why', async ({
  onTestFinished,
}) => {
  const agents = { root: [write('one.txt'), DONE] }
  const settings = { ...SETTINGS, secrets: ['TEAM_TOKEN'] }
  process.env.TEAM_TOKEN = 'kx93-hv02-qq71-zz'
  onTestFinished(() => {
    delete process.env.TEAM_TOKEN
  })
  const { home, clone, order, face } = await team(agents, onTestFinished, settings)
  writeFileSync(join(home, 'token.txt'), 'kx93-hv02-qq71-zz\n')
  await startWorkers(1, order(clone('away')), onTestFinished)
  const run = face.run({ task: 'Do the work' })
  run.result().catch(() => {})
  await expect.poll(async () => (await face.events(run.run_id)).length).toBe(2)
  const [created] = await face.events(run.run_id)
  expect(created).toMatchObject({ data: { notes: [expect.stringContaining('token.txt: the secret TEAM_TOKEN')] } })
  // To close one that has nothing to be worked on is no work.
  const other = face.run({ task: 'Do the work' })
  other.result().catch(() => {})
  await expect.poll(async () => (await face.events(other.run_id)).length).toBe(2)
  expect(await face.cancel(other.run_id, 'tester', 'enough')).toMatchObject({ outcome: 'cancelled' })
  expect((await face.events(run.run_id)).length).toBe(2)
  await startWorkers(1, order(home), onTestFinished)
  expect(await run.result()).toMatchObject({ outcome: 'completed' })
  expect(read(home, 'one.txt')).toBe('one.txt\n')
})
