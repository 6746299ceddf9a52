import { type Landing, landingInWords, type StoredEvent, shortCommit } from '../../index.js'
import { line } from '../style.js'

/** How the result of a run reached the folder, or where it is, and what the run began with. `is_kept`: it still is. */
export function landingLines(landing: Landing, run_id: string, is_kept = true): string[] {
  const [how, then] = landingInWords(landing, run_id)
  if (how === undefined) return []
  const now = then === undefined || is_kept ? then : 'it was applied or discarded since'
  const ends = `from ${shortCommit(landing.base)} to ${shortCommit(landing.commit)}`
  return [how, ...(now === undefined ? [] : [now]), ends].map(line)
}

/** Of a run that worked in a tree of its own, and has come to that. */
export function landingOf(events: readonly StoredEvent[]): Landing | null {
  const event = events.findLast(({ type }) => type === 'run.landed' || type === 'run.kept')
  return event?.type === 'run.landed' || event?.type === 'run.kept' ? event.data : null
}
