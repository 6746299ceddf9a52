import { expect, it } from 'vitest'
import { leaveToWorkers } from '../../src/index.js'
import { wireProxy } from '../store/wire-proxy.js'
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

it('a worker whose queue does not answer any more is there all the same, and goes on on other connections', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(SCRIPT, { finished: onTestFinished })
  const proxy = await wireProxy(store, onTestFinished)
  const order = { cwd, store, settings: TREE_SETTINGS }
  const [worker] = await startWorkers(1, { ...order, store: proxy.url }, onTestFinished)
  const face = await openFace(order, onTestFinished)
  // It has begun to look for what dead workers have left.
  await expect.poll(() => proxy.hush((sent) => sent.includes('READ ONLY'))).toBeGreaterThan(0)
  // When they begin, those of DBOS say no name, in contrast to the roll's and the log's.
  const ofQueue = (sent: string) => !sent.slice(0, sent.indexOf('\0\0', 8)).includes('application_name')
  expect(proxy.hush(ofQueue)).toBeGreaterThan(1)
  const result = face.run({ task: 'Do the work' }).result()
  const ended = result.then(() => true)
  const silences: number[] = []
  const beat = 'SELECT extract(epoch FROM now() - beat_at)::float8 AS silent FROM retinue_dbos.workers'
  const hasEnded = async () => {
    const [row] = (await queried(store, beat)) as { silent: number }[]
    silences.push(row?.silent ?? Number.POSITIVE_INFINITY)
    return Promise.race([ended, false])
  }
  await expect.poll(hasEnded, { interval: 500, timeout: 200_000 }).toBe(true)
  expect(await result).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(Math.max(...silences)).toBeLessThan(8)
  // DBOS tries again by itself what was under way. Only where the worker was about to ask, it has something to say.
  const asked = ['The database does not answer: Connection terminated unexpectedly', 'The database answers again']
  expect(asked).toEqual(expect.arrayContaining(worker?.said.map(({ text }) => text) ?? []))
})

it('a worker that cannot take up what a dead one left stays on the roll, and says so once', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(SCRIPT, { finished: onTestFinished })
  const order = { cwd, store, settings: TREE_SETTINGS }
  const [worker] = await startWorkers(1, order, onTestFinished)
  const face = await openFace(order, onTestFinished)
  const roll = async () => {
    const mine = "datname = current_database() AND application_name LIKE 'retinue worker%'"
    return queried(store, `SELECT pid FROM pg_stat_activity WHERE ${mine}`)
  }
  const before = await roll()
  await queried(
    store,
    `CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN NEW.status := 'PENDING'; NEW.executor_id := 'who is gone'; RETURN NEW; END $$;
     CREATE TRIGGER taken BEFORE INSERT ON retinue_dbos.workflow_status FOR EACH ROW
       WHEN (NEW.workflow_uuid LIKE '%/given-%') EXECUTE FUNCTION taken();
     CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refused BEFORE UPDATE ON retinue_dbos.workflow_status FOR EACH ROW
       WHEN (OLD.executor_id = 'who is gone') EXECUTE FUNCTION refused()`,
  )
  const run = face.run({ task: 'Do the work' })
  await worker?.heard('problem')
  // It says that it is there a few times more.
  const [now] = (await queried(store, 'SELECT now()::text AS at')) as { at: string }[]
  const later = `SELECT beat_at > '${now?.at}'::timestamptz + interval '3 s' AS later FROM retinue_dbos.workers`
  await expect.poll(() => queried(store, later)).toEqual([{ later: true }])
  expect(await roll()).toEqual(before)
  await queried(store, 'DROP TRIGGER refused ON retinue_dbos.workflow_status')
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  await worker?.heard('mended')
  expect(worker?.said).toEqual([
    { kind: 'problem', text: 'The database refuses: not now' },
    { kind: 'took_up', text: 'Took up 1 that a worker left when it ended' },
    { kind: 'mended', text: 'The database answers again' },
  ])
})

it('a worker is on the roll before it takes anything', async ({ onTestFinished }) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(SCRIPT, { finished: onTestFinished })
  const order = { cwd, store, settings: TREE_SETTINGS }
  // From then on there are the tables, and the queue that the next one listens to.
  const [first] = await startWorkers(1, order, onTestFinished)
  await first?.stop()
  const face = await openFace(order, onTestFinished)
  const run = face.run({ task: 'Do the work' })
  await leaveToWorkers(run)
  await queried(
    store,
    `CREATE TABLE takers (is_known boolean);
     CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO takers SELECT EXISTS (SELECT 1 FROM retinue_dbos.workers WHERE executor = NEW.executor_id);
       RETURN NEW;
     END $$;
     CREATE TRIGGER noted BEFORE UPDATE ON retinue_dbos.workflow_status FOR EACH ROW
       WHEN (NEW.status = 'PENDING') EXECUTE FUNCTION noted()`,
  )
  // It takes a while until it can write itself down.
  const holding = queried(
    store,
    "SET statement_timeout = 0; SELECT pg_advisory_lock(hashtextextended('retinue_dbos roll', 0)); SELECT pg_sleep(3)",
  )
  await startWorkers(1, order, onTestFinished)
  await holding
  for await (const { type } of face.follow(run.run_id)) if (type === 'run.closed') break
  expect(await queried(store, 'SELECT DISTINCT is_known FROM takers')).toEqual([{ is_known: true }])
})
