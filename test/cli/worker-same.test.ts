import { expect, it } from 'vitest'
import { ended, lines, retinue, start } from '../support/cli.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { openTerminal } from '../support/terminal.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPTS = {
  'write.yaml': JSON.stringify({
    agents: {
      root: [{ calls: [{ spawn_agent: { task: 'Write', owns: ['w/**'] } }] }, { text: 'Done.' }],
      a1: [{ calls: [{ write_file: { path: 'w/a.txt', content: 'x\n' } }] }, { delay_ms: 500, text: 'Wrote.' }],
    },
  }),
  'ask.yaml': JSON.stringify({
    agents: {
      root: [
        { calls: [{ ask_user: { question: 'Which?' } }] },
        { calls: [{ write_file: { path: 'c.txt', content: 'x' } }] },
        { text: 'Done.' },
      ],
    },
  }),
  'slow.yaml': JSON.stringify({ agents: { root: [{ delay_ms: 120_000, text: 'Late.' }] } }),
}

async function place() {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject(SCRIPTS, { git: true })
  const worker = await workerProcess(cwd, store)
  return { worker, cwd, env: { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' } }
}

/** Without what is another each time. */
function plain(text: string): string[] {
  return text
    .replace(/\b[0-9a-z]{10}\b/g, 'ID')
    .replace(/[\d.]+ m?s\b/g, 'TIME')
    .replace(/[\d,]+ tokens/g, 'TOKENS')
    .split('\n')
    .filter((line) => line !== '  ✓ TIME')
}

it.each([
  ['--mode', 'auto', '-m', 'scripted/write.yaml'],
  ['-m', 'scripted/ask.yaml'],
])('what a command says of a run on workers is what it says of any other: %s %s', async (...flags) => {
  const { cwd, env } = await place()
  const here = makeProject(SCRIPTS, { git: true })
  const [far, local] = [
    await retinue(['run', ...flags, 'Do it'], { cwd, env }),
    await retinue(['run', ...flags, 'Do it'], { cwd: here }),
  ]
  expect([far.code, far.stdout, plain(far.stderr)]).toEqual([local.code, local.stdout, plain(local.stderr)])
})

/** The command lists runs until it lists one at work: it has no way to wait for one. */
async function atWork(cwd: string, env: Record<string, string>): Promise<string> {
  for (;;) {
    const { stdout } = await retinue(['runs', '--json'], { cwd, env })
    const [run] = lines(stdout) as { run_id: string; turns: number }[]
    const log = run ? await retinue(['show', run.run_id, '--json'], { cwd, env }) : null
    if (run && log?.stdout.includes('model.requested')) return run.run_id
  }
}

it('whoever waits for a run that is paused from elsewhere is told, and it is resumed from anywhere', async () => {
  const { cwd, env } = await place()
  const waiting = ended(start(['run', '-m', 'scripted/slow.yaml', 'Take your time'], { cwd, env }))
  const id = await atWork(cwd, env)
  expect(await retinue(['pause', id, '--reason', 'lunch'], { cwd, env })).toEqual({
    ...{ code: 0, signal: null, stderr: '' },
    stdout: `Run ${id} is paused. Go on with: retinue resume ${id}\n`,
  })
  expect(await waiting).toMatchObject({
    code: 143,
    stderr: `retinue: Run ${id} is left as it is: paused by person: lunch. Go on with: retinue resume ${id}\n`,
  })
  const { stdout } = await retinue(['runs'], { cwd, env })
  expect(stdout).toMatch(new RegExp(`^${id}  paused `))
  const stands = `Run ${id} was paused by person: lunch. Go on with: retinue resume ${id}\n`
  expect(await retinue(['watch', id], { cwd, env })).toMatchObject({ code: 143, stderr: `retinue: ${stands}` })
  expect((await retinue(['show', id], { cwd, env })).stdout).toContain(stands)
  const resumed = await retinue(['resume', id, '--detach'], { cwd, env })
  expect([resumed.code, resumed.stdout]).toEqual([0, `${id}\n`])
  expect((await retinue(['runs'], { cwd, env })).stdout).toMatch(new RegExp(`^${id}  running `))
  expect((await retinue(['cancel', id], { cwd, env })).stdout).toBe(`Run ${id} is closed: cancelled\n`)
  const over = await retinue(['resume', id, '--detach'], { cwd, env })
  expect(over.stderr).toContain(`Run ${id} is closed already; this is its result.\n`)
})

it('-c goes on with what was said in this folder, not in another one that shares the database', async () => {
  const { cwd, env } = await place()
  const script = { 's.yaml': JSON.stringify({ agents: { root: [{ text: 'First.' }, { text: 'Second.' }] } }) }
  const [here, there] = [makeProject(script), makeProject(script)]
  const { RETINUE_STORE = '' } = env
  const say = (folder: string, ...args: string[]) =>
    retinue(['-p', '-m', 'scripted/s.yaml', ...args], { cwd: folder, env: { RETINUE_STORE } })
  await say(here, 'Say it')
  await say(there, 'Say it there')
  expect(await say(here, '-c', 'Say more')).toMatchObject({ code: 0, stdout: 'Second.\n' })
  expect(await say(cwd, '-c', 'Say more')).toMatchObject({
    stderr: 'retinue: There is no session to continue in this folder\n',
  })
})

it('whoever leaves a chat is told that the workers go on with what they began, and when they come back, that it waits for one', async () => {
  const { worker, cwd, env } = await place()
  const terminal = openTerminal(['chat', '-m', 'scripted/slow.yaml'], cwd, { env })
  await terminal.shows('Enter sends')
  terminal.type('/spawn take your time\r')
  await terminal.shows('t1 works in the background')
  terminal.type('\u0004')
  // As where it would have to be gone on with.
  expect(await terminal.ended).toBe(130)
  expect(terminal.screen()).toMatch(/^The workers go on with it: retinue watch \w{10}$/m)
  worker.kill('SIGKILL')
  await worker.ended
  const there = async () => (await retinue(['workers', '--json'], { cwd, env })).stdout
  await expect.poll(there, { timeout: 60_000 }).toBe('')
  const back = openTerminal(['chat', '-c', '-m', 'scripted/slow.yaml'], cwd, { env })
  await back.shows('t1 waits (No worker is there: start one with retinue worker): take your time')
  back.type('\u0004')
  expect(await back.ended).toBe(0)
})
