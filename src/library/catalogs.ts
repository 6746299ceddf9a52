import {
  type Catalog,
  createCatalog,
  type FoundProfile,
  roleProfiles,
  storedProfile,
  storedRegistry,
} from '../control/index.js'
import { DELEGATION_DEFAULTS, REGISTRY_ID } from '../domain/index.js'
import type { Store } from '../store/index.js'
import type { Settings } from './api.js'
import { RetinueError } from './errors.js'
import { createConfigSurroundings } from './project/configuration.js'

type Parts = {
  store: Store
  settings: Settings
  found: () => Promise<FoundProfile[]>
  /** Throws where what is in the store is not to be believed, or would be written to nowhere. */
  checkStore: () => Promise<void>
}

/** Puts together, whenever somebody asks, which profiles and agents there are: files, records and settings change. */
export class Catalogs {
  constructor(private readonly parts: Parts) {}

  /** `lenient`: a registry that makes no sense has no agents, for whoever is about to replace it. */
  async load({ lenient = false } = {}): Promise<Catalog> {
    const { store, settings } = this.parts
    await this.parts.checkStore()
    const { roles, test_paths, profiles } = { ...DELEGATION_DEFAULTS, ...settings.delegation }
    const [found, stored, registry] = await Promise.all([
      this.parts.found(),
      store.records('profile'),
      store.record('policy', REGISTRY_ID),
    ])
    const given = Object.entries(profiles).map(
      ([name, profile]): FoundProfile => ({
        ...{ name, source: { kind: 'options' }, notes: [], kept: {} },
        ...{ profile, fault: null },
      }),
    )
    const { tools } = createConfigSurroundings()
    const agents = storedRegistry(registry)
    if (!agents.ok && !lenient) throw new RetinueError('corrupt', agents.message)
    return createCatalog(
      [
        ...(roles ? roleProfiles({ test_paths }) : []),
        ...found,
        ...given,
        ...stored.map((record) => storedProfile(record, tools)),
      ],
      agents.ok ? agents.value.value.agents : [],
    )
  }
}
