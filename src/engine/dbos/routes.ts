import type { Contract } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** A folder that agents work in: one of the checkouts of a project. Where a project has no other, both are the same. */
export type Here = { project: string; checkout: string }

/** Which workers of a project may have an agent: those with its label, those in its checkout; null: all of them. */
export type Route = { label: string | null; checkout: string | null }

/** Neither a label nor a checkout has such characters. */
const OF_CHECKOUT = '@'
const OF_LABEL = '#'

/** The queue on which agents of a project with that route wait. */
export function queueOf(project: string, { label, checkout }: Route): string {
  const bound = checkout === null || checkout === project ? '' : `${OF_CHECKOUT}${checkout}`
  return `retinue.${project}${bound}${label === null ? '' : `${OF_LABEL}${label}`}`
}

/** Those that a worker takes agents from. */
export function queuesFor({ project, checkout }: Here, labels: readonly string[]): string[] {
  const routes = [null, checkout].flatMap((where) => [null, ...labels].map((label) => ({ label, checkout: where })))
  return [...new Set(routes.map((route) => queueOf(project, route)))]
}

/** Whether it is one of this project's, whatever the route. */
export function isQueueOf(project: string, queue: string): boolean {
  const every = queueOf(project, { label: null, checkout: null })
  return queue === every || [OF_CHECKOUT, OF_LABEL].some((mark) => queue.startsWith(`${every}${mark}`))
}

/** So many are kept in mind: what is asked for most is asked for again and again while a run is under way. */
const MOST_KNOWN = 10_000

/** Knows the routes of agents. They are in their contracts and in what their run began with, and never change. */
export class Routes {
  readonly #known = new Map<string, Route>()

  constructor(private readonly store: Pick<Store, 'agent' | 'read'>) {}

  async of(run_id: string, agent_id: string): Promise<Route> {
    const key = `${run_id}/${agent_id}`
    const known = this.#known.get(key)
    if (known) return known
    const [row, [created]] = await Promise.all([
      this.store.agent(run_id, agent_id),
      this.store.read({ run_id, limit: 1 }),
    ])
    if (!row) throw new Error(`Run ${run_id} has no agent ${agent_id}`)
    const { execution } = JSON.parse(row.context_json) as Contract
    const engine = created?.type === 'run.created' ? created.data.engine : undefined
    const route = { label: execution.label ?? null, checkout: engine?.travels ? null : (engine?.checkout ?? null) }
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, route)
    return route
  }
}
