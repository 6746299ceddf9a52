import { expect, it } from 'vitest'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const SCRIPT = { 'script.yaml': 'agents: { root: [{ text: Done. }] }\n' }

it('what a worker has taken without having been told goes back to the queue', async ({ onTestFinished }) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(SCRIPT, { finished: onTestFinished })
  const order = { cwd, store, settings: TREE_SETTINGS }
  const [worker] = await startWorkers(1, order, onTestFinished)
  const face = await openFace(order, onTestFinished)
  const [{ id } = { id: '' }] = await face.workers()
  // As where the answer to its commit got lost with the connection.
  await queried(
    store,
    `CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN NEW.status := 'PENDING'; NEW.executor_id := '${id}'; RETURN NEW; END $$;
     CREATE TRIGGER taken BEFORE INSERT ON retinue_dbos.workflow_status FOR EACH ROW
       WHEN (NEW.workflow_uuid LIKE '%/given-%') EXECUTE FUNCTION taken()`,
  )
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(worker?.said).toEqual([{ kind: 'took_up', text: 'Gave back 1 that it had without having been told' }])
})

it('a worker whose lock the database still gives to its old connection is there all the same', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(SCRIPT, { finished: onTestFinished })
  const order = { cwd, store, settings: TREE_SETTINGS }
  await startWorkers(1, order, onTestFinished)
  const face = await openFace(order, onTestFinished)
  const [{ id } = { id: '' }] = await face.workers()
  const ROLL = "FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'retinue worker%'"
  const connections = async () =>
    (await queried(store, `SELECT pid ${ROLL}`)).map((row) => (row as { pid: number }).pid)
  const [before] = await connections()
  // Whoever waits for the lock gets it in the moment in which that connection is gone.
  const holding = queried(
    store,
    `SET statement_timeout = 0; SELECT pg_advisory_lock(hashtextextended('${id}', 0)); SELECT pg_sleep(6)`,
  )
  const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
  await expect.poll(() => queried(store, waits)).toHaveLength(1)
  await queried(store, `SELECT pg_terminate_backend(${before})`)
  // It is on the roll by another connection while somebody else still has the lock.
  await expect.poll(async () => (await connections()).filter((pid) => pid !== before)).toHaveLength(1)
  const beats = `SELECT beat_at > now() - interval '3 s' AS fresh FROM retinue_dbos.workers`
  await expect.poll(() => queried(store, waits)).toEqual([])
  expect(await queried(store, beats)).toEqual([{ fresh: true }])
  await holding
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed' })
  expect(await connections()).toHaveLength(1)
  expect(await face.workers()).toMatchObject([{ id }])
})
