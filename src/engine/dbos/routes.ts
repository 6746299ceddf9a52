import type { Contract } from '../../domain/index.js'
import type { Store } from '../../store/index.js'
import { remember } from '../remember.js'
import { givenToWorkers } from './given.js'

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

/** The route of those that wait on a queue; null: it is no queue of this project. */
export function routeOf(project: string, queue: string): Route | null {
  const every = queueOf(project, { label: null, checkout: null })
  if (queue !== every && ![OF_CHECKOUT, OF_LABEL].some((mark) => queue.startsWith(`${every}${mark}`))) return null
  const [bound = '', label] = queue.slice(every.length).split(OF_LABEL)
  return { label: label ?? null, checkout: bound === '' ? null : bound.slice(OF_CHECKOUT.length) }
}

/**
 * `project`: whose queues have it; undefined: the log does not say, and it is that of whoever asks. `checkout`: the one that
 * its run was begun in, where the log says so.
 */
type Way = { route: Route } & { [Part in keyof Here]: string | undefined }

/** Knows the ways of agents. They are in their contracts and in what their run began with, and never change. */
export class Routes {
  readonly #known = new Map<string, Way>()
  readonly #ofRuns = new Map<string, Omit<Way, 'route'> & { bound: string | null }>()

  constructor(private readonly store: Pick<Store, 'agent' | 'read'>) {}

  async of(run_id: string, agent_id: string): Promise<Way> {
    const key = `${run_id}/${agent_id}`
    const known = this.#known.get(key)
    if (known) return known
    const [row, of_run] = await Promise.all([this.store.agent(run_id, agent_id), this.#ofRun(run_id)])
    if (!row) throw new Error(`Run ${run_id} has no agent ${agent_id}`)
    const { execution } = JSON.parse(row.context_json) as Contract
    const { bound, ...begun } = of_run
    return remember(this.#known, key, { route: { label: execution.label ?? null, checkout: bound }, ...begun })
  }

  /** `bound`: the checkout that it is worked on in; null: its files go wherever its agents do. */
  async #ofRun(run_id: string) {
    const known = this.#ofRuns.get(run_id)
    if (known) return known
    const given = await givenToWorkers(this.store, run_id)
    const { project, checkout } = given ?? {}
    return remember(this.#ofRuns, run_id, { project, checkout, bound: given?.travels ? null : (checkout ?? null) })
  }
}
