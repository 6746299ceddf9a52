import {
  adjustmentWords,
  keptWorkInWords,
  landingInWords,
  landingLeftOutInWords,
  type Retinue,
  RetinueError,
  type Run,
  type RunResult,
  storeFaultInWords,
  type Watching,
} from '../index.js'
import { sayAttendance } from './attendance.js'
import { canAsk, isQuiet } from './audience.js'
import { detach, sayRefusals, sayWhetherAnybodyWorks } from './detach.js'
import { EXIT, exitOfResult } from './exit.js'
import { terminalPerson } from './person.js'
import type { PlanEditing } from './plan/approving.js'
import { openScriptFile } from './script-file.js'
import { line, printable } from './style.js'
import { RunView } from './view.js'

export type DriveOptions = {
  print?: boolean
  /** Where the answers of the model are written, as a script. */
  record?: string
  outputFormat: 'text' | 'json' | 'stream-json'
  /** It is given to the workers, and nobody waits for it here. */
  detach?: boolean
  /** Workers have it. Default: as the engine says, which is so for every run that begins. */
  far?: boolean
  /** What it asks is answered from wherever somebody is, where nobody is here. */
  asked_elsewhere?: boolean
  /** It was closed before: there is nothing to watch. */
  finished?: boolean
  /** For plans that the person at the terminal edits, of the run with this id. Default: they cannot be edited. */
  editing?: (run_id: () => string) => PlanEditing
  /** Told when the log has the run. `say`: a line for whoever watches. */
  began?: (run_id: string, say: (text: string) => void) => void
  /** What there is to say at the end, where it is not just the answer. */
  ending?: (result: RunResult) => Promise<Ending>
}

/** `answer`: for stdout. `notes`: for a person. `also`: in the JSON of the result. `word`: how it ended, if not as its outcome says. */
export type Ending = { answer: string; notes: string[]; also: Record<string, unknown>; code: number; word?: string }

export type Start = (watching: Watching) => Run

/** Works a run in this process or has workers do so, shows it, and records it where that is asked for. */
export async function drive(retinue: Retinue, options: DriveOptions, start: Start): Promise<number> {
  if (options.detach) return detach(retinue, options, start)
  const { far = retinue.engine === 'dbos' } = options
  const missing = far && !options.finished ? await sayWhetherAnybodyWorks(retinue) : null
  if (options.record === undefined) return work(retinue, options, start, missing)
  const file = openScriptFile(options.record)
  let run_id: string | null = null
  let fault: string | null = null
  let code: number
  try {
    const recorded: Start = (watching) => {
      const run = start(watching)
      run_id = run.run_id
      return run
    }
    code = await work(retinue, options, recorded, missing)
  } finally {
    // Also of a run that failed or was left: what there is of it. Its own failure is what the exit code tells.
    fault = await file.finish(retinue, run_id)
    if (fault !== null) process.stderr.write(`retinue: ${fault}\n`)
  }
  return fault !== null && code === EXIT.ok ? EXIT.failed : code
}

/** So long what is told to let go of a run may take. */
const LET_GO_MS = 10_000

/**
 * stdout carries the answer (or JSON) and nothing else, unless it is a
 * terminal with somebody in front of it; everything else goes to stderr.
 * `missing`: what was said to be missing before it began.
 */
