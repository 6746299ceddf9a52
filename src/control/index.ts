/** What people and projects decide beforehand: so far, the configuration files. */
export { type BudgetSettings, configHome } from './config/defaults.js'
export { documentConfig } from './config/document.js'
export { type LoadedConfig, type LoadOptions, loadConfig, type Origin } from './config/load.js'
export { formatProblems, type Problem } from './config/problem.js'
export { type ResolvedConfig, resolveConfig } from './config/resolve.js'
export { type Config, createConfigSchema } from './config/schema.js'
export { starterConfig } from './config/starter.js'
export type { Limits, Places, Surroundings, ToolName } from './config/surroundings.js'
