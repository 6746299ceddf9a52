import type { StoredEvent } from '../../domain/index.js'
import type { Delta } from '../../runtime/index.js'
import type { Watching } from '../api.js'

type Show = NonNullable<Watching['onDelta']>
type Kind = 'text' | 'reasoning'
type Said = Record<Kind, string>

/** So long words that the log has already may still be under way. */
const LATE_MS = 2000

/** What agents of a run say elsewhere, for whoever watches it here: as they say it, and from the log what did not get here. */
export class FarWords {
  /** What was shown of each answer of a model that is not whole so far. */
  readonly #shown = new Map<string, Said>()
  readonly #whole = new Set<string>()
  readonly #awaited = new Map<string, { said: Said; end: () => void; over: Promise<void> }>()

  /** `after`: what is in the log up to there was said before. */
  constructor(
    private readonly onDelta: Show,
    private readonly after: number,
  ) {}

  hear(delta: Delta): void {
    if (delta.type === 'progress') {
      this.#show(delta)
      return
    }
    const key = `${delta.agent_id}/${delta.request_id}`
    if (this.#whole.has(key)) return
    const shown = this.#shown.get(key) ?? { text: '', reasoning: '' }
    this.#shown.set(key, { ...shown, [delta.type]: shown[delta.type] + delta.text })
    this.#show(delta)
    const awaited = this.#awaited.get(key)
    if (awaited && rest(this.#shown.get(key), awaited.said).length === 0) awaited.end()
  }

  add({ position, agent_id, type, data }: StoredEvent): void {
    if (type !== 'model.responded' || position <= this.after || data.purpose === 'summary') return
    const { request_id } = data
    const key = `${agent_id}/${request_id}`
    const spoken = (kind: Kind) => data.parts.map((part) => (part.type === kind ? part.text : '')).join('')
    const said = { text: spoken('text'), reasoning: spoken('reasoning') }
    if (rest(this.#shown.get(key), said).length === 0) {
      this.#end(key)
      return
    }
    let end = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    const timer = setTimeout(end, LATE_MS)
    const ended = over.then(() => {
      clearTimeout(timer)
      for (const { type, text } of rest(this.#shown.get(key), said)) this.#show({ type, agent_id, request_id, text })
      this.#end(key)
    })
    this.#awaited.set(key, { said, end, over: ended })
  }

  /** Until all that the log has was shown. */
  async settled(): Promise<void> {
    await Promise.all([...this.#awaited.values()].map(({ over }) => over))
  }

  #end(key: string): void {
    this.#whole.add(key)
    this.#shown.delete(key)
    this.#awaited.delete(key)
  }

  /** Nothing depends on who watches, least of all whether they fail at it. */
  #show(delta: Delta): void {
    try {
      this.onDelta(delta)
    } catch {
      // Theirs to mend: the log has everything.
    }
  }
}

/** What is left to be shown. Nothing where something else was shown: that cannot be taken back. */
function rest(shown: Said = { text: '', reasoning: '' }, said: Said): { type: Kind; text: string }[] {
  return (['reasoning', 'text'] as const)
    .filter((type) => said[type].startsWith(shown[type]) && said[type] !== shown[type])
    .map((type) => ({ type, text: said[type].slice(shown[type].length) }))
}
