import type { Contract } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** Which workers of a project may have an agent: those with its label; null: all of them. */
export type Route = { label: string | null }

/** A label has no such character. */
const OF_LABEL = '#'

/** The queue on which agents of a project with that route wait. */
export function queueOf(project: string, { label }: Route): string {
  return `retinue.${project}${label === null ? '' : `${OF_LABEL}${label}`}`
}

/** The route of those that wait on a queue; null: it is no queue of this project. */
export function routeOf(project: string, queue: string): Route | null {
  const every = queueOf(project, { label: null })
  if (queue === every) return { label: null }
  return queue.startsWith(`${every}${OF_LABEL}`) ? { label: queue.slice(every.length + 1) } : null
}

/** So many are kept in mind: what is asked for most is asked for again and again while a run is under way. */
const MOST_KNOWN = 10_000

/** Knows the routes of agents. They are in their contracts, and those never change. */
export class Routes {
  readonly #known = new Map<string, Route>()

  constructor(private readonly store: Pick<Store, 'agent'>) {}

  async of(run_id: string, agent_id: string): Promise<Route> {
    const key = `${run_id}/${agent_id}`
    const known = this.#known.get(key)
    if (known) return known
    const row = await this.store.agent(run_id, agent_id)
    if (!row) throw new Error(`Run ${run_id} has no agent ${agent_id}`)
    const { execution } = JSON.parse(row.context_json) as Contract
    const route = { label: execution.label ?? null }
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, route)
    return route
  }
}
