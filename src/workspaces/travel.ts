import { parentIdOf } from '../domain/index.js'
import type { TreeResult, Trees } from '../host/index.js'
import { ROOT } from './names.js'

/** What was written down of a run whose agents may work in any checkout of its project. */
type Itinerary = {
  /** The checkout that it was begun in, and that its result is for. */
  home: string
  /** The path of its folder there, by which its agents name their files everywhere. */
  folder: string
  base: string
  /** Commits that a checkout must have before anything of the run can be brought there. */
  needs: readonly string[]
}

/** Where the tree of an agent is, and the last of it that was carried. */
export type Whereabouts = { checkout: string; commit: string; uncommittable: readonly string[] }

type TravelParts = {
  /** The one that this process works in. */
  checkout: string
  itinerary: Itinerary
  /** What these agents, or all, have carried so far, the first first. `digest` null: others had all of it. */
  parcels: (whose: readonly string[] | 'all') => Promise<{ commit: string; digest: string | null }[]>
  parcel: (digest: string) => Promise<Uint8Array | null>
  /** null: the agent has no tree. */
  whereabouts: (agent_id: string) => Promise<Whereabouts | null>
}

/** The files of a run that goes from checkout to checkout: as commits, in parcels that the log has. */
export class Travel {
  constructor(private readonly parts: TravelParts) {}

  get base(): string {
    return this.parts.itinerary.base
  }

  get folder(): string {
    return this.parts.itinerary.folder
  }

  get checkout(): string {
    return this.parts.checkout
  }

  /** Whether the run was begun here. */
  get isHome(): boolean {
    return this.parts.checkout === this.parts.itinerary.home
  }

  whereabouts(agent_id: string): Promise<Whereabouts | null> {
    return this.parts.whereabouts(agent_id)
  }

  /**
   * Whether other checkouts can have a commit that a tree of an agent is at: the agent has carried it, then or later, or
   * began with it, which one above it has carried.
   */
  async hasCarried(agent_id: string, commit: string): Promise<boolean> {
    // Its own log first: that of one above a thousand others is long, and hardly ever needed.
    for (const whose of [[agent_id], lineOf(agent_id)]) {
      const carried = await this.parts.parcels(whose)
      if (carried.some((one) => one.commit === commit)) return true
    }
    return false
  }

  /**
   * Has a commit of an agent here. Whatever came before it comes with it: that is its own and of those above it, whose
   * parcels have what they merged.
   */
  async bring(trees: Trees, commit: string, agent_id: string): Promise<TreeResult<object>> {
    const lacking = await trees.lacking([commit])
    if (!lacking.ok || lacking.commits.length === 0) return lacking
    const begun = await this.#needs(trees)
    if (!begun.ok) return begun
    for (const whose of [lineOf(agent_id), 'all'] as const) {
      const taken = await this.#takeIn(trees, await this.parts.parcels(whose))
      if (!taken.ok) return taken
      const still = await trees.lacking([commit])
      if (!still.ok || still.commits.length === 0) return still
    }
    return missing(`the commit ${commit.slice(0, 12)} was never carried, and is in another checkout alone`)
  }

  async #takeIn(
    trees: Trees,
    parcels: readonly { commit: string; digest: string | null }[],
  ): Promise<TreeResult<object>> {
    const lacking = await trees.lacking(parcels.map(({ commit }) => commit))
    if (!lacking.ok) return lacking
    for (const { commit, digest } of parcels) {
      if (digest === null || !lacking.commits.includes(commit)) continue
      const bytes = await this.parts.parcel(digest)
      if (bytes === null) return missing(`the parcel ${digest.slice(0, 12)} is not in the store any more`)
      const unpacked = await trees.unpack(digest, bytes)
      if (!unpacked.ok) return unpacked
    }
    return { ok: true }
  }

  /** What everybody was to have before the run began: from the remotes of this checkout, where it is not here yet. */
  async #needs(trees: Trees): Promise<TreeResult<object>> {
    const { needs } = this.parts.itinerary
    const before = await trees.lacking(needs)
    if (!before.ok || before.commits.length === 0) return before
    const fetched = await trees.fetch()
    const after = await trees.lacking(needs)
    if (!after.ok || after.commits.length === 0) return after
    const why = fetched.ok ? 'its remotes do not have it either' : fetched.message
    return missing(
      `this checkout does not have the commit ${after.commits[0]?.slice(0, 12)} that the run builds on: ${why}`,
    )
  }
}

/** The root agent, those between, and the agent itself. */
function lineOf(agent_id: string): string[] {
  const line: string[] = []
  for (let id: string | null = agent_id; id !== null && id !== ROOT; id = parentIdOf(id)) line.unshift(id)
  return [ROOT, ...line]
}

function missing(message: string): { ok: false; code: 'missing'; message: string } {
  return { ok: false, code: 'missing', message }
}
