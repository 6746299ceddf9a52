import { plural } from '../../domain/index.js'
import { databaseOf, type Here, type PresentWorker, presentWorkers, waitingForLabels } from '../../engine/index.js'
import type { Identity } from '../../host/index.js'
import { isOfServer, reasonOf } from '../../store/index.js'
import type { Retinue } from '../api.js'
import { VERSION } from '../version.js'
import { type Finding, note, ok, problem } from './findings.js'

const START = 'Start one in this folder: retinue worker'

/** Who works on what is given to the workers, where there is somebody or somebody is needed. */
export async function diagnoseWorkers(
  url: string,
  retinue: Retinue,
  { project }: Here,
  identity: Identity,
): Promise<Finding[]> {
  const database = databaseOf(url)
  const looks = Promise.all([
    presentWorkers(database, identity),
    waitingForLabels(database, project),
    retinue.workers(),
  ])
  const looked = await looks.catch((error: Error) => error)
  if (looked instanceof Error) {
    const mend = isOfServer(looked)
      ? 'See that the user may read their tables.'
      : 'See that it runs and can be reached.'
    return [problem('workers', reasonOf(looked), mend)]
  }
  const [present, waiting, here] = looked
  const labels = new Set(here.flatMap((worker) => worker.labels))
  const unmet = [...waiting].filter(([label]) => !labels.has(label)).map(unmetLabel)
  if (here.length > 0) return [found(here), ...unmet]
  if (unmet.length > 0) return unmet
  if (retinue.engine === 'local') return []
  return [note('workers', present ? 'none is there' : 'none has ever been there: it sets up its own tables', START)]
}

function unmetLabel([label, agents]: [label: string, agents: number]): Finding {
  const text = `${plural(agents, 'agent')} ${agents === 1 ? 'waits' : 'wait'} for a worker with the label ${label}, and none is there`
  return note('workers', text, `Start one on a machine that has it: retinue worker --labels ${label}`)
}

function found(workers: readonly PresentWorker[]): Finding {
  const machines = new Set(workers.map(({ host }) => host)).size
  const checkouts = new Set(workers.map(({ checkout }) => checkout)).size
  const where = checkouts > 1 ? `, in ${checkouts} checkouts of this project` : ''
  const labels = [...new Set(workers.flatMap((worker) => worker.labels))].sort()
  const labelled = labels.length > 0 ? `, with the label${labels.length === 1 ? '' : 's'} ${labels.join(', ')}` : ''
  const text = `${plural(workers.length, 'worker')} on ${plural(machines, 'machine')}${where}${labelled}`
  const others = [...new Set(workers.map(({ version }) => version))].filter((version) => version !== VERSION)
  if (others.length === 0) return ok('workers', text)
  return note('workers', `${text}, of version ${others.join(', ')} too`, `Replace them one by one; this is ${VERSION}.`)
}
