/**
 * The library's public face: all types of the domain and of control, and of their values those that a face of Retinue or
 * a program that uses it needs.
 */

export type * from './control/index.js'
export {
  agentsText,
  agentText,
  defineCommand,
  discoverAgentFiles,
  findCommand,
  formatProblems,
  importAgentFiles,
  isCommandLine,
  noArguments,
  readYaml,
  starterConfig,
  wordsOf,
} from './control/index.js'
export type * from './domain/index.js'
export {
  aboutOf,
  adjustmentWords,
  ageInWords,
  agentIds,
  agentStateSchema,
  answerInWords,
  appliedInWords,
  budgetSchema,
  CorruptLogError,
  checkInWords,
  commandsIn,
  contractSchema,
  costInWords,
  costsOf,
  countInWords,
  createRedactor,
  DEFINITIONS,
  DELEGATION_BOUNDS,
  DELEGATION_TOOLS,
  doingOf,
  doingWords,
  dossierRows,
  emptyTree,
  endedAs,
  endInWords,
  endWords,
  findingSchema,
  foldAgent,
  grantInWords,
  growTree,
  HANDLE,
  isAtLeast,
  isDatabaseUrl,
  keptInWords,
  keptWorkInWords,
  LABEL,
  LABEL_FAULT,
  landingInWords,
  landingLeftOutInWords,
  leftOutCount,
  leftOutInWords,
  MANIFEST,
  MAX_LABELS,
  MERGING,
  MODES,
  modeSchema,
  NETWORKS,
  namesInWords,
  narrowerMode,
  nearest,
  OUTCOMES,
  OWN_GITIGNORE,
  openDossier,
  openQuestions,
  outcomeSchema,
  PIN_SCOPES,
  PlanProgress,
  PRINCIPAL_ID,
  PRINCIPAL_ID_FAULT,
  PRINCIPAL_ROLES,
  PROGRAM,
  PROGRAM_TOOLS,
  parseEvent,
  parseRule,
  pinScopeSchema,
  planSchema,
  plural,
  principalRoleSchema,
  printable,
  printableLine,
  profileSchema,
  receiptInWords,
  resultFigures,
  resultSchema,
  resumerInWords,
  ruleSchema,
  runFigures,
  SESSION_ID,
  SESSION_ID_FAULT,
  setupInWords,
  shortCommit,
  slotInWords,
  sourceInWords,
  stageSchema,
  standingOf,
  stepCounts,
  stepLabel,
  stepStatusSchema,
  storeAddressFault,
  summarize,
  timeAtWork,
  timeInWords,
  titleOf,
  totalsOf,
  turnInWords,
  WORKER_BOUNDS,
  waitsForPerson,
  watched,
  worktreeOf,
} from './domain/index.js'
export { AT_REST, givenToWorkers, type WorkerHealth, type WorkerNews } from './engine/index.js'
export { createHost, type Host } from './host/index.js'
export type * from './library/api.js'
export { createRetinue } from './library/create.js'
export { diagnose } from './library/doctor/diagnose.js'
export type { Finding } from './library/doctor/findings.js'
export { ERROR_CODES, type ErrorCode, RetinueError } from './library/errors.js'
export { type OpenOptions, type OpenWorkerOptions, openRetinue, openWorker } from './library/open.js'
export { readAgentFile } from './library/project/agent-file.js'
export { importAgents } from './library/project/agent-import.js'
export { createConfigSurroundings } from './library/project/configuration.js'
export type { ReachSources } from './library/project/reach.js'
export { serverSettings } from './library/project/server-settings.js'
export { openServers, type ProjectServers } from './library/project/servers.js'
export { listedRun } from './library/runs/listed.js'
export { planFile } from './library/runs/papers.js'
export { storeFaultInWords } from './library/store-fault.js'
export { VERSION } from './library/version.js'
export { FAR_PERSON } from './library/workers/far-person.js'
export { leaveToWorkers } from './library/workers/left-to-workers.js'
export { startWorker, type Worker, type WorkerOptions } from './library/workers/worker.js'
export { createModels, type Model, type Models, providerSettingsSchema } from './models/index.js'
export { planReport, readPlan, writePlan } from './planning/index.js'
export {
  AnsweredElsewhere,
  type AskedQuestion,
  type Delta,
  type Person,
  type RebuiltRequest,
  type Replay,
} from './runtime/index.js'
export { createMemoryStore, openSqliteStore, reasonOf, type Store } from './store/index.js'
export type { Approval, McpServer, McpServerSettings, PersonAnswer, Proposal, Question } from './tools/index.js'
