import type { AgentsView, Command, CommandResult, FoundProfile, PinView, ProfileView } from '../control/index.js'
import type {
  AgentRegistry,
  AgentResult,
  AgentRow,
  Answer,
  Budget,
  Contract,
  ControlEvent,
  DelegationRequest,
  DelegationSettings,
  Land,
  Mode,
  ModelSource,
  Network,
  OpenQuestion,
  PinScope,
  Plan,
  Principal,
  PrincipalRole,
  Receipt,
  RegistryEntry,
  Rule,
  RunRow,
  Secret,
  StoredEvent,
  WorkspaceSettings,
} from '../domain/index.js'
import type { PresentWorker } from '../engine/index.js'
import type { Host } from '../host/index.js'
import type { Models } from '../models/index.js'
import type { PlanFault, PlanOutcome, PlanPreview } from '../planning/index.js'
import type { Delta, Person, Replay } from '../runtime/index.js'
import type { ControlRecord, Store } from '../store/index.js'
import type { ToolLimits } from '../tools/index.js'
import type { KeptTree } from '../workspaces/index.js'
import type { ReachSources } from './project/reach.js'
import type { SessionValue } from './sessions.js'
import type { WorkerRefusal } from './workers/refusals.js'

export type RetinueOptions = {
  /** The folder that runs work in. Default: the current one. */
  cwd?: string
  /** A store, the URL of a PostgreSQL database, or the file of an SQLite one. Default: `.retinue/retinue.db` in the folder. */
  store?: Store | string
  /** Where agents run: in this process, or on workers (`retinue worker`) that share the database. Default: `local`. */
  engine?: 'local' | 'dbos'
  /**
   * Whose workers share their runs, whatever checkouts these are in. Default: clones of one origin; without one, the folder.
   */
  project?: string
  /** Where models come from. Default: the usual providers, with keys from `env`. */
  models?: Models
  env?: Record<string, string | undefined>
  host?: Host
  settings?: Settings
  /** What agents can reach beyond their folder, or how it is found out when it is needed. Default: the tools that ship. */
  reach?: ReachSources | (() => Promise<ReachSources>)
  /** Profiles that were written down elsewhere, later ones before earlier ones; asked for whenever a run begins. */
  profiles?: () => Promise<FoundProfile[]>
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
  /** What this machine has that others have not. With the engine `local`, agents that need another label are refused. */
  labels?: string[]
  /** Worktrees of sub-agents, and how the result of a run reaches the folder. */
  workspace?: Partial<WorkspaceSettings>
  /** Sub-agents and their profiles. What is absent is as in `DELEGATION_DEFAULTS`, limit by limit in its budget. */
  delegation?: Partial<DelegationSettings>
  /** What others than the person whose process this is may do, by name. `*`: everybody else. */
  principals?: Record<string, PrincipalRole>
}

