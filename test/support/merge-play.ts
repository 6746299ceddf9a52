import {
  type Person as AskedPerson,
  createRetinue,
  type Retinue,
  type Run,
  type Settings,
  type SpawnTask,
  type StoredEvent,
} from '../../src/index.js'
import type { Model } from '../../src/models/index.js'
import {
  createScriptedModel,
  modelsOf,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/index.js'
import { createMoments, type Moments } from './merge-moments.js'
import type { Person } from './merge-person.js'
import type { Scenario, ScenarioChild } from './merge-scenario.js'
import type { WhenFinished } from './project.js'

type Agents = ScriptedModelOptions['agents']
type Steps = Extract<Agents[string], readonly unknown[]>

/** Before which of its answers an agent waits, and for what: by agent and number of the answer. */
type Waits = Map<string, string>

export type Played = { retinue: Retinue; model: ScriptedModel; run_id: string; outcome: string; events: StoredEvent[] }

const WILLING: AskedPerson = {
  permit: async () => ({ answer: 'allow', grant: null, by: 'person', note: null }),
  answer: async () => null,
}

/** What calls give unless a scenario says otherwise: that they were made. */
const USUAL: Record<string, string> = { run_command: 'exit code 0', edit_file: 'edited ' }

const STUCK_MS = 60_000

/** With more time and room than a busy machine takes. */
const SETTINGS: Settings = {
  mode: 'auto',
  max_concurrent: 8,
  delegation: {
    max_retries: 0,
    budget: { tool_calls: 30, context_tokens: 60_000, wall_ms: 600_000 },
    profiles: { lead: { can_spawn_children: true } },
  },
}

/** Plays a scenario through the library's front door. */
export async function play(scenario: Scenario, person: Person, finished: WhenFinished): Promise<Played> {
  const moments = createMoments()
  const waits: Waits = new Map()
  const agents: Agents = {}
  if (scenario.lead) write('root', { does: scenario.lead, children: scenario.children }, agents, waits)
  else for (const [i, child] of scenario.children.entries()) write(`a${i + 1}`, child, agents, waits)
  for (const [id, other] of Object.entries(scenario.others)) write(id, { ...other, children: [] }, agents, waits)
  const model = createScriptedModel({ name: scenario.name, agents })
  const retinue = await createRetinue({
    cwd: person.cwd,
    models: modelsOf(held(model, waits, moments)),
    settings: {
      ...{ ...SETTINGS, ...(scenario.settings as Settings) },
      delegation: { ...SETTINGS.delegation, ask_person: scenario.permits },
    },
  })
  finished(() => retinue.close())
  const options = {
    ...(scenario.land ? { land: scenario.land } : {}),
    ...(scenario.permits ? { person: WILLING } : {}),
  }
  const run = scenario.lead
    ? retinue.run({ task: scenario.shows, ...options })
    : retinue.fanOut(scenario.children.map(taskOf), options)
  // Somebody who waits for what does not come would wait for ever, and nobody would see how far it came.
  const stuck = setTimeout(() => run.cancel('the scenario is stuck'), STUCK_MS)
  finished(() => clearTimeout(stuck))
  const [result] = await Promise.all([
    run.result(),
    follow(run, moments),
    ...others(scenario, person, retinue, run, moments),
  ])
  const { run_id } = result
  return { retinue, model, run_id, outcome: result.outcome, events: await retinue.events(run_id) }
}

/** What an agent says: it starts its sub-agents, makes its calls, waits for the sub-agents, answers. */
function write(
  id: string,
  { does, children, ends_once }: Pick<ScenarioChild, 'does' | 'children' | 'ends_once'>,
  agents: Agents,
  waits: Waits,
): void {
  const steps: Steps = []
  const add = (step: Steps[number], once?: string) => {
    if (once !== undefined) waits.set(`${id} ${steps.length}`, once)
    steps.push(step)
  }
  if (children.length > 0) add({ calls: children.map((child) => ({ spawn: spawnArguments(child) })) })
  let told: { expect?: string } = {}
  for (const { call, once, gives } of does) {
    add({ ...told, calls: [call] }, once)
    const usual = USUAL[Object.keys(call)[0] ?? '']
    const expected = gives ?? usual
    told = expected === undefined ? {} : { expect: expected }
  }
  if (children.length > 0) {
    add({ ...told, calls: [{ spawn_await: { job_ids: '*' } }] })
    told = {}
  }
  if (ends_once === 'never') waits.set(`${id} ${steps.length}`, ends_once)
  else if (!does.at(-1)?.stops) add({ ...told, text: 'Done.' }, ends_once)
  agents[id] = steps
  for (const [i, child] of children.entries())
    write(id === 'root' ? `a${i + 1}` : `${id}.${i + 1}`, child, agents, waits)
}

function taskOf({ title, owns, checks, children }: ScenarioChild): SpawnTask {
  return {
    task: title,
    ...(owns ? { owns } : {}),
    ...(children.length > 0 ? { profile: 'lead' } : {}),
    checks: checks.map((check) =>
      typeof check === 'string' ? { kind: 'command', command: check } : check,
    ) as NonNullable<SpawnTask['checks']>,
  }
}

function spawnArguments({ title, owns, checks, children }: ScenarioChild) {
  return {
    task: title,
    ...(owns ? { owns } : {}),
    ...(children.length > 0 ? { profile: 'lead' } : {}),
    ...(checks.length > 0 ? { checks: checks.filter((check) => typeof check === 'string') } : {}),
  }
}

function held(model: ScriptedModel, waits: Waits, moments: Moments): Model {
  return {
    name: model.name,
    window: model.window,
    generate: async (request, options) => {
      const { signal, caller } = options
      const said = request.messages.filter(({ role }) => role === 'assistant').length
      const what = waits.get(`${caller.agent_id} ${said}`)
      if (what !== undefined) {
        const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        await Promise.race([moments.once(what), aborted])
        if (signal.aborted) return { ok: false, code: 'aborted', message: 'aborted', retry_after_ms: null }
      }
      return model.generate(request, options)
    },
  }
}

async function follow(run: Run, moments: Moments): Promise<void> {
  for await (const event of run) moments.saw(event)
  // What has not happened by now never will, and nobody may wait for it.
  moments.happened('over')
}

/** What the person does meanwhile. */
function others(scenario: Scenario, person: Person, retinue: Retinue, run: Run, moments: Moments): Promise<unknown>[] {
  const over = moments.once('over')
  const acts = scenario.person.map(async ({ once, does }) => {
    await Promise.race([moments.once(once), over])
    person.does(does)
  })
  const cancels = scenario.cancels.map(async ({ once, agent }) => {
    await Promise.race([moments.once(once), over])
    if (agent === 'root') run.cancel('not needed any more')
    else await retinue.cancelAgent(run.run_id, agent, 'person', 'not needed any more')
  })
  return [Promise.all(acts).then(() => moments.happened('person')), ...cancels]
}
