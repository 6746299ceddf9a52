import type {
  AgentResult,
  AgentRow,
  Budget,
  Contract,
  DelegationRequest,
  DelegationSettings,
  Land,
  Mode,
  ModelSource,
  Network,
  Receipt,
  Rule,
  RunRow,
  Secret,
  StoredEvent,
  WorkspaceSettings,
} from './domain/index.js'
import type { Host } from './host/index.js'
import type { Models } from './models/index.js'
import type { ReachSources } from './reach.js'
import type { Delta, Person, Replay } from './runtime/index.js'
import type { Store } from './store/index.js'
import type { ToolLimits } from './tools/index.js'
import type { KeptTree } from './workspaces/index.js'

export type RetinueOptions = {
  /** The folder that runs work in. Default: the current one. */
  cwd?: string
  /** A store, or the file of an SQLite one. Default: `.retinue/retinue.db` in the folder. */
  store?: Store | string
  /** Where models come from. Default: the usual providers, with keys from `env`. */
  models?: Models
  env?: Record<string, string | undefined>
  host?: Host
  settings?: Settings
  /** What agents can reach beyond their folder, or how it is found out when it is needed. Default: the tools that ship. */
  reach?: ReachSources | (() => Promise<ReachSources>)
  /** What must never get into the log, besides what the environment has under names of keys. */
  secrets?: Secret[]
}

/** What holds for every run unless it asks otherwise. */
export type Settings = {
  model?: { name: string; source: ModelSource }
  mode?: Mode
  rules?: Rule[]
  tools?: string[]
  /** Layers of globs: a path must match in each of them. */
  read_paths?: string[][]
  write_paths?: string[][]
  /** What reaches the network. Default: `tools`, and `all` in dangerous mode. */
  network?: Network
  /** Names of the MCP servers that agents may use. Absent: all. Empty: none. */
  mcp_servers?: string[]
  /** Layers of patterns such as `mcp__github__*`: a server's tool must match in each of them. Absent: all do. */
  mcp_tools?: string[][]
  /** Names of the skills that agents may load. Absent: all. Empty: none. */
  skills?: string[]
  /** `off`: commands are not fenced, and each asks a person unless the mode is dangerous. Default: `on`. */
  sandbox?: 'on' | 'off'
  /** Environment variables that somebody named as secret. */
  secrets?: string[]
  budget?: Partial<Budget>
  /** Files for the system prompt: all of them, or the first that is there. */
  instructions?: { take: 'all' | 'first'; files: string[] }
  limits?: Partial<ToolLimits>
  /** Calls for one model request, retries included. */
  max_attempts?: number
  model_timeout_ms?: number
  /** Agents at work at once. */
  max_concurrent?: number
  /** Worktrees of sub-agents, and how the result of a run reaches the folder. */
  workspace?: Partial<WorkspaceSettings>
  /** Sub-agents and their profiles. What is absent is as in `DELEGATION_DEFAULTS`, limit by limit in its budget. */
  delegation?: Partial<DelegationSettings>
}

export type RunOptions = {
  task: string
  model?: string
  mode?: Mode
  /** What reaches the network: nothing, the tools that are there for it, or commands too. */
  network?: Network
  budget?: Partial<Budget>
  /** Instead of what the settings say, where they let runs delegate at all. */
  delegation?: { enabled?: boolean; max_depth?: number }
  /** How the result reaches the folder, instead of what the settings say. */
  land?: Land
  /** Goes on with the conversation of this session. Default: a new one. */
  session_id?: string
} & Watching

/** Who sits in front of a run, and what they get to see. */
export type Watching = {
  person?: Person
  /** Text as it is written, progress of long calls. Events are in the log. */
  onDelta?: (delta: Delta) => void
  /** Cancels the run. */
  signal?: AbortSignal
}

export type RunResult = AgentResult & { run_id: string; session_id: string }

export type RunStatus = 'running' | 'interrupted' | 'closed'
export type RunSummary = Omit<RunRow, 'status' | 'cost_usd'> & {
  status: RunStatus
  /** null when the price of one of its calls is not known. */
  cost_usd: number | null
}

/** A task for a sub-agent, as a program gives it. */
export type SpawnTask = DelegationRequest

