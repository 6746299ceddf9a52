import type { Redactor } from '../domain/index.js'

/** What somebody who watches gets to see before it is an event. Nothing depends on it. */
export type Delta =
  | { type: 'text' | 'reasoning'; agent_id: string; request_id: string; text: string }
  | { type: 'progress'; agent_id: string; text: string }

type Watcher = (delta: Delta) => void

/** Nothing depends on who watches, least of all whether they fail at it. */
function show(watcher: Watcher | undefined, delta: Delta): void {
  if (delta.text === '') return
  try {
    watcher?.(delta)
  } catch {
    // Theirs to mend: the log has everything.
  }
}

/** Words of a model as they come, without what is secret in them: a secret may come in two pieces. */
export function showWords(
  redactor: Redactor,
  whose: { agent_id: string; request_id: string },
  watcher: Watcher | undefined,
) {
  const streams = { text: redactor.stream(), reasoning: redactor.stream() }
  return {
    show: ({ type, text }: { type: 'text' | 'reasoning'; text: string }) =>
      show(watcher, { type, ...whose, text: streams[type].push(text) }),
    end: () => {
      for (const type of ['reasoning', 'text'] as const) show(watcher, { type, ...whose, text: streams[type].end() })
    },
  }
}

/** The same for what a tool says while it works. */
export function showProgress(redactor: Redactor, agent_id: string, watcher: Watcher | undefined) {
  const stream = redactor.stream()
  return (text: string) => show(watcher, { type: 'progress', agent_id, text: stream.push(text) })
}
