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

/**
 * Where a run that is to be closed waits for a worker that is not there, that nobody is: also of one that is paused, which
 * nobody has. Otherwise null. `whole`: not a sub-agent alone, which its parent closes where that can be worked on.
 */
export async function waitsToBeClosed(retinue: Retinue, run_id: string, whole: boolean): Promise<string | null> {
  const engine = await givenToWorkers(retinue.store, run_id)
  const run = await retinue.find(run_id)
  if (!engine || run.status === 'closed') return null
  // Whoever works on it closes it, and whoever is where its files are, unless it is the workers'.
  const isAtWork = run.status === 'running' && !run.waits_for_worker
  const isHere = retinue.engine === 'local' && !engine.travels && run.workspace_root === retinue.cwd
  if ((isAtWork || isHere) && !(await isTheirs(retinue, run_id))) return null
  // Whoever may read the log alone does not know who is there.
  const { there, others, nobody } = await presence(retinue, run.workspace_root, engine).catch(() => UNKNOWN)
  if (there === null || there.length > 0) return null
  return whole && others.length > 0 && !(await hasTree(retinue, run_id)) ? null : nobody
}

const UNKNOWN = { there: null, others: [], nobody: NO_WORKER }

/** Whether anything is to be put away in one checkout alone. Otherwise any worker of the project can close it. */
async function hasTree(retinue: Retinue, run_id: string): Promise<boolean> {
  const events = await retinue.events(run_id)
  return events.some(({ agent_id, type }) => agent_id === ROOT && type === 'agent.worktree_created')
}

async function isTheirs(retinue: Retinue, run_id: string): Promise<boolean> {
  return (await retinue.store.lease(run_id, ROOT))?.owner === AT_REST
}

/** null: it is closed or paused, was not given to workers, or somebody has it who is none. */
async function attendance(retinue: Retinue, run_id: string): Promise<{ missing: string | null } | null> {
  const engine = await givenToWorkers(retinue.store, run_id)
  const run = engine && (await retinue.find(run_id))
  if (!engine || run?.status !== 'running') return null
  const { there, nobody } = await presence(retinue, run.workspace_root, engine)
  if (there.length > 0) return { missing: unmetLabel(await retinue.agents(run_id), there) }
  // Somebody may have taken it from the workers.
  return run.waits_for_worker || (await isTheirs(retinue, run_id)) ? { missing: nobody } : null
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
  let looking = false
  let silent = false
  let late: NodeJS.Timeout | undefined
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
  /** Whoever follows the run waits for a database that is away, too, and says nothing before it gives up. */
  const lookOnce = async () => {
    if (looking) return
    looking = true
    late = setTimeout(() => {
      silent = true
      say('The database does not answer; waiting for it')
    }, ABSENT_MS)
    try {
      await look()
      if (silent) say('The database answers again')
      silent = false
    } catch {
      // Whether somebody is there cannot be known then.
      since = null
    } finally {
      clearTimeout(late)
      looking = false
    }
  }
  const timer = setInterval(() => void lookOnce(), LOOK_MS)
  void lookOnce()
  return () => {
    clearInterval(timer)
    clearTimeout(late)
  }
}

/** `there`: those that could work on a run; `others`: of its project. `nobody`: what to say where none could. */
async function presence(retinue: Retinue, workspace_root: string, engine: Given) {
  const all = await retinue.workers({ all: true })
  const there = all.filter((worker) => canHave(worker, workspace_root, engine))
  const others = all.filter(({ project_id }) => project_id === engine.project)
  const isElsewhere = !engine.travels && all.length > 0
  return { there, others, nobody: isElsewhere ? line(notThere(workspace_root)) : NO_WORKER }
}

function canHave({ project_id, checkout, project }: PresentWorker, workspace_root: string, engine: Given): boolean {
  if (engine.checkout === checkout) return true
  if (engine.travels) return engine.project === undefined || project_id === engine.project
  return engine.checkout === undefined && project === workspace_root
}

function notThere(workspace_root: string): string {
  return `No worker is in ${workspace_root}, and the files of this run are nowhere else: start one there with retinue worker`
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
