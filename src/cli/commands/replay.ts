import { RetinueError } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { openScriptFile } from '../script-file.js'
import { plural } from '../style.js'

type ReplayOptions = StoreOptions & { json?: boolean; script?: string }

export async function replay(id: string, options: ReplayOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id } = await retinue.find(id)
    const fault = options.script === undefined ? null : await openScriptFile(options.script).finish(retinue, run_id)
    if (fault !== null) throw new RetinueError('input', fault)
    const replayed = await retinue.replay(run_id)
    if (options.json) for (const request of replayed.requests) process.stdout.write(`${JSON.stringify(request)}\n`)
    if (!replayed.ok) {
      process.stderr.write(`retinue: run ${run_id} does not replay: ${replayed.message}\n`)
      return 1
    }
    if (!options.json) {
      const { requests, events, agents } = replayed
      const made = `${plural(events, 'event')} of ${plural(agents, 'agent')}, ${plural(requests.length, 'request')} rebuilt`
      process.stdout.write(`${made}, every one as it was sent.\n`)
    }
    return 0
  })
}
