import type { Retinue } from './api.js'
import { plural } from './domain/index.js'
import { databaseOf, type PresentWorker, presentWorkers } from './engine/index.js'
import { type Finding, note, ok, problem } from './findings.js'
import { VERSION } from './version.js'

const START = 'Start one in this folder: retinue worker'

/** Who works on what is given to the workers, where there is somebody or somebody is needed. */
export async function diagnoseWorkers(url: string, retinue: Retinue): Promise<Finding[]> {
  const { engine } = retinue
  const present = await presentWorkers(databaseOf(url)).catch((error: Error) => error)
  if (present instanceof Error) return [problem('workers', present.message, 'See that the user may read their tables.')]
  const here = await retinue.workers()
  if (here.length > 0) return [found(here)]
  if (engine === 'local') return []
  return [note('workers', present ? 'none is there' : 'none has ever been there: it sets up its own tables', START)]
}

function found(workers: readonly PresentWorker[]): Finding {
  const machines = new Set(workers.map(({ host }) => host)).size
  const checkouts = new Set(workers.map(({ checkout }) => checkout)).size
  const where = checkouts > 1 ? `, in ${checkouts} checkouts of this project` : ''
  const text = `${plural(workers.length, 'worker')} on ${plural(machines, 'machine')}${where}`
  const others = [...new Set(workers.map(({ version }) => version))].filter((version) => version !== VERSION)
  if (others.length === 0) return ok('workers', text)
  return note('workers', `${text}, of version ${others.join(', ')} too`, `Replace them one by one; this is ${VERSION}.`)
}
