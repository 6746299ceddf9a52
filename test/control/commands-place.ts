import { join } from 'node:path'
import { createCatalog, type FoundProfile, storedProfile, storedRegistry } from '../../src/control/index.js'
import { createRedactor, type Profile, REGISTRY_ID, type RegistryEntry } from '../../src/domain/index.js'
import { type ControlParts, createControl } from '../../src/library/control-plane.js'
import { openSqliteStore, type Store } from '../../src/store/index.js'
import { makeProject, type WhenFinished } from '../support/project.js'

/** Longer than what messages say of a value. */
export const SECRET = 'tok-9f3c61aa7b2e4d05-b1c8e07742d94f6a-7e55a90c3f1b4d28-90d2c6e1a7b3485f-c04e7d19'

/** An agent that can be registered. */
export const WRITER: RegistryEntry = {
  agentId: '@writer',
  profileId: 'docs',
  description: 'Writes docs.',
  tags: ['docs'],
}

/** Who there is: a name for each role, and the person at the terminal. */
export const ROLES = { viewer: 'vera', operator: 'olga', admin: 'ada' } as const

/** Sessions and whose they are. */
const SESSIONS: Record<string, string | null> = { veras: 'vera', olgas: 'olga', adas: 'ada', nobodys: null }

function profile(name: string, profile: Profile): FoundProfile {
  return { name, source: { kind: 'role' }, notes: [], kept: {}, profile, fault: null }
}

/** Profiles that were written down: two that can be used, and one that cannot. */
export const PROFILES: FoundProfile[] = [
  profile('docs', { description: 'Writes docs.', tools: ['read_file', 'write_file'] }),
  profile('review', { description: 'Reads and finds faults.', write_paths: [] }),
  {
    ...{ name: 'torn', source: { kind: 'file', scope: 'project', file: '.retinue/agents/torn.md' } },
    ...{ notes: [], kept: {}, profile: null, fault: '.retinue/agents/torn.md:3: no such tool' },
  },
]

/** A real store in a folder of its own, and the control plane over it for whoever is asked for. */
export async function openPlace(finished: WhenFinished, files: Record<string, string> = {}) {
  const folder = makeProject(files, { finished })
  let time = 1000
  let requests = 0
  const clock = { now: () => time++ }
  const open = async () => {
    const opened = await openSqliteStore({ file: join(folder, 'control.db'), clock })
    if (!opened.ok) throw new Error(opened.message)
    finished(() => opened.store.close())
    return opened.store
  }
  const store = await open()
  const catalogOf = (records: Store) => async () => {
    const registry = storedRegistry(await records.record('policy', REGISTRY_ID))
    const stored = (await records.records('profile')).map((record) => storedProfile(record, []))
    return createCatalog([...PROFILES, ...stored], registry.ok ? registry.value.value.agents : [])
  }
  const parts = (records: Store): Omit<ControlParts, 'principal'> => ({
    records,
    catalog: catalogOf(records),
    workspace_root: '/home/ada/shop',
    session: async (id) => (id in SESSIONS ? { owner: SESSIONS[id] ?? null } : null),
    redactor: createRedactor([{ name: 'TOKEN', value: SECRET }]),
    ...{ now: clock.now, new_id: () => `q${++requests}` },
  })
  const as = (role: keyof typeof ROLES, records = store) =>
    createControl({ ...parts(records), principal: { id: ROLES[role], role } })
  return { store, open, as, catalog: catalogOf(store), parts: parts(store) }
}

/** Everything that the control plane has written down but its log. */
export async function recordsOf(store: Store): Promise<Record<string, unknown>> {
  const all = [...(await store.records('policy')), ...(await store.records('profile'))]
  return Object.fromEntries(all.map(({ type, id, value }) => [`${type} ${id}`, value]))
}
