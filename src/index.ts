/** The library's public face. */
export { readAgentFile } from './agent-file.js'
export { importAgents } from './agent-import.js'
export type * from './api.js'
export { createConfigSurroundings } from './configuration.js'
export * from './control/index.js'
export { diagnose, type Finding } from './diagnose.js'
export * from './domain/index.js'
export { ERROR_CODES, type ErrorCode, RetinueError } from './errors.js'
export { createHost, type Host } from './host/index.js'
export { createModels, type Model, type Models, providerSettingsSchema } from './models/index.js'
export { type OpenOptions, openRetinue } from './open.js'
export { planFile } from './plan-runs.js'
export { planReport, readPlan, writePlan } from './planning/index.js'
export type { ReachSources } from './reach.js'
export { createRetinue } from './retinue.js'
export {
  AnsweredElsewhere,
  type AskedQuestion,
  type Delta,
  type Person,
  type RebuiltRequest,
  type Replay,
} from './runtime/index.js'
export { serverSettings } from './server-settings.js'
export { openServers, type ProjectServers } from './servers.js'
export { createMemoryStore, openSqliteStore, type Store } from './store/index.js'
export type { Approval, McpServer, McpServerSettings, PersonAnswer, Proposal, Question } from './tools/index.js'
export { VERSION } from './version.js'
