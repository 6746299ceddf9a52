/** What people and projects decide beforehand: configuration, profiles, agents, pins, and the commands that change them. */
export { discoverAgentFiles, type KnownAgentFiles } from './agent-files/discover.js'
export type { FieldReport } from './agent-files/draft.js'
export {
  type ImportedAgent,
  type ImportOptions,
  type ImportReport,
  type ImportState,
  importAgentFiles,
} from './agent-files/import.js'
export { parseAgentFile } from './agent-files/parse.js'
export type { AgentFileSurroundings, AgentPlaces } from './agent-files/surroundings.js'
export { agentsCommands } from './commands/agents.js'
export { agentsText, agentText } from './commands/agents-text.js'
export {
  type Command,
  type CommandAnswer,
  type CommandCaller,
  type CommandSpec,
  defineCommand,
  noArguments,
  type Parsed,
  wordsOf,
} from './commands/command.js'
export { type Caller, type ControlCall, type ControlWork, executed } from './commands/executed.js'
export { helpCommand } from './commands/help.js'
export { findCommand, isCommandLine } from './commands/line.js'
export { type CommandResult, runCommand } from './commands/run.js'
export { type AgentsView, type ProfileView, showAgent, viewAgents } from './commands/views.js'
export { configHome, type SandboxSetting } from './config/defaults.js'
export { documentConfig } from './config/document.js'
export { type EngineName, environmentEngine } from './config/engine.js'
export { type ConfiguredServer, type LoadedConfig, type LoadOptions, loadConfig, type Origin } from './config/load.js'
export { formatProblems, type Problem } from './config/problem.js'
export { profileFieldFaults } from './config/profiles.js'
export { type ResolvedConfig, resolveConfig } from './config/resolve.js'
export type { ResolvedDelegation } from './config/resolve-delegation.js'
export type { ResolvedPermissions } from './config/resolve-permissions.js'
export { type Config, createConfigSchema } from './config/schema.js'
export type { ServerSettings } from './config/server.js'
export { starterConfig } from './config/starter.js'
export { environmentStore } from './config/store.js'
export type { Places, Surroundings, ToolName } from './config/surroundings.js'
export type { SearchSettings } from './config/web.js'
export { readYaml } from './config/yaml.js'
export { isNestedDeeper, offsetOf } from './config/yaml-nodes.js'
export type { ControlDone, ControlRefusal } from './done.js'
export { pinPlace, pinProfile, unpinProfile } from './pins/edit.js'
export { type EffectivePin, effectivePin, type PinView, workspaceId } from './pins/stored.js'
export type { ControlPlace } from './place.js'
export { LEAST } from './principals/gate.js'
export { localPrincipalId, type Principals, principalOf } from './principals/principal.js'
export {
  type Catalog,
  type CatalogDigests,
  type CatalogEntry,
  catalogDigests,
  createCatalog,
  NO_CATALOG,
  type ResolvedProfile,
  resolveProfile,
  sameAsBefore,
} from './profiles/catalog.js'
export { type MoreProfileFaults, putProfile, removeProfile } from './profiles/edit.js'
export type { FoundProfile } from './profiles/found.js'
export { agentsSection, listProfiles, profilesSection } from './profiles/section.js'
export { storedProfile } from './profiles/stored.js'
export { registerAgent, registryHistory, replaceRegistry, unregisterAgent } from './registry/edit.js'
export { loadRegistry, type StoredRegistry, storedRegistry } from './registry/stored.js'
export { roleProfiles } from './roles/index.js'
export { listServers, type ServerList, type ServersPlace, trustServer, untrustServer } from './servers/list.js'
export type { ListedServer, NamedServer } from './servers/server.js'
export { discoverSkills, type Skill, type SkillPlaces, type SkillProblem } from './skills/discover.js'
export { skillsSection } from './skills/section.js'