/** `budget`: turns, tool calls and the size of a request bound each sub-agent; the rest is for all of them together. */
export type FanOutOptions = Omit<RunOptions, 'task' | 'model' | 'delegation'> & {
  /** Of sub-agents that name none and whose profile names none. */
  model?: string
  /** Of them, at work at once. Default: as many as the Retinue lets. */
  maxConcurrent?: number
}

/** What became of one task. `success` comes from the runtime and the gates, never from the words of a model. */
export type SpawnResult = {
  run_id: string
  /** null: there is no sub-agent, because it was refused or its turn never came. */
  agent_id: string | null
  success: boolean
  outcome: AgentResult['outcome']
  /** The first paragraph of the answer. */
  summary: string
  /** All of it. */
  details: string
  tool_calls: number
  tokens: number
  /** Of its last request, as its provider counted; null where it did not. */
  context_tokens: number | null
  cost_usd: number | null
  duration_ms: number
  files_read: string[]
  files_changed: string[]
  /** Commits, files and gates, and where they are now; null where it wrote in no tree of its own. */
  receipt: Receipt | null
  /** What was clamped or refused while its contract was made. */
  adjustments: Contract['adjustments']
  /** Whose result this is, where the same was done before in the session: nobody ran, and nothing was used. */
  cached_from: { run_id: string; agent_id: string } | null
  error: string | null
}

/** A run of many sub-agents. */
export interface FanOut extends Run {
  results(): Promise<SpawnResult[]>
}

/** A run under way: its events as they are logged, and what it comes to. */
export interface Run extends AsyncIterable<StoredEvent> {
  readonly run_id: string
  result(): Promise<RunResult>
  cancel(reason?: string): void
  /** Stops the work in this process and leaves the run as it is, to be resumed. `result` then rejects. */
  leave(reason: string): void
}

export type { KeptTree }

export interface Retinue {
  readonly cwd: string
  readonly store: Store
  readonly models: Models
  run(options: RunOptions): Run
  /** Goes on with a run whose process is gone. One that is closed gives its result again. */
  resume(run_id: string, watching?: Watching): Run
  /** Cancels a run wherever it runs, and waits until it is closed. */
  cancel(run_id: string, by: string, reason: string): Promise<RunResult>
  /** Cancels one sub-agent and all below it, wherever it runs, and waits until it is closed. */
  cancelAgent(run_id: string, agent_id: string, by: string, reason: string): Promise<AgentResult>
  /** One sub-agent with a task, in a run of its own. */
  spawn(task: SpawnTask, options?: FanOutOptions): Promise<SpawnResult>
  /** Many at once, in one run: results in the order of the tasks, failures among them. */
  fanOut(tasks: readonly SpawnTask[], options?: FanOutOptions): FanOut
  /** The results of a fan-out again, as far as it has come: of any process, at any later time. */
  spawnResults(run_id: string): Promise<SpawnResult[]>
  runs(query?: { session_id?: string; limit?: number }): Promise<RunSummary[]>
  /** A run by its id or by an unambiguous beginning of it. */
  find(id: string): Promise<RunSummary>
  agents(run_id: string): Promise<AgentRow[]>
  events(run_id: string): Promise<StoredEvent[]>
  follow(run_id: string, signal?: AbortSignal): AsyncIterable<StoredEvent>
  result(run_id: string): Promise<RunResult | null>
  /**
   * What a run changed in the tree of its own, as `git diff` writes it: so far, where it is not closed. `agent_id`: what
   * that sub-agent has kept instead.
   */
  diff(run_id: string, options?: { agent_id?: string; stat?: boolean }): Promise<string>
  /** Brings what a run, or one of its sub-agents, has kept on a branch into the folder, all of it or nothing. */
  apply(
    run_id: string,
    options?: { agent_id?: string; commit?: boolean },
  ): Promise<{ paths: string[]; commit: string | null }>
  /** Removes the worktrees and branches of a run that is closed, with all the work that is in them alone. */
  discard(run_id: string): Promise<KeptTree[]>
  worktrees(): Promise<KeptTree[]>
  /** Removes the worktrees and branches with which nothing would be lost. */
  gc(): Promise<{ removed: KeptTree[]; kept: KeptTree[] }>
  /** The answers of the run's model as a script, which the scripted model plays again. */
  script(run_id: string): Promise<string>
  /** Rebuilds every request of the run from its log and compares it with what was sent. */
  replay(run_id: string): Promise<Replay>
  close(): Promise<void>
}
