import { titleOf } from '../../domain/index.js'
import type { CommitCheck, Host } from '../../host/index.js'
import {
  bringHome,
  createKept,
  type Kept,
  type KeptFault,
  type KeptParts,
  type KeptResult,
  type Travel,
} from '../../workspaces/index.js'
import type { KeptTree } from '../api.js'
import { type ErrorCode, RetinueError } from '../errors.js'
import { ROOT, type RunReader } from './reader.js'

const CODES: Record<KeptFault, ErrorCode> = {
  unknown: 'not_found',
  not_closed: 'held',
  nothing: 'input',
  in_the_way: 'held',
  failed: 'store',
}

type Parts = {
  host: Host
  cwd: string
  reader: RunReader
  check: CommitCheck
  /** How the files of a run get here; null: they never were anywhere else. */
  travel: (run_id: string) => Promise<Travel | null>
}

/** What runs have left on branches and in worktrees, by what the store knows about those runs. */
export class KeptRuns {
  #kept: Promise<Kept> | null = null

  constructor(private readonly parts: Parts) {}

  async diff(id: string, options?: { agent_id?: string; stat?: boolean }): Promise<string> {
    const { run_id } = await this.parts.reader.find(id)
    await this.bring(run_id, options?.agent_id)
    return settled(await (await this.#open()).diff(run_id, options)).text
  }

  async apply(
    id: string,
    options?: { agent_id?: string; commit?: boolean },
  ): Promise<{ paths: string[]; commit: string | null }> {
    const { run_id } = await this.parts.reader.find(id)
    await this.bring(run_id, options?.agent_id)
    const { paths, commit } = settled(await (await this.#open()).apply(run_id, options))
    return { paths, commit }
  }

  /** Also of a run that this store does not know: `worktrees` names it by its whole id. */
  async discard(id: string): Promise<KeptTree[]> {
    const { run_id } = await this.parts.reader.find(id).catch((error) => {
      if (error instanceof RetinueError && error.code === 'not_found') return { run_id: id }
      throw error
    })
    return settled(await (await this.#open()).discard(run_id)).removed
  }

  async worktrees(): Promise<KeptTree[]> {
    return settled(await (await this.#open()).worktrees()).trees
  }

  async gc(): Promise<{ removed: KeptTree[]; kept: KeptTree[] }> {
    const { removed, kept } = settled(await (await this.#open()).gc())
    return { removed, kept }
  }

  /** Has here what a run, or one of its sub-agents, left in another checkout. */
  async bring(run_id: string, agent_id: string = ROOT): Promise<void> {
    const { host, cwd, reader, travel } = this.parts
    const [way, result] = await Promise.all([travel(run_id), reader.result(run_id)])
    if (way === null || result === null) return
    const opened = await host.trees(cwd, run_id)
    const landing = result.landing ?? null
    const wanted = { run_id, landing, agent_id: agent_id === ROOT ? null : agent_id }
    const brought = opened.ok ? await bringHome(opened.trees, way, wanted) : opened
    if (!brought.ok) throw new RetinueError('store', `What run ${run_id} left cannot be had here: ${brought.message}`)
  }

  /** Whether what a run left was carried, and was never had here; of a sub-agent, that it can be had again. */
  async canBring(id: string, agent_id: string = ROOT): Promise<boolean> {
    const { host, cwd, reader, travel } = this.parts
    const { run_id } = await reader.find(id)
    const [way, result] = await Promise.all([travel(run_id), reader.result(run_id)])
    if (way === null || result === null) return false
    if (agent_id !== ROOT) {
      const where = await way.whereabouts(agent_id)
      return where !== null && where.checkout !== way.checkout
    }
    if (result.landing?.state !== 'kept') return false
    const opened = await host.trees(cwd, run_id)
    const known = opened.ok ? await opened.trees.recall(run_id) : opened
    return !known.ok || known.result !== result.landing.commit
  }

  async #carried(run_id: string): ReturnType<KeptParts['carriedOf']> {
    const { host, cwd, reader, travel } = this.parts
    const [way, run] = await Promise.all([travel(run_id), reader.known(run_id)])
    if (way === null || run?.status === 'closed') return null
    const where = await way.whereabouts(ROOT)
    if (where === null || where.checkout === way.checkout) return null
    const opened = await host.trees(cwd, run_id)
    const brought = opened.ok ? await way.bring(opened.trees, where.commit, ROOT) : opened
    if (brought.ok) return { ok: true, ends: { base: way.base, result: where.commit } }
    const message = `What run ${run_id} changed so far cannot be had here: ${brought.message}`
    return { ok: false, code: 'failed', message }
  }

  /** What runs that were begun in other checkouts have left here. */
  async sweep(): Promise<void> {
    settled(await (await this.#open()).sweep())
  }

  #open(): Promise<Kept> {
    this.#kept ??= this.#make().catch((error) => {
      this.#kept = null
      throw error
    })
    return this.#kept
  }

  async #make(): Promise<Kept> {
    const { host, cwd, reader, check } = this.parts
    const opened = await host.trees(cwd)
    if (!opened.ok) throw new RetinueError('store', opened.message)
    return createKept({
      trees: opened.trees,
      git: host.git,
      check,
      statusOf: async (run_id) => (await reader.known(run_id))?.status ?? null,
      landingOf: async (run_id) => (await reader.result(run_id))?.landing ?? null,
      baseOf: async (run_id) => (await reader.root(run_id)).memory.tree?.base ?? null,
      changedAt: async (run_id) => (await reader.known(run_id))?.updated_at ?? null,
      isCarried: async (run_id, agent_id, commit) =>
        (await (await this.parts.travel(run_id))?.hasCarried(agent_id, commit)) ?? false,
      isAway: async (run_id) => (await this.parts.travel(run_id))?.isHome === false,
      isAlive: (owner) => host.identity.isAlive(owner),
      agentOf: (run_id, agent_id) => reader.child(run_id, agent_id),
      carriedOf: (run_id) => this.#carried(run_id),
      now: () => host.clock.now(),
      titleOf: async (run_id) => titleOf((await reader.root(run_id)).memory.contract.step.title),
    })
  }
}

function settled<T>(result: KeptResult<T>): T {
  if (result.ok) return result
  throw new RetinueError(CODES[result.code], result.message)
}
