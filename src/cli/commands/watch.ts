import { missingFor, sayAttendance } from '../attendance.js'
import { sayRefusals } from '../detach.js'
import { EXIT, exitOfResult } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { standsInWords } from '../stands.js'
import { RunView } from '../view.js'

/** How often a watcher looks whether the process that does the work is still there. */
const LOOK_MS = 1000
/** When the database was away, whoever works has so long to say that it is there. */
const SETTLED_MS = 8000

export async function watch(id: string, options: StoreOptions & { json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id } = await retinue.find(id)
    const view = new RunView(process.stdout, process.env, { elsewhere: true, live: !options.json })
    const gone = new AbortController()
    let away_at = Number.NEGATIVE_INFINITY
    const look = async () => {
      const { status } = await retinue.find(run_id)
      if (status === 'interrupted' && performance.now() - away_at > SETTLED_MS) gone.abort()
    }
    const say = (text: string) => view.line(text)
    const missing = options.json ? null : await missingFor(retinue, run_id)
    if (missing !== null) say(missing)
    const unsay = options.json ? [] : [sayRefusals(retinue, run_id, say), sayAttendance(retinue, run_id, say, missing)]
    // A store that does not answer is met by whoever follows the log, and has its patience.
    const away = () => {
      away_at = performance.now()
    }
    const timer = setInterval(() => void look().catch(away), LOOK_MS)
    try {
      for await (const event of retinue.follow(run_id, gone.signal)) {
        if (options.json) process.stdout.write(`${JSON.stringify(event)}\n`)
        else view.event(event)
      }
    } finally {
      clearInterval(timer)
      for (const stop of unsay) stop()
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
