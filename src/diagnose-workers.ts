import type { Retinue } from './api.js'
import { workspaceId } from './control/index.js'
import { plural } from './domain/index.js'
import { databaseOf, type PresentWorker, presentWorkers, waitingForLabels } from './engine/index.js'
import { type Finding, note, ok, problem } from './findings.js'
import { VERSION } from './version.js'

const START = 'Start one in this folder: retinue worker'

/** Who works on what is given to the workers, where there is somebody or somebody is needed. */
export async function diagnoseWorkers(url: string, { cwd, engine }: Retinue): Promise<Finding[]> {
  const database = databaseOf(url)
  const looks = Promise.all([presentWorkers(database), waitingForLabels(database, workspaceId(cwd))])
  const looked = await looks.catch((error: Error) => error)
  if (looked instanceof Error) return [problem('workers', looked.message, 'See that the user may read their tables.')]
  const [present, waiting] = looked
  const here = (present ?? []).filter(({ project }) => project === cwd)
  const labels = new Set(here.flatMap((worker) => worker.labels))
  const unmet = [...waiting].filter(([label]) => !labels.has(label)).map(unmetLabel)
  if (here.length > 0) return [found(here), ...unmet]
  if (unmet.length > 0) return unmet
  if (engine === 'local') return []
  return [note('workers', present ? 'none is there' : 'none has ever been there: it sets up its own tables', START)]
}

function unmetLabel([label, agents]: [label: string, agents: number]): Finding {
  const text = `${plural(agents, 'agent')} ${agents === 1 ? 'waits' : 'wait'} for a worker with the label ${label}, and none is there`
  return note('workers', text, `Start one on a machine that has it: retinue worker --labels ${label}`)
}

function found(workers: readonly PresentWorker[]): Finding {
  const machines = new Set(workers.map(({ host }) => host)).size
  const labels = [...new Set(workers.flatMap((worker) => worker.labels))].sort()
  const labelled = labels.length > 0 ? `, with the label${labels.length === 1 ? '' : 's'} ${labels.join(', ')}` : ''
  const text = `${plural(workers.length, 'worker')} on ${plural(machines, 'machine')}${labelled}`
  const others = [...new Set(workers.map(({ version }) => version))].filter((version) => version !== VERSION)
  if (others.length === 0) return ok('workers', text)
  return note('workers', `${text}, of version ${others.join(', ')} too`, `Replace them one by one; this is ${VERSION}.`)
}
