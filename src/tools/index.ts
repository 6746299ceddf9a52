/** Tools: what each does and says about itself, how calls of them are read, bounded and made. */
export * from './aliases.js'
export * from './arguments.js'
export * from './bounds.js'
export * from './builtin.js'
export { defuse } from './defuse.js'
export type * from './delegation.js'
export { delegationPlan, delegatorOf } from './delegation-request.js'
export { inputText, jobBlocks } from './delegation-text.js'
export { FAN_OUT_STOPPED, type FanOutReport, fanOut } from './fan_out.js'
export { commitCheck } from './git_commit.js'
export {
  connectServers,
  type McpConnections,
  type McpOptions,
  type McpServer,
} from './mcp/connect.js'
export { createSchemaCompiler } from './mcp/outside-schema.js'
export { type McpServerSettings, mcpServerSettingsSchema, mcpServersSettingsSchema } from './mcp/settings.js'
export * from './pipeline.js'
export * from './registry.js'
export { fairShares } from './shares.js'
export { inOrder, type Spawn } from './spawning.js'
export { head, oneLine, tail } from './text.js'
export * from './tool.js'
export type { SearchSettings } from './web/search_apis.js'
