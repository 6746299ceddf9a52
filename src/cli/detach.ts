import { setTimeout as sleep } from 'node:timers/promises'
import { FAR_PERSON, leaveToWorkers, type Retinue, RetinueError, type WorkerRefusal } from '../index.js'
import { missingFor, NO_WORKER } from './attendance.js'
import { isAsked } from './audience.js'
import type { DriveOptions, Start } from './drive.js'
import { EXIT } from './exit.js'

export type DetachFlags = DriveOptions & { web?: boolean }

/** What is for whoever waits for the run. */
export function refuseToDetach(flags: DetachFlags): void {
  if (!flags.detach) return
  const given = [
    ...(flags.web ? ['--web'] : []),
    ...(flags.record === undefined ? [] : ['--record']),
    ...(flags.outputFormat === 'stream-json' ? ['--output-format stream-json'] : []),
  ]
  if (given.length === 0) return
  throw new RetinueError('input', `${given.join(' and ')} is for whoever waits for the run: leave it out with --detach`)
}

/** Gives a run to the workers. What it asks is answered from wherever one is, unless it is headless. */
export async function detach(retinue: Retinue, options: DriveOptions, start: Start): Promise<number> {
  if (retinue.engine !== 'dbos') {
    throw new RetinueError(
      'config',
      '--detach gives a run to workers, and here agents run in the process that starts them: add --engine dbos and a PostgreSQL --store, or leave out --detach',
    )
  }
  const run = start(isAsked(options) ? { person: FAR_PERSON } : {})
  const { run_id } = run
  try {
    await leaveToWorkers(run)
  } catch (error) {
    // A refusal says itself what is to be done.
    if (!(error instanceof RetinueError)) await sayBegun(retinue, run_id)
    throw error
  }
  if (options.outputFormat === 'json') {
    const { session_id } = await retinue.find(run_id)
    process.stdout.write(`${JSON.stringify({ type: 'detached', run_id, session_id })}\n`)
  } else process.stdout.write(`${run_id}\n`)
  const missing = await missingFor(retinue, run_id)
  if (missing !== null) process.stderr.write(`${missing}\n`)
  if (!options.print) {
    const given = missing === null ? 'The workers have it.' : 'It waits for one.'
    process.stderr.write(`${given} Watch it: retinue watch ${run_id}\n`)
    process.stderr.write(`What it asks: retinue answer ${run_id}\n`)
  }
  return EXIT.ok
}

/** What cannot be given away may be in the log already, and would be begun a second time by whoever tries again. */
async function sayBegun(retinue: Retinue, run_id: string): Promise<void> {
  // A database that is away keeps nobody from being told so.
  const run = await Promise.race([retinue.find(run_id).catch(() => null), sleep(FOUND_MS, null, { ref: false })])
  if (run === null || run.status === 'closed') return
  process.stderr.write(`retinue: Run ${run_id} is in the log, and nobody works on it: retinue resume ${run_id}\n`)
}

export function refusalInWords({ agent_id, worker, reason }: WorkerRefusal): string {
  return `${worker} could not work on ${agent_id}, and it is tried again: ${reason}`
}

const FOUND_MS = 3000
const REFUSALS_MS = 2000

/** Says why workers do not take a run, as long as somebody waits for it. Answers with how to stop that. */
export function sayRefusals(retinue: Retinue, run_id: string, say: (text: string) => void): () => void {
  const said = new Set<string>()
  const look = async () => {
    for (const refusal of await retinue.refusals(run_id)) {
      const text = refusalInWords(refusal)
      if (!said.has(text)) say(text)
      said.add(text)
    }
  }
  // What keeps it from being read is met by whoever follows the run.
  const timer = setInterval(() => void look().catch(() => {}), REFUSALS_MS)
  return () => clearInterval(timer)
}

/** Whoever gives work away should not wait in vain for somebody to do it. Answers with what was said. */
export async function sayWhetherAnybodyWorks(retinue: Retinue): Promise<string | null> {
  if ((await retinue.workers()).length > 0) return null
  process.stderr.write(`${NO_WORKER}\n`)
  return NO_WORKER
}
