import { type Landing, landingInWords, landingLeftOutInWords, type StoredEvent, shortCommit } from '../../index.js'
import { line } from '../style.js'

/** What of a run's own tree there still is. */
export type Remains = { branch: boolean; folder: boolean }

/** How the result of a run reached the folder, or where it is, and what the run began with. */
export function landingLines(
  landing: Landing,
  run_id: string,
  still: Remains = { branch: true, folder: true },
): string[] {
  const [how, then] = landingInWords(landing, run_id)
  const left_out = landingLeftOutInWords(landing, run_id, still.folder)
  const isGone = !still.branch && (then !== undefined || landing.away === true)
  const now = isGone ? 'it was applied or discarded since' : then
  const ends = how === undefined ? null : `from ${shortCommit(landing.base)} to ${shortCommit(landing.commit)}`
  return [how, now, left_out, ends].flatMap((text) => (text == null ? [] : [line(text)]))
}

/** Of a run that worked in a tree of its own, and has come to that. */
export function landingOf(events: readonly StoredEvent[]): Landing | null {
  const event = events.findLast(({ type }) => type === 'run.landed' || type === 'run.kept')
  return event?.type === 'run.landed' || event?.type === 'run.kept' ? event.data : null
}
