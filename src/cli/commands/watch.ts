import { sayRefusals } from '../detach.js'
import { EXIT, exitOfResult } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { standsInWords } from '../stands.js'
import { RunView } from '../view.js'

/** How often a watcher looks whether the process that does the work is still there. */
const LOOK_MS = 1000

export async function watch(id: string, options: StoreOptions & { json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id } = await retinue.find(id)
    const view = new RunView(process.stdout, process.env, { elsewhere: true, live: !options.json })
    const gone = new AbortController()
    const look = async () => {
      if ((await retinue.find(run_id)).status === 'interrupted') gone.abort()
    }
    const unsay = options.json ? () => {} : sayRefusals(retinue, run_id, (text) => view.line(text))
    const timer = setInterval(() => void look().catch(() => gone.abort()), LOOK_MS)
    try {
      for await (const event of retinue.follow(run_id, gone.signal)) {
        if (options.json) process.stdout.write(`${JSON.stringify(event)}\n`)
        else view.event(event)
      }
    } finally {
      clearInterval(timer)
      unsay()
      if (gone.signal.aborted) view.interrupted()
      else view.close()
    }
    const result = await retinue.result(run_id)
    if (!result) {
      const run = await retinue.find(run_id)
      process.stderr.write(`retinue: ${standsInWords(run)}\n`)
      return run.paused ? EXIT.terminated : EXIT.failed
    }
    if (!options.json) {
      if (result.text !== '') view.line(result.text)
      view.ending(result)
    }
    return exitOfResult(result)
  })
}