export type RunOptions = {
  task: string
  /** The profile or handle that the root agent has. Absent: the one that is pinned, if any. null: none. */
  profile?: string | null
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

/** `signal`: nobody waits for it any more. Whoever works on the run still hears of it; if they end before, ask again. */
export type WaitOptions = { signal?: AbortSignal }

/** Who sits in front of a run, and what they get to see. */
export type Watching = {
  /**
   * Who wants it, which is what the log says, and whose pins hold for a new run: somebody of `settings.principals`.
   * Default: the person whose process this is.
   */
  principal?: string
  person?: Person
  /** Text as it is written, progress of long calls. Events are in the log. */
  onDelta?: (delta: Delta) => void
  /** Cancels the run. */
  signal?: AbortSignal
}

export type RunResult = AgentResult & {
  run_id: string
  session_id: string
  /** What was clamped or refused while its contract was made. */
  adjustments: Contract['adjustments']
}

export type RunStatus = 'running' | 'interrupted' | 'closed'
export type RunSummary = Omit<RunRow, 'status' | 'cost_usd'> & {
  status: RunStatus
  /** Who paused it, where it is interrupted because somebody did. */
  paused?: { by: string; reason: string }
  /** Nobody has it just now, and the first worker that is there goes on with it. Only where it is running. */
  waits_for_worker?: true
  /** null when the price of one of its calls is not known. */
  cost_usd: number | null
  /** A program handed out its tasks; what came of them is in `spawnResults`. */
  fan_out: boolean
  /** It makes a plan or carries one out; how far it has come is in `planOutcome`. */
  plan: boolean
  /** What a person said to begin it: its task, or what a fan-out is the answer to. null: nobody did, a program began it. */
  said: string | null
}

/** `asks`: so many questions of it wait for a person. */
export type ListedRun = RunSummary & { asks: number }

/** A task for a sub-agent, as a program gives it. */
export type SpawnTask = DelegationRequest

/** `budget`: turns, tool calls and the size of a request bound each sub-agent; the rest is for all of them together. */
export type FanOutOptions = Omit<RunOptions, 'task' | 'model' | 'delegation' | 'profile'> & {
  /**
   * Whether the sub-agents may have some of their own, and how deep. Those that do the tasks are the first level of
   * `max_depth`, so that 0 and 1 are like `enabled: false`; the tasks themselves are handed out in any case.
   */
  delegation?: RunOptions['delegation']
  /** Of sub-agents that name none and whose profile names none. */
  model?: string
  /** Of them, at work at once. Default: as many as the Retinue lets. */
  maxConcurrent?: number
  /** What a person said in the session, to which the one result is the answer: the conversation has both. */
  said?: string
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

/** How a plan is made and carried out. `budget`: what the sub-agents have together, but for what bounds each of them. */
export type PlanOptions = Omit<FanOutOptions, 'said'> & {
  /**
   * `ask`: a person is asked before anything is carried out, and again by steps that ask for it; without a person the
   * plan is left as it was made. `steps`: only by those steps. `yes`: by none. Default: `ask` for a plan that is made
   * first, `steps` for one that is handed over.
   */
  approve?: 'ask' | 'steps' | 'yes'
}

export type GoalOptions = PlanOptions & {
  /** Questions that researchers answer first, side by side. True: what there is that the goal has to do with. Default: none. */
  research?: boolean | string[]
  /** Whether the plan is carried out when it is made. Default: no. */
  execute?: boolean
  /** Files that are given to the planner with the goal, or anything else that it should know. */
  context?: string
}

/** A run that makes a plan, carries one out, or both. */
export interface PlanRun extends Run {
  /** How far it has come, at the end of the run: where all that was asked for was a plan, that is `plan` in it. */
  outcome(): Promise<PlanOutcome>
}

/** A plan that was looked at: what it would come to, or every fault that it has. */
export type PlanCheck = { ok: true; plan: Plan; preview: PlanPreview } | { ok: false; faults: PlanFault[] }

export type { PlanFault, PlanOutcome, PlanPreview }

/** A run under way: its events as they are logged, and what it comes to. */
export interface Run extends AsyncIterable<StoredEvent> {
  readonly run_id: string
  /** Where it is worked on. */
  readonly engine: 'local' | 'dbos'
  result(): Promise<RunResult>
  cancel(reason?: string): void
  /** Stops the work in this process and leaves the run as it is, to be resumed. `result` then rejects. */
  leave(reason: string): void
}

export type { AgentsView, CommandResult, KeptTree, PinView, PresentWorker, ProfileView, WorkerRefusal }

/**
 * Who the sub-agents are, and who may change that. Every call is checked against the role of the principal and written
 * to the control log; what fails is a `RetinueError`: `denied`, `input`, `not_found`, or `conflict` where another editor
 * was faster.
 */
export interface Control {
  readonly principal: Principal
  agents(place?: { session_id?: string }): Promise<AgentsView>
  /** By name or handle, with the registry's entry where there is one. */
  show(name: string): Promise<{ profile: ProfileView; entry: RegistryEntry | null }>
  registry(): Promise<{ version: number; value: AgentRegistry }>
  /**
   * Replaces all of it, if its record still has the version that was seen (0: there is none). `value`: the registry, or
   * the text of its JSON.
   */
  putRegistry(value: unknown, expected_version: number): Promise<{ version: number; value: AgentRegistry }>
  /** `keep`: lists and tags that the entry does not name stay as those of the one that it replaces. */
  register(entry: RegistryEntry, options?: { keep?: boolean }): Promise<{ version: number; value: AgentRegistry }>
  unregister(handle: string): Promise<{ version: number; value: AgentRegistry }>
  /** Every version of the registry, or of a profile in the store, oldest first; null is the value of a removal. */
  history(profile?: string): Promise<ControlRecord[]>
  /** Without a version it takes the place of whatever is there. */
  putProfile(name: string, profile: unknown, expected_version?: number): Promise<ControlRecord>
  removeProfile(name: string): Promise<ControlRecord>
  /** By handle or profile name. `session_id` is needed for the scope `session`. */
  pin(name: string, scope: PinScope, place?: { session_id?: string }): Promise<PinView>
  unpin(scope: PinScope, place?: { session_id?: string }): Promise<PinView>
  /**
   * A line such as `/agents pin @writer --user`: for chats and bots, which have commands of their own besides (`more`).
   * Never throws for what a person got wrong.
   */
  execute(line: string, place?: { session_id?: string }, more?: readonly Command[]): Promise<CommandResult>
  /** All that `execute` knows, with those: for completion. */
  commands(more?: readonly Command[]): Command[]
  /** The control log, oldest first: all of it, or the events of the newest `last` commands. */
  log(query?: { last?: number }): Promise<ControlEvent[]>
}

/** A conversation as the store has it. One that was begun by `run` alone has no record, and nobody's name on it. */
export type Session = { session_id: string } & SessionValue

/** `cost_usd`: with that of its tasks; null when the price of one of the calls is not known. */
export type SessionSummary = Session & { runs: number; cost_usd: number | null; last_at: number }

export interface Sessions {
  create(owner: string): Promise<Session>
  /** By its whole id; null where there is none. */
  known(session_id: string): Promise<Session | null>
  /** By its id or an unambiguous beginning of it, or by one of its runs; a task leads to the session it was begun in. */
  find(id: string): Promise<Session>
  /** Those of this folder, the one that was active last first. */
  list(query?: { limit?: number }): Promise<SessionSummary[]>
  /** A title becomes one short line. Nothing of it all is stored with a secret in it. */
  update(session_id: string, change: Partial<Pick<Session, 'title' | 'model' | 'mode'>>): Promise<Session>
  addTask(session_id: string, run_id: string): Promise<Session>
}

/**
 * `agents`: profiles by name and agents by handle, such as can be used. `defaults`: what a run has that asks for nothing
 * else; a model of null is found out when it is needed.
 */
export type Choices = {
  agents: { name: string; description: string }[]
  pin: PinView | null
  defaults: { model: string | null; mode: Mode }
}

/** What agents can reach beyond their folder, before a contract says who may use it. */
export type Reachable = {
  servers: { name: string; state: string; version: string | null; message: string | null; tools: string[] }[]
  /** `file`: the absolute path of its SKILL.md. */
  skills: { name: string; description: string; file: string }[]
  notes: string[]
}

export interface Retinue {
  readonly cwd: string
  readonly store: Store
  readonly models: Models
  /** Where agents run. With `dbos` a run is given to the workers, and goes on whatever becomes of this process. */
  readonly engine: 'local' | 'dbos'
  run(options: RunOptions): Run
  /** Goes on with a run whose process is gone. One that is closed gives its result again. */
  resume(run_id: string, watching?: Watching): Run
  /** Cancels a run wherever it runs, and waits until it is closed. */
  cancel(run_id: string, by: string, reason: string, options?: WaitOptions): Promise<RunResult>
  /**
   * Asks whoever works on a run to let go of it, and waits for that: sub-agents at work finish first where a program
   * handed out their tasks. It can be resumed.
   */
  pause(run_id: string, by: string, reason: string, options?: WaitOptions): Promise<RunSummary>
  /** Cancels one sub-agent and all below it, wherever it runs, and waits until it is closed. */
  cancelAgent(run_id: string, agent_id: string, by: string, reason: string, options?: WaitOptions): Promise<AgentResult>
  /** One sub-agent with a task, in a run of its own. */
  spawn(task: SpawnTask, options?: FanOutOptions): Promise<SpawnResult>
  /** Many at once, in one run: results in the order of the tasks, failures among them. */
  fanOut(tasks: readonly SpawnTask[], options?: FanOutOptions): FanOut
  /**
   * A goal becomes a plan: researchers, then the planner. A plan with faults goes back to it at most twice; after that
   * the run fails, with what was wrong.
   */
  planForGoal(goal: string, options?: GoalOptions): PlanRun
  /** A plan, or the text of its file, is carried out: faults reject `result` before anything is done. */
  executePlan(plan: unknown, options?: PlanOptions): PlanRun
  /** Whether a plan, or the text of its file, could be carried out here, and what it would come to. */
  checkPlan(plan: unknown, options?: PlanOptions): Promise<PlanCheck>
  /** What a plan has come to, of any process and at any later time. */
  planOutcome(run_id: string): Promise<PlanOutcome>
  /** The results of a fan-out again, as far as it has come: of any process, at any later time. */
  spawnResults(run_id: string): Promise<SpawnResult[]>
  runs(query?: { session_id?: string; limit?: number }): Promise<RunSummary[]>
  /** A run by its id or by an unambiguous beginning of it. */
  find(id: string): Promise<RunSummary>
  agents(run_id: string): Promise<AgentRow[]>
  events(run_id: string): Promise<StoredEvent[]>
  follow(run_id: string, signal?: AbortSignal): AsyncIterable<StoredEvent>
  result(run_id: string): Promise<RunResult | null>
  /** What a run waits for a person to say, wherever it is worked on. */
  questions(run_id: string): Promise<OpenQuestion[]>
  /**
   * Says it, from wherever one is: whoever works on the run hears it. Resolves when the log has the answer; a
   * `RetinueError` where nobody asks that (any more), or where nobody works on the run.
   */
  answer(run_id: string, answer: Answer, by: string): Promise<void>
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
  /** Whether `apply` would first bring that here from another checkout, in which the run, or the sub-agent, ended. */
  canBring(run_id: string, agent_id?: string): Promise<boolean>
  /** Removes the worktrees and branches of a run that is closed, with all the work that is in them alone. */
  discard(run_id: string): Promise<KeptTree[]>
  worktrees(): Promise<KeptTree[]>
  /** Removes the worktrees and branches with which nothing would be lost. */
  gc(): Promise<{ removed: KeptTree[]; kept: KeptTree[] }>
  /** Takes over a store that lies in the folder and was not made there; until then nothing works with it. False: it was. */
  adopt(): Promise<boolean>
  /** The workers of this project that are there, the first to come first. `all`: of every project in the database. */
  workers(query?: { all?: boolean }): Promise<PresentWorker[]>
  /** Why workers could not work on a run in which nothing has happened since. */
  refusals(run_id: string): Promise<WorkerRefusal[]>
  /** Agents, profiles and pins, as far as a principal may see and change them. Default: the person at this machine. */
  control(principal?: string): Control
  readonly sessions: Sessions
  /** Whom work can be given to, and the pin in effect, for faces that offer it: nothing of it is in the control log. */
  choices(place?: { session_id?: string; principal?: string }): Promise<Choices>
  /** Connects to servers that nobody has needed so far. */
  reachable(): Promise<Reachable>
  /** The answers of the run's model as a script, which the scripted model plays again. */
  script(run_id: string): Promise<string>
  /** Rebuilds every request of the run from its log and compares it with what was sent. */
  replay(run_id: string): Promise<Replay>
  close(): Promise<void>
}
