import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ended, lines, retinue, start } from '../support/cli.js'
import { ownPostgres, queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const NO_WORKER = 'No worker is there: start one with retinue worker'
const SOMEBODY = 'A worker is there for it now'

/** Who is there is looked at every two seconds. */
const LONG_MS = 12_000

/** A folder whose model takes a while for its one answer. */
async function place({ delay_ms = 0, store = '' } = {}) {
  const url = store || (await (await sharedPostgres()).database())
  const cwd = makeProject({ 's.yaml': JSON.stringify({ agents: { root: [{ delay_ms, text: 'Done.' }] } }) })
  const env = { RETINUE_STORE: url, RETINUE_ENGINE: 'dbos' }
  const say = (...args: string[]) => retinue(args, { cwd, env })
  const give = async () => (await say('--model', 'scripted/s.yaml', '--detach', 'Do it')).stdout.trim()
  const status = async () => (lines((await say('runs', '--json')).stdout) as { status: string }[])[0]
  return { store: url, cwd, env, say, give, status }
}

/** What a command has written, until it has written something. */
function watching(args: string[], options: { cwd: string; env: Record<string, string> }) {
  const child = start(args, options)
  const end = ended(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await end
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk))
  const until = async (words: string) => {
    while (!text.includes(words)) {
      const gone = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), end])
      if ('code' in gone && !text.includes(words)) throw new Error(`it ended without "${words}": ${text}`)
    }
  }
  return { child, end, until, said: () => text }
}

/** A worker that is killed while it waits for the model. */
async function losesItsWorker({ store, cwd, give }: Awaited<ReturnType<typeof place>>) {
  const worker = await workerProcess(cwd, store)
  const id = await give()
  const asked = "SELECT 1 FROM retinue.events WHERE type = 'model.requested'"
  await expect.poll(() => queried(store, asked), { timeout: 20_000 }).toHaveLength(1)
  return { worker, id }
}

describe('a run that the workers go on with', () => {
  it('is not given up by those who watch it when the last of its workers is killed', async () => {
    const here = await place({ delay_ms: LONG_MS })
    const { worker, id } = await losesItsWorker(here)
    const watch = watching(['watch', id], here)
    worker.kill('SIGKILL')
    await worker.ended
    expect(await here.status()).toMatchObject({ run_id: id, status: 'running', waits_for_worker: true })
    await watch.until(NO_WORKER)
    expect((await here.say('show', id)).stdout).toContain(`running`)
    expect((await here.say('show', id)).stdout).toContain(NO_WORKER)
    expect(await here.say('resume', id)).toMatchObject({
      code: 1,
      stderr: `retinue: Run ${id} was given to the workers, and they go on with it by themselves. ${NO_WORKER}. See it with: retinue watch ${id}\n`,
    })
    await workerProcess(here.cwd, here.store)
    await watch.until(SOMEBODY)
    expect((await watch.end).code).toBe(0)
    expect(
      watch
        .said()
        .split('\n')
        .filter((said) => said === NO_WORKER || said === SOMEBODY),
    ).toEqual([NO_WORKER, SOMEBODY])
  })

  it('is not given up by those who watch it while the database is away', async () => {
    const server = await ownPostgres({ durable: true })
    const here = await place({ delay_ms: 2000, store: await server.database() })
    const { id } = await losesItsWorker(here)
    const watch = watching(['watch', id, '--json'], here)
    await watch.until('model.requested')
    await server.stop('immediate')
    // Longer than the lease of its worker.
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    await server.start()
    expect(await watch.end).toMatchObject({ code: 0, stderr: '' })
  })

  it('is interrupted where only the log is left, and is given to them again', async () => {
    const here = await place({ delay_ms: 3000 })
    const { worker, id } = await losesItsWorker(here)
    worker.kill('SIGKILL')
    await worker.ended
    await queried(here.store, 'DROP SCHEMA retinue_dbos CASCADE')
    expect(await here.status()).toMatchObject({ run_id: id, status: 'interrupted' })
    await workerProcess(here.cwd, here.store)
    expect(await here.say('resume', id, '-p')).toMatchObject({ code: 0, stdout: 'Done.\n' })
  })

  it('is interrupted when whoever took it from them is gone', async () => {
    const here = await place({ delay_ms: 60_000 })
    const { worker, id } = await losesItsWorker(here)
    await here.say('pause', id)
    // What was asked of the workers before is done.
    const asked = "SELECT 1 FROM retinue_dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING', 'DELAYED')"
    await expect.poll(() => queried(here.store, asked)).toEqual([])
    worker.kill('SIGTERM')
    await worker.ended
    const own = watching(['resume', id, '--engine', 'local'], here)
    await own.until('resumed by')
    own.child.kill('SIGKILL')
    await own.end
    expect(await here.status()).toMatchObject({ run_id: id, status: 'interrupted' })
    expect(await here.say('watch', id)).toMatchObject({
      code: 1,
      stderr: `retinue: Its process is gone. Go on with: retinue resume ${id}\n`,
    })
  })
})

describe('whoever waits for a run', () => {
  it('is told once that nobody is there, and once that somebody is', async () => {
    const here = await place({ delay_ms: LONG_MS })
    const run = watching(['-p', '--model', 'scripted/s.yaml', 'Do it'], here)
    await run.until(NO_WORKER)
    await workerProcess(here.cwd, here.store)
    await run.until(SOMEBODY)
    expect(await run.end).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: `${NO_WORKER}\n${SOMEBODY}\n` })
  })
})
