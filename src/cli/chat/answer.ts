import type { FanOut, Retinue, Run, RunResult, SpawnResult, Watching } from '../../index.js'
import { RetinueError } from '../../index.js'
import { line, printable } from '../style.js'
import type { Face } from './face.js'

/** `left`: the chat was left while it was under way. */
export type Answered = 'answered' | 'failed' | 'left'

/**
 * Works a run in the foreground and shows it, until it is closed or left. The signal interrupts it. Whatever goes wrong is
 * said, and the chat goes on.
 */
export async function showAnswer(
  face: Face,
  start: (watching: Watching) => Run | FanOut,
  { signal, begun = () => {} }: { signal: AbortSignal; begun?: (run: Run) => void },
): Promise<Answered> {
  if (signal.aborted) return 'left'
  const { view, watching, close } = face.view()
  const run = start(watching)
  begun(run)
  const interrupt = () => run.cancel('interrupted at the terminal')
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    for await (const event of run) view.event(event)
    const result = await run.result()
    view.close()
    const [spawned] = 'results' in run ? await run.results() : []
    const text = spawned ? spawned.details : watching.onDelta ? '' : result.text
    if (text !== '') face.answer(face.interactive ? printable(text) : text)
    view.ending(result)
    return completed(result, spawned, (text) => view.line(text)) ? 'answered' : 'failed'
  } catch (error) {
    if (!(error instanceof RetinueError)) throw error
    view.close()
    if (error.code === 'abandoned') return 'left'
    view.line(`${face.paint.red('✗')} ${printable(error.message)}`)
    return 'failed'
  } finally {
    signal.removeEventListener('abort', interrupt)
    close()
  }
}

/** A run of one sub-agent is completed where that one is; why it is not has been said of the run alone. */
function completed(result: RunResult, spawned: SpawnResult | undefined, say: (text: string) => void): boolean {
  if (!spawned) return result.outcome === 'completed'
  if (!spawned.success && result.outcome === 'completed') say(`  ${line(`${spawned.outcome}: ${spawned.error ?? ''}`)}`)
  return spawned.success
}

/** What a closed run came to: of one that a program began with one sub-agent, what that one said. */
export async function reportOf(
  retinue: Retinue,
  run_id: string,
): Promise<{ success: boolean; outcome: string; reason: string | null; text: string; result: RunResult } | null> {
  const result = await retinue.result(run_id)
  if (!result) return null
  const { fan_out } = await retinue.find(run_id)
  if (!fan_out) {
    const { outcome, reason, text } = result
    return { success: outcome === 'completed', outcome, reason, text, result }
  }
  const [spawned] = await retinue.spawnResults(run_id)
  if (!spawned) return { success: false, outcome: result.outcome, reason: result.reason, text: '', result }
  const { success, outcome, error, details } = spawned
  return { success, outcome, reason: error, text: details, result }
}