async function work(retinue: Retinue, options: DriveOptions, start: Start, missing: string | null): Promise<number> {
  const { stdout, stderr } = process
  const { far = retinue.engine === 'dbos' } = options
  const text = options.outputFormat === 'text'
  const quiet = isQuiet(options)
  const streams = text && !quiet && stdout.isTTY === true && !options.finished
  const asks = canAsk(options)
  const view = new RunView(streams ? stdout : stderr, process.env, {
    live: streams,
    past: options.finished === true,
    elsewhere: far && !asks && options.asked_elsewhere === true,
    words_from_log: far && streams,
  })
  // Whoever is asked about a plan is asked when the run has begun.
  const editing = options.editing?.(() => run.run_id)
  const run: Run = start({
    ...(asks ? { person: terminalPerson(view, editing ? { editing } : {}) } : {}),
    ...(streams ? { onDelta: (delta) => view.delta(delta) } : {}),
  })
  const signals = onSignals(run, view, far)
  const say = (text: string) => view.line(text)
  const unsay = far && !options.finished ? [sayRefusals(retinue, run.run_id, say)] : []
  let began = false
  try {
    for await (const event of run) {
      if (!began) {
        options.began?.(run.run_id, say)
        if (far && !options.finished) unsay.push(sayAttendance(retinue, run.run_id, say, missing))
      }
      began = true
      if (options.outputFormat === 'stream-json') stdout.write(`${JSON.stringify(event)}\n`)
      else if (!quiet) view.event(event)
    }
    const result = await run.result()
    const usual: Ending = { answer: result.text, notes: [], also: {}, code: exitOfResult(result) }
    const { answer, notes, also, code, word } = (await options.ending?.(result)) ?? usual
    if (options.outputFormat === 'text') {
      // What a model says was seen as it came.
      const seen = streams && !view.isOfProgram
      view.close()
      if (!seen && answer !== '') stdout.write(`${stdout.isTTY ? printable(answer) : answer}\n`)
      if (!quiet) view.ending(result, word)
      else {
        if (result.outcome !== 'completed' && word === undefined) stderr.write(`retinue: ${failure(result)}\n`)
        for (const text of [...result.adjustments.map(adjustmentWords), ...notInTheFolder(result)])
          stderr.write(`retinue: ${line(text)}\n`)
      }
      for (const text of notes) stderr.write(`${text}\n`)
    } else {
      stdout.write(`${JSON.stringify({ type: 'result', ...result, ...also })}\n`)
      for (const text of notInTheFolder(result)) stderr.write(`retinue: ${line(text)}\n`)
    }
    return code
  } catch (error) {
    const why = signals.left === null ? whyLeft(error) : `stopped by ${signals.left}`
    const fault = why === null && began ? storeFaultInWords(error) : null
    if (why === null && fault === null) throw error
    view.close()
    // What is in the log stays there, so the run goes on from it when the store is mended.
    const said = line(why ?? fault ?? '').replace(/\.$/, '')
    // What workers let go of was paused, and goes on when somebody says so, as everywhere.
    const goes_on = far && began && (why === null || signals.left !== null)
    const then = goes_on ? 'It is with the workers: retinue watch' : 'Go on with: retinue resume'
    stderr.write(`retinue: ${said}. ${then} ${run.run_id}\n`)
    return why === null ? EXIT.failed : EXIT.terminated
  } finally {
    for (const stop of unsay) stop()
    view.close()
    signals.off()
  }
}

/** Whoever reads the answer alone would look for these files in vain. */
function notInTheFolder(result: RunResult): string[] {
  const { landing, run_id } = result
  const kept = landing?.state === 'kept' ? landingInWords(landing, run_id) : []
  const left_out = landing ? landingLeftOutInWords(landing, run_id) : null
  return [...kept, ...keptWorkInWords(result, run_id), ...(left_out === null ? [] : [left_out])]
}

/** Somebody asked this process to let go of the run, which is no failure of it. */
function whyLeft(error: unknown): string | null {
  return error instanceof RetinueError && error.code === 'abandoned' ? error.message : null
}

function failure({ outcome, reason }: RunResult): string {
  return reason ? `${outcome}: ${reason}` : outcome
}

/**
 * Ctrl-C once cancels the run and waits for it to be closed; twice ends the process at once, and the run can be
 * resumed. SIGTERM comes from a supervisor that wants the process gone, not the work: the run is left to be resumed.
 * `far`: workers have the run, and it goes on without this process.
 */
function onSignals(run: Run, view: RunView, far: boolean): { left: string | null; off: () => void } {
  const state = { left: null as string | null, off: () => {} }
  let interrupts = 0
  let late: NodeJS.Timeout | undefined
  const interrupt = () => {
    interrupts++
    if (interrupts > 1) {
      view.close()
      const then = far ? 'The workers cancel it: retinue watch' : 'Take it up again with: retinue resume'
      process.stderr.write(`\nretinue: stopped. ${then} ${run.run_id}\n`)
      process.exit(EXIT.interrupted)
    }
    const then = far ? 'the workers then cancel it alone' : 'retinue resume then ends what is left'
    view.line(`cancelling; press Ctrl-C again to stop at once (${then})`)
    run.cancel('interrupted at the terminal')
  }
  const terminate = () => {
    state.left = 'SIGTERM'
    run.leave('SIGTERM')
    // A store that does not answer keeps nobody waiting: what is in the log stays there.
    late ??= setTimeout(() => {
      view.close()
      const then = far ? 'It is with the workers: retinue watch' : 'Go on with: retinue resume'
      process.stderr.write(`retinue: stopped by SIGTERM. ${then} ${run.run_id}\n`)
      process.exit(EXIT.terminated)
    }, LET_GO_MS)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', terminate)
  state.off = () => {
    clearTimeout(late)
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', terminate)
  }
  return state
}
