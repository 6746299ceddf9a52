import type { Surroundings } from '../../control/index.js'
import { type ProviderSettings, providersSettingsSchema } from '../../models/index.js'
import {
  ALIASES,
  builtinToolNames,
  DEFAULT_LIMITS,
  type McpServerSettings,
  mcpServersSettingsSchema,
} from '../../tools/index.js'

/** What configuration is checked against: the tools there are, the providers there can be, the limits' defaults. */
export function createConfigSurroundings(): Surroundings<ProviderSettings, McpServerSettings> {
  return {
    providers: providersSettingsSchema,
    mcp_servers: mcpServersSettingsSchema,
    tools: builtinToolNames().map((name) => ({ name, aliases: ALIASES[name]?.names ?? [] })),
    limits: DEFAULT_LIMITS,
  }
}
