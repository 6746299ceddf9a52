import type {
  AgentRegistry,
  AgentRow,
  AgentsView,
  Answer,
  Choices,
  CostRow,
  Dossier,
  ListedRun,
  Mode,
  OpenQuestion,
  PinScope,
  PinView,
  PlanOutcome,
  Principal,
  RunResult,
  RunSummary,
  SessionSummary,
  StoredEvent,
  WatchedEvent,
} from '../index.js'

/** What goes over the wire, named as the paths are. The web app imports these types and nothing else of the server. */

/** Every error: what was wrong and what to do. `faults`: where, in a body. */
export type WireError = {
  error: { code: string; message: string; faults?: { path: string; message: string }[] }
}

/** POST /api/login. `key`: what changes something needs it in the header X-Retinue-Key, besides the cookie. */
export type LoggedIn = { principal: Principal; key: string }

/** GET /api/me */
export type Me = {
  principal: Principal
  folder: string
  version: string
  /** What a run has that asks for nothing else, whom it can be given to, and the pin in effect. */
  choices: Choices
}

/** GET /api/runs. `more`: there are older ones. */
export type RunList = { runs: ListedRun[]; more: boolean }

/** POST /api/runs. `plan`: a plan is made for it, and carried out after a yes. */
export type StartRun = {
  task: string
  plan?: boolean
  profile?: string | null
  model?: string
  mode?: Mode
  session_id?: string
  budget?: { turns?: number; tool_calls?: number; total_tokens?: number; cost_usd?: number; wall_ms?: number }
}
export type Started = { run_id: string }

/**
 * GET /api/runs/:run. `owned_here`: this server's process works on it. `by`: who started it; null: the person whose
 * process it was.
 */
export type RunDetail = { run: RunSummary; result: RunResult | null; owned_here: boolean; by: string | null }

/** GET /api/runs/:run/events?after&limit */
export type EventPage = { events: WatchedEvent[]; more: boolean }

/** GET /api/runs/:run/agents */
export type AgentList = { agents: Omit<AgentRow, 'context_json'>[] }

/** GET /api/runs/:run/agents/:agent */
export type AgentDetail = Omit<Dossier, 'events'>

/** GET /api/runs/:run/agents/:agent/events?after&limit: whole, of its own stream. */
export type AgentEvents = { events: StoredEvent[]; more: boolean }

/** GET /api/runs/:run/diff and /api/runs/:run/agents/:agent/diff. `cut`: it is longer than that. */
export type DiffText = { diff: string; cut: boolean }

/** GET /api/runs/:run/report: Markdown. */
export type Report = { report: string }

/** GET /api/runs/:run/plan */
export type PlanDetail = PlanOutcome

/** GET /api/runs/:run/questions, POST /api/runs/:run/answers */
export type Questions = { questions: OpenQuestion[] }
export type GivenAnswer = Answer

/** GET /api/sessions */
export type SessionList = { sessions: SessionSummary[] }

/** GET /api/agents?session_id */
export type Agents = AgentsView

/** GET and PUT /api/registry. `text`: its JSON, as the editor has it. */
export type Registry = { version: number; value: AgentRegistry }
export type PutRegistry = { text: string; expected_version: number }
export type RegistryVersions = { versions: { version: number; value: AgentRegistry | null; by: string; at: number }[] }

/** PUT and DELETE /api/pins/:scope */
export type PutPin = { name: string; session_id?: string }
export type PinDone = { pin: PinView; scope: PinScope }

/** GET /api/costs?days */
export type Costs = { rows: (CostRow & { task: string })[]; from: string; more: boolean }
