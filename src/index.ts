/** The library's public face. */
export { createConfigSurroundings } from './configuration.js'
export * from './control/index.js'
export { diagnose, type Finding } from './diagnose.js'
export * from './domain/index.js'
export { ERROR_CODES, type ErrorCode, RetinueError } from './errors.js'
export { createHost, type Host } from './host/index.js'
export { createModels, type Model, type Models, providerSettingsSchema } from './models/index.js'
export { type OpenOptions, openRetinue } from './open.js'
export {
  createRetinue,
  type Retinue,
  type RetinueOptions,
  type Run,
  type RunOptions,
  type RunResult,
  type RunStatus,
  type RunSummary,
  type Settings,
  type Watching,
} from './retinue.js'
export type { Delta, Person, RebuiltRequest, Replay } from './runtime/index.js'
export { createMemoryStore, openSqliteStore, type Store } from './store/index.js'
export type { PersonAnswer, Question } from './tools/index.js'
export { VERSION } from './version.js'
