import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ended, retinue, start } from '../support/cli.js'
import { GOAL, planProject, savedIn } from '../support/plan-project.js'
import { sharedPostgres } from '../support/postgres.js'
import { git, makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPT = JSON.stringify({
  agents: {
    root: [
      { calls: [{ spawn_agent: { task: 'Write', owns: ['b.txt'] } }] },
      { calls: [{ read_file: { path: 'b.txt' } }] },
      { expect: { contains: 'beta' }, text: 'Done.' },
    ],
    a1: [{ calls: [{ write_file: { path: 'b.txt', content: 'beta\n' } }] }, { text: 'Written.' }],
  },
})

const ASKING = JSON.stringify({
  agents: {
    root: [
      { calls: [{ spawn_agent: { task: 'Write', owns: ['b.txt'] } }] },
      { calls: [{ ask_user: { question: 'Is that all?' } }] },
      { text: 'Done.' },
    ],
    a1: [{ calls: [{ write_file: { path: 'b.txt', content: 'beta\n' } }] }, { text: 'Written.' }],
  },
})

/** A person's clone, the clone that a worker has, and a database. */
async function clones() {
  const store = await (await sharedPostgres()).database()
  const origin = planProject({ 's.yaml': SCRIPT, 'asking.yaml': ASKING, 'a.txt': 'alpha\n' })
  const place = makeProject({})
  const clone = (name: string) => {
    git(place, 'clone', '--quiet', origin, name)
    return join(place, name)
  }
  const [home, away] = [clone('home'), clone('away')]
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  const at = (cwd: string) => ({
    cwd,
    call: (...args: string[]) => retinue(args, { cwd, env }),
  })
  return { store, env, home: at(home), away: at(away) }
}

const RUN = ['--model', 'scripted/s.yaml', '--mode', 'auto', '-p', 'Do it']

it('a run that workers of another clone carry out ends in the folder that it was begun in', async () => {
  const { store, home, away } = await clones()
  await workerProcess(away.cwd, store)
  writeFileSync(join(home.cwd, 'mine.txt'), 'mine\n')
  const ended = await home.call(...RUN)
  expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, 'Done.\n', ''])
  expect(git(home.cwd, 'status', '--porcelain')).toBe('?? b.txt\n?? mine.txt\n')
  expect(readFileSync(join(home.cwd, 'b.txt'), 'utf8')).toBe('beta\n')
  expect(git(away.cwd, 'status', '--porcelain')).toBe('')
})

it('what was left to them is brought home when the person wants it, and nothing stays elsewhere', async () => {
  const { store, home, away } = await clones()
  const worker = await workerProcess(away.cwd, store)
  const given = await home.call('--detach', ...RUN)
  const id = given.stdout.trim()
  expect((await home.call('watch', id)).code).toBe(0)
  expect(existsSync(join(home.cwd, 'b.txt'))).toBe(false)
  const kept = `kept on retinue/${id}/integration, not in the folder: the run ended in another checkout than it began in`
  const shown = async () => (await home.call('show', id)).stdout.split('\n').slice(0, 12).join('\n')
  expect(await shown()).toContain(`${kept}: bring it in with retinue apply ${id}\n`)
  expect(await shown()).not.toContain('it was applied or discarded since')
  expect((await home.call('diff', id)).stdout).toContain('+beta')
  const applied = await home.call('apply', id)
  expect([applied.code, readFileSync(join(home.cwd, 'b.txt'), 'utf8')]).toEqual([0, 'beta\n'])
  expect(await shown()).toContain('it was applied or discarded since\n')
  worker.kill('SIGTERM')
  await worker.ended
  expect((await away.call('gc')).code).toBe(0)
  expect(existsSync(join(away.cwd, '.retinue', 'worktrees', id))).toBe(false)
  const own = git(away.cwd, 'ls-files').trim().split('\n')
  expect(readdirSync(away.cwd).sort()).toEqual(['.git', '.retinue', ...own].sort())
})

it('of a run whose files stay it is said that no worker is in their folder, though one is in another clone', async () => {
  const { store, env, home, away } = await clones()
  await workerProcess(away.cwd, store)
  const config = makeProject({ 'retinue/config.yaml': 'workspace: { isolation: shared }\n' })
  const own = { cwd: home.cwd, env: { ...env, XDG_CONFIG_HOME: config } }
  const nobody = `No worker is in ${home.cwd}, and the files of this run are nowhere else: start one there with retinue worker`
  const given = await retinue(['--detach', ...RUN], own)
  expect([given.code, given.stderr]).toEqual([0, `${nobody}\n`])
  const run_id = given.stdout.trim()
  expect((await retinue(['show', run_id], own)).stdout).toContain(nobody)
  // Nothing of one that has not begun is in a folder: any worker of the project closes it.
  const other = (await retinue(['--detach', ...RUN], own)).stdout.trim()
  expect(await retinue(['cancel', other], own)).toMatchObject({
    code: 0,
    stdout: `Run ${other} is closed: cancelled\n`,
    stderr: '',
  })
  await workerProcess(home.cwd, store, { env: { XDG_CONFIG_HOME: config } })
  const watched = await retinue(['watch', run_id], own)
  expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('Done.')])
})

