import type { WatchedEvent } from '#domain'

/** Events after which there may be more or fewer questions that wait for a person. */
const ABOUT_QUESTIONS = new Set<string>([
  'permission.asked',
  'permission.answered',
  'plan.approval_asked',
  'plan.approval_answered',
])

/** Tells of each event that comes whether it is one of these. */
export function watchForQuestions(): (event: WatchedEvent) => boolean {
  const asking = new Set<string>()
  return (event) => {
    // `ask_user` is a call like any other, except for whom it waits.
    if (event.type === 'tool.called' && event.data.effect === 'ask_person') {
      asking.add(`${event.agent_id} ${event.data.call_id}`)
      return true
    }
    if (event.type === 'tool.finished') return asking.delete(`${event.agent_id} ${event.data.call_id}`)
    return ABOUT_QUESTIONS.has(event.type)
  }
}
