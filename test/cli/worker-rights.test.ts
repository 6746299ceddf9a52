import { expect, it } from 'vitest'
import { retinue } from '../support/cli.js'
import { ownPostgres, queried } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const LOG = `GRANT USAGE ON SCHEMA retinue TO guest;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retinue TO guest`
const GIVING = `GRANT USAGE ON SCHEMA retinue_dbos TO guest;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retinue_dbos TO guest`
const LACKING = /permission denied for schema retinue_dbos.*GRANT USAGE ON SCHEMA retinue_dbos.*GRANT CREATE ON SCHEMA/
const WORKING = 'GRANT CREATE ON SCHEMA retinue_dbos TO guest'

it('the rights that docs/postgres.md names are enough to give runs to the workers, and to be one', async () => {
  const server = await ownPostgres()
  const owned = await server.database()
  const cwd = makeProject({
    's.yaml': JSON.stringify({ agents: { root: [{ text: 'Done.' }] } }),
    'slow.yaml': JSON.stringify({ agents: { root: [{ delay_ms: 120_000, text: 'Late.' }] } }),
  })
  const owner = await workerProcess(cwd, owned)
  await queried(server.url, "CREATE ROLE guest LOGIN PASSWORD 'opensesame'")
  const url = new URL(owned)
  url.username = 'guest'
  url.password = 'opensesame'
  const env = { RETINUE_STORE: url.href, RETINUE_ENGINE: 'dbos' }
  const run = () => retinue(['-p', '--model', 'scripted/s.yaml', 'Do it'], { cwd, env })
  await queried(owned, LOG)
  expect(await retinue(['worker'], { cwd, env })).toMatchObject({ code: 1, stderr: expect.stringMatching(LACKING) })
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(LACKING) })
  const refused = await retinue(['--detach', '--model', 'scripted/s.yaml', 'Do it'], { cwd, env })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(LACKING) })
  const [, left] = /Run (\S+) is in the log, and nobody works on it: retinue resume \1/.exec(refused.stderr) ?? []
  expect(await queried(owned, `SELECT 1 FROM retinue.runs WHERE run_id = '${left}'`)).toHaveLength(1)
  // Whoever is at work hears it; only one that rests would have to be woken.
  const slow = ['--detach', '--model', 'scripted/slow.yaml', 'Do it']
  const id = (await retinue(slow, { cwd, env: { ...env, RETINUE_STORE: owned } })).stdout.trim()
  const asked = `SELECT 1 FROM retinue.events WHERE type = 'model.requested' AND run_id = '${id}'`
  await expect.poll(() => queried(owned, asked)).toHaveLength(1)
  const cancelled = await retinue(['cancel', id], { cwd, env: { ...env, RETINUE_ENGINE: 'local' } })
  expect(cancelled).toMatchObject({ code: 0, stdout: `Run ${id} is closed: cancelled\n` })
  await queried(owned, GIVING)
  expect(await run()).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' })
  owner.kill('SIGTERM')
  await owner.ended
  expect(await retinue(['worker'], { cwd, env })).toMatchObject({ code: 1, stderr: expect.stringMatching(LACKING) })
  await queried(owned, WORKING)
  await workerProcess(cwd, url.href)
  expect(await run()).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' })
})