it('plans and reports are in the folder that a run was begun in, and in no other', async () => {
  const { store, home, away } = await clones()
  await workerProcess(away.cwd, store)
  const auto = ['--mode', 'auto', '--model']
  const made = await home.call('plan', GOAL, '--no-research', ...auto, 'scripted/goal.yaml')
  const [id = ''] = savedIn(home.cwd)
  expect([made.code, made.stderr]).toEqual([
    0,
    expect.stringContaining(`The plan is saved in .retinue/plans/${id}.yaml; nothing of it is carried out.\n`),
  ])
  const papers = (cwd: string, run: string) => readdirSync(join(cwd, '.retinue', 'reports', run)).sort()
  expect(papers(home.cwd, id)).toEqual(['a1-step-0-result.md', 'plan.md'])

  // As where nobody waited for it: the log has it.
  rmSync(join(home.cwd, '.retinue', 'plans', `${id}.yaml`))
  const shown = await home.call('plan', 'show', id)
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(`retinue plan run ${id}`) })
  const carried = await home.call('plan', 'run', id, '-p', '--output-format', 'json', ...auto, 'scripted/run.yaml')
  expect(carried).toMatchObject({ code: 0, stderr: '' })
  expect(papers(home.cwd, JSON.parse(carried.stdout).run_id)).toContain('plan.md')
  expect(['plans', 'reports'].filter((name) => existsSync(join(away.cwd, '.retinue', name)))).toEqual([])
})

it('a paused run is cancelled from any folder and with any engine', async () => {
  const { store, env, home, away } = await clones()
  const worker = await workerProcess(away.cwd, store)
  const given = await home.call('--detach', '--model', 'scripted/asking.yaml', '--mode', 'auto', 'Do it')
  const id = given.stdout.trim()
  expect((await home.call('pause', id)).stdout).toContain(`Run ${id} is paused`)
  const local = { cwd: makeProject({}), env: { ...env, RETINUE_ENGINE: 'local' } }
  worker.kill('SIGKILL')
  await worker.ended
  const nobody = 'retinue: No worker is there: start one with retinue worker. The first that comes closes it'
  const isGone = async () => (await home.call('workers', '--json')).stdout
  await expect.poll(isGone, { timeout: 60_000 }).toBe('')
  const cancel = start(['cancel', id], local)
  const end = ended(cancel)
  await once(cancel.stderr, 'data')
  await workerProcess(away.cwd, store)
  expect(await end).toMatchObject({
    code: 0,
    stdout: `Run ${id} is closed: cancelled\n`,
    stderr: expect.stringContaining(nobody),
  })
})

it('what a run has changed so far can be seen from any clone while it is worked on in another', async () => {
  const { store, home, away } = await clones()
  const worker = await workerProcess(away.cwd, store)
  const given = await home.call('--detach', '--model', 'scripted/asking.yaml', '--mode', 'auto', 'Do it')
  const id = given.stdout.trim()
  expect(given.code).toBe(0)
  await expect.poll(async () => (await home.call('answer', id, '--json')).stdout, { timeout: 60_000 }).not.toBe('')
  const diff = await home.call('diff', id)
  expect([diff.code, diff.stderr, diff.stdout]).toEqual([0, '', (await away.call('diff', id)).stdout])
  expect(diff.stdout).toContain('+beta')
  expect(git(home.cwd, 'status', '--porcelain')).toBe('')

  worker.kill('SIGKILL')
  await worker.ended
  await expect
    .poll(async () => (await home.call('answer', id)).stderr, { timeout: 60_000 })
    .toBe('retinue: No worker is there: start one with retinue worker\n')
})

it('who is there is said for all clones of the project, and for no others', async () => {
  const { store, home, away } = await clones()
  const other = makeProject({ 's.yaml': SCRIPT }, { git: true })
  await workerProcess(away.cwd, store)
  await workerProcess(other, store)
  const listed = await home.call('workers', '--json')
  expect(
    listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).project),
  ).toEqual([away.cwd])
  expect((await home.call('workers', '--all', '--json')).stdout.trim().split('\n')).toHaveLength(2)
  expect((await home.call('workers')).stdout).toMatch(new RegExp(`, ${away.cwd}\n$`))
  expect((await away.call('workers')).stdout).not.toContain(away.cwd)
})

it('folders that are given the same project share their workers, and whoever asks is told so with any engine', async () => {
  const store = await (await sharedPostgres()).database()
  const [one, other] = [makeProject({ 's.yaml': SCRIPT }), makeProject({ 's.yaml': SCRIPT })]
  await workerProcess(other, store, { env: { RETINUE_PROJECT: 'shop' } })
  const listed = (env: Record<string, string>) =>
    retinue(['workers', '--json'], { cwd: one, env: { RETINUE_STORE: store, ...env } })
  expect((await listed({})).stdout).toBe('')
  for (const engine of ['local', 'dbos']) {
    const { stdout } = await listed({ RETINUE_PROJECT: 'shop', RETINUE_ENGINE: engine })
    expect(JSON.parse(stdout)).toMatchObject({ project: other })
  }
})

it.each([
  ['was started since', { RETINUE_PROJECT: 'shop' }],
  ['was there before', {}],
])(
  'a run whose project has got another name since is gone on with when it is resumed, by a worker that %s',
  async (_, env) => {
    const store = await (await sharedPostgres()).database()
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const at = { cwd, env: { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' } }
    const run_id = (await retinue(['--detach', ...RUN], at)).stdout.trim()
    await retinue(['pause', run_id], at)
    await workerProcess(cwd, store, { env })
    const named = { cwd, env: { ...at.env, RETINUE_PROJECT: 'shop' } }
    const resumed = await retinue(['resume', run_id, '-p'], named)
    expect([resumed.code, resumed.stdout, resumed.stderr]).toEqual([0, 'Done.\n', ''])
  },
)
