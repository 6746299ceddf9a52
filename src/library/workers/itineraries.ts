import { foldAgent, type StoredEvent } from '../../domain/index.js'
import type { Store } from '../../store/index.js'
import { Travel } from '../../workspaces/index.js'
import { ROOT } from '../runs/reader.js'

/**
 * How the files of a run get to a checkout, by what its log says. null: it is worked on in its own folder alone. `here`:
 * which checkout that is, asked only then: who is asked gives a folder a name, and leaves that in it.
 */
export async function travelOf(store: Store, run_id: string, here: () => Promise<string>): Promise<Travel | null> {
  const [created] = await store.read({ run_id, limit: 1 })
  if (created?.type !== 'run.created') return null
  const { engine, workspace_root } = created.data
  if (engine?.travels === undefined || engine.checkout === undefined) return null
  const { base, needs, parcel } = engine.travels
  return new Travel({
    checkout: await here(),
    itinerary: { home: engine.checkout, folder: workspace_root, base, needs },
    parcels: async (whose) => {
      const streams = whose === 'all' ? [{ run_id }] : whose.map((agent_id) => ({ run_id, agent_id }))
      const events = await Promise.all(streams.map((stream) => store.read(stream)))
      return [{ commit: base, digest: parcel }, ...events.flat().flatMap(carried)]
    },
    parcel: (digest) => store.blob(digest),
    whereabouts: async (agent_id) => {
      const { tree } = foldAgent(await store.read({ run_id, agent_id })) ?? {}
      if (!tree?.checkout) return agent_id === ROOT ? { checkout: '', commit: base, uncommittable: [] } : null
      const { commit, uncommittable = [] } = tree.carried ?? { commit: tree.base }
      return { checkout: tree.checkout, commit, uncommittable }
    },
  })
}

function carried({ type, data }: StoredEvent): { commit: string; digest: string | null }[] {
  return type === 'agent.files_carried' ? [{ commit: data.commit, digest: data.parcel?.digest ?? null }] : []
}
