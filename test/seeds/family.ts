import { onTestFinished } from 'vitest'
import type { Host, Retinue, Settings, StoredEvent } from '../../src/index.js'
import type { Caller, Model } from '../../src/models/index.js'
import {
  createScriptedModel,
  modelsOf,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/index.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { openTestRetinue, testRetinue } from '../support/retinues.js'
import { askDatabase, BY_CREATION } from '../support/stores.js'

export type Family = { retinue: Retinue; model: ScriptedModel; cwd: string }

export type FamilyOptions = {
  files?: Record<string, string>
  settings?: Settings
  /** Before the model answers. What it waits for is over when the call is aborted. */
  hold?: (caller: Caller, signal: AbortSignal) => Promise<void> | undefined
  host?: Host
  finished?: WhenFinished
} & Pick<Parameters<typeof testRetinue>[0], 'spoil' | 'onProblem'>

/** A folder with a database of its own, a script and a Retinue that works on them. */
export async function family(agents: ScriptedModelOptions['agents'], options: FamilyOptions = {}): Promise<Family> {
  const finished = options.finished ?? onTestFinished
  const cwd = makeProject(options.files ?? {}, { finished })
  const model = createScriptedModel({ name: 'test', agents })
  return { cwd, model, retinue: await retinueIn(cwd, model, options) }
}

/** Another one on the same folder and database, as another process would have it. */
export async function retinueIn(
  cwd: string,
  model: ScriptedModel,
  { settings = {}, hold, files: _, ...seams }: FamilyOptions = {},
): Promise<Retinue> {
  const models = modelsOf(hold ? held(model, hold) : model)
  return testRetinue({ cwd, models, settings, ...seams })
}

/** A project as its files configure it. The script is `script.yaml`, in which JSON does. */
export async function project(
  agents: ScriptedModelOptions['agents'],
  files: Record<string, string>,
): Promise<{ retinue: Retinue; cwd: string }> {
  const cwd = makeProject({ 'script.yaml': JSON.stringify({ agents }), ...files })
  // The folder is trusted, or its file could not name a script.
  const home = makeProject({ '.config/retinue/config.yaml': `trusted_projects: [${cwd}]\n` })
  return { cwd, retinue: await openTestRetinue({ cwd, env: { HOME: home, PATH: process.env.PATH } }) }
}

export const SCRIPTED = 'scripted/script.yaml'

function held(model: ScriptedModel, hold: NonNullable<FamilyOptions['hold']>): Model {
  return {
    name: model.name,
    window: model.window,
    generate: async (request, options) => {
      const { signal, caller } = options
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      await Promise.race([hold(caller, signal), aborted])
      if (signal.aborted) return { ok: false, code: 'aborted', message: 'aborted', retry_after_ms: null }
      return model.generate(request, options)
    },
  }
}

/** Something that a test lets happen when it likes. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

export type SubAgentRow = {
  agent_id: string
  parent_id: string | null
  depth: number
  step_idx: number
  state: string
  outcome: string | null
  context_json: string
}

/** What the database says, read by nobody's code but its own. */
export async function subAgents(cwd: string): Promise<SubAgentRow[]> {
  const columns = 'agent_id, parent_id, depth, step_idx, state, outcome, context_json'
  return (await askDatabase(cwd, `SELECT ${columns} FROM sub_agents ORDER BY ${BY_CREATION}`)).rows as SubAgentRow[]
}

/** What the requests of an agent's model had in them, in the order in which they were sent, rebuilt from the log. */
export async function requestsOf(retinue: Retinue, run_id: string, agent_id: string) {
  const replay = await retinue.replay(run_id)
  if (!replay.ok) throw new Error(replay.message)
  return replay.requests.filter((one) => one.agent_id === agent_id).map(({ request }) => request)
}

/** The tool results that an agent's model was told, one after the other. */
export async function toldTo(
  retinue: Retinue,
  run_id: string,
  agent_id = 'root',
): Promise<{ tool: string; content: string; is_error: boolean }[]> {
  const last = (await requestsOf(retinue, run_id, agent_id)).at(-1)
  return (last?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ tool, content, is_error }) => ({ tool, content, is_error })) : [],
  )
}

/** A log as it would be if no agent had rested on a worker, or waited for one: those say so when they go on. */
export function withoutRests(events: readonly StoredEvent[]): StoredEvent[] {
  return events.filter(({ seq, type }) => type !== 'agent.woken' && !(type === 'agent.resumed' && seq === TAKEN_UP))
}

/** The first event after those that whoever began the run has written. */
const TAKEN_UP = 3

/** Events in which a sub-agent is named, whoever wrote them. */
export function eventsAbout(events: readonly StoredEvent[], sub_agent_id: string): StoredEvent[] {
  return events.filter(({ data }) => 'sub_agent_id' in data && data.sub_agent_id === sub_agent_id)
}
