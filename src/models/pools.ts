import { createHealth } from './health.js'
import type { ModelChoice } from './model.js'
import { createPool, type Member, reasonOf, unusable } from './pool.js'

export type PoolsOptions = {
  /** Names of models, by the name of the pool. */
  pools: Record<string, readonly string[]>
  resolve: (model: string) => Promise<ModelChoice>
  /** What is known of a model without loading it; null when it has to be resolved for that. */
  look: (model: string) => Member['ready'] | null
  now: () => number
  silence_ms: number
}

export type Pools = {
  names: readonly string[]
  /** The pool that `fast` or `pool/fast` stands for; null where the name is for something else. */
  named(name: string): string | null
  open(pool: string): Promise<ModelChoice>
}

const PREFIX = 'pool/'

export function createPools({ pools, resolve, look, now, silence_ms }: PoolsOptions): Pools {
  // One for all pools: a model that is in two of them is still one model.
  const health = createHealth(now)
  const names = Object.keys(pools)

  function named(name: string): string | null {
    if (name.startsWith(PREFIX)) return name.slice(PREFIX.length)
    return Object.hasOwn(pools, name) ? name : null
  }

  async function lookAt(name: string): Promise<Member> {
    const open = () => resolve(name)
    const known = look(name)
    if (known) return { name, ready: known, open }
    const choice = await resolve(name)
    if (!choice.ok) return { name, ready: { ok: false, ...unusable(choice) }, open }
    const { model } = choice
    return { name, ready: { ok: true, window: model.window, price: () => model.price }, open }
  }

  async function open(pool: string): Promise<ModelChoice> {
    const models = Object.hasOwn(pools, pool) ? pools[pool] : undefined
    if (!models) {
      const others = names.length > 0 ? `only ${names.join(', ')}` : 'and no other either'
      return { ok: false, code: 'bad_name', message: `no pool "${pool}" here, ${others}` }
    }
    const name = PREFIX + pool
    const fault = faultOf(name, models)
    if (fault) return { ok: false, code: 'bad_pool', message: fault }
    const members = await Promise.all(models.map(lookAt))
    if (members.every(({ ready }) => !ready.ok)) {
      const reasons = members.flatMap(({ name, ready }) => (ready.ok ? [] : [reasonOf({ model: name, ...ready })]))
      return { ok: false, code: 'bad_pool', message: `no model of ${name} can be used: ${reasons.join('; ')}` }
    }
    return { ok: true, model: createPool({ name, members, health, now, silence_ms }) }
  }

  function faultOf(name: string, models: readonly string[]): string | null {
    if (models.length === 0) return `${name} has no models; list at least one, as provider/model`
    const inner = models.find((model) => named(model) !== null)
    return inner === undefined ? null : `${name} has the pool "${inner}" in it; a pool lists models, as provider/model`
  }

  return { names, named, open }
}
