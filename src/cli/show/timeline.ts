import { type StoredEvent, summarize } from '../../index.js'
import { line, type Paint, printable } from '../style.js'

/** Events in the order of the run, a line each; with everything that is in them where that is asked for. */
export function timeline(
  events: readonly StoredEvent[],
  start: number,
  { dim, cyan }: Paint,
  full: boolean,
): Iterable<string> {
  const widest = (texts: string[], least: number) => texts.reduce((most, { length }) => Math.max(most, length), least)
  const agent = widest([...new Set(events.map(({ agent_id }) => agent_id))], 0)
  const type = widest([...new Set<string>(events.map((event) => event.type))], 20)
  const rowOf = (event: StoredEvent) => {
    const time = `+${((event.at - start) / 1000).toFixed(2)}s`.padStart(9)
    const where = `${dim(String(event.position).padStart(4))} ${dim(time)} ${dim(event.agent_id.padEnd(agent))}`
    return `${where} ${cyan(event.type.padEnd(type))} ${line(summarize(event))}`
  }
  return (function* () {
    for (const event of events) {
      yield rowOf(event)
      if (full) for (const text of JSON.stringify(event.data, null, 2).split('\n')) yield `      ${printable(text)}`
    }
  })()
}
