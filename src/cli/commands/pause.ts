import { givenToWorkers } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'

/** Steps at work are finished, no others begin, and the run is left to be resumed. */
export async function pause(id: string, options: StoreOptions & { reason: string; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id, status } = await retinue.find(id)
    const paused = await retinue.pause(run_id, 'person', options.reason)
    const nobody = status === 'interrupted' && !paused.paused
    if (options.json) process.stdout.write(`${JSON.stringify(paused)}\n`)
    else if (paused.status === 'closed') process.stdout.write(`Run ${run_id} is closed: ${paused.outcome}\n`)
    else {
      // Nobody worked on it: there was nothing to pause.
      const how = nobody ? 'is not being worked on' : 'is paused'
      // One that was begun without workers is none of theirs.
      const own = retinue.engine === 'dbos' && (await givenToWorkers(retinue.store, run_id)) === null
      process.stdout.write(
        `Run ${run_id} ${how}. Go on with: retinue resume ${run_id}${own ? ' --engine local' : ''}\n`,
      )
    }
    return 0
  })
}
