import type { Surroundings } from './control/index.js'
import { type ProviderSettings, providersSettingsSchema } from './models/index.js'
import { ALIASES, builtinTools, DEFAULT_LIMITS } from './tools/index.js'

/** What configuration is checked against: the tools there are, the providers there can be, the limits' defaults. */
export function createConfigSurroundings(): Surroundings<ProviderSettings> {
  return {
    providers: providersSettingsSchema,
    tools: builtinTools().map(({ name }) => ({ name, aliases: ALIASES[name]?.names ?? [] })),
    limits: DEFAULT_LIMITS,
  }
}
