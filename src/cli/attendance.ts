import { type AgentRow, AT_REST, type Contract, givenToWorkers, type PresentWorker, type Retinue } from '../index.js'
import { line } from './style.js'

const ROOT = 'root'
const LOOK_MS = 2000
/** One that is being replaced is away for a while, and so are all when the database comes back. */
const ABSENT_MS = 10_000

export const NO_WORKER = 'No worker is there: start one with retinue worker'
const SOMEBODY = 'A worker is there for it now'

type Given = NonNullable<Awaited<ReturnType<typeof givenToWorkers>>>

/** What a run waits for that is not there; null: nothing. */
export async function missingFor(retinue: Retinue, run_id: string): Promise<string | null> {
  // Whoever may read the log alone does not know who is there.
  const found = await attendance(retinue, run_id).catch(() => null)
  return found?.missing ?? null
}

/** Whether a run that is to be closed waits for a worker that is not there: also one that is paused, which nobody has. */
export async function waitsToBeClosed(retinue: Retinue, run_id: string): Promise<boolean> {
  const engine = await givenToWorkers(retinue.store, run_id)
  const { status, workspace_root } = await retinue.find(run_id)
  if (!engine || status === 'closed') return false
  const isHere = retinue.engine === 'local' && !engine.travels && workspace_root === retinue.cwd
  // Whoever is where its files are closes it, unless it is the workers'.
  if (isHere && (await retinue.store.lease(run_id, ROOT))?.owner !== AT_REST) return false
  if (status === 'running') return (await missingFor(retinue, run_id)) === NO_WORKER
  // Whoever may read the log alone does not know who is there.
  const there = await workersFor(retinue, workspace_root, engine).catch(() => null)
  return there?.length === 0
}

/** null: it is closed or paused, was not given to workers, or somebody has it who is none. */
async function attendance(retinue: Retinue, run_id: string): Promise<{ missing: string | null } | null> {
  const engine = await givenToWorkers(retinue.store, run_id)
  const run = engine && (await retinue.find(run_id))
  if (!engine || run?.status !== 'running') return null
  const there = await workersFor(retinue, run.workspace_root, engine)
  if (there.length > 0) return { missing: unmetLabel(await retinue.agents(run_id), there) }
  // Somebody may have taken it from the workers.
  const waits = run.waits_for_worker || (await retinue.store.lease(run_id, ROOT))?.owner === AT_REST
  return waits ? { missing: NO_WORKER } : null
}

/**
 * Says when nobody is there who could work on a run, and when somebody is again, as long as somebody waits for it. `said`:
 * that nobody is there was said before. Answers with how to stop that.
 */
export function sayAttendance(
  retinue: Retinue,
  run_id: string,
  say: (text: string) => void,
  said: string | null = null,
): () => void {
  let missing = said
  let since: number | null = null
  const look = async () => {
    const found = await attendance(retinue, run_id)
    if (found?.missing === missing || found === null) since = null
    else if (found.missing === null) {
      missing = null
      say(SOMEBODY)
    } else {
      since ??= performance.now()
      if (performance.now() - since < ABSENT_MS) return
      missing = found.missing
      since = null
      say(missing)
    }
  }
  // Whether somebody is there cannot be known then, and what keeps it from being read is met by whoever follows the run.
  const unknown = () => {
    since = null
  }
  const timer = setInterval(() => void look().catch(unknown), LOOK_MS)
  void look().catch(unknown)
  return () => clearInterval(timer)
}

/** Those that could work on a run. */
async function workersFor(retinue: Retinue, workspace_root: string, engine: Given): Promise<PresentWorker[]> {
  const all = await retinue.workers({ all: true })
  const { project: of } = engine
  if (engine.travels) return all.filter(({ project_id }) => of === undefined || project_id === of)
  return all.filter(({ checkout, project }) =>
    engine.checkout === undefined ? project === workspace_root : checkout === engine.checkout,
  )
}

function unmetLabel(agents: readonly AgentRow[], there: readonly PresentWorker[]): string | null {
  const labels = new Set(there.flatMap((worker) => worker.labels))
  for (const { agent_id, state, context_json } of agents) {
    const { label } = (JSON.parse(context_json) as Contract).execution
    if (label === undefined || labels.has(label) || !OPEN.has(state)) continue
    const start = `start one where that is: retinue worker --labels ${label}`
    return line(`No worker with the label ${label} is there, for which ${agent_id} waits: ${start}`)
  }
  return null
}

/** States in which an agent is worked on or waits to be. */
const OPEN = new Set(['created', 'running'])
