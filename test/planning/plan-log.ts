import {
  type AgentMemory,
  type AgentResult,
  type Contract,
  type EventData,
  type EventType,
  foldAgent,
  PLAN_DEFAULTS,
  type Plan,
  type PlanState,
  STEP_DEFAULTS,
  type StepSpec,
} from '../../src/domain/index.js'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

export const CALL = 'c1'

export function specOf(id: string, more: Partial<StepSpec> = {}): StepSpec {
  const lists = { depends_on: [], inputs: [], success_criteria: [], checks: [] }
  const words = { title: `Title of ${id}`, description: `Do ${id}` }
  return { ...STEP_DEFAULTS, ...lists, budget: {}, id, ...words, stage: 'work', owns: [], ...more }
}

export function planOf(steps: readonly StepSpec[], more: Partial<Plan> = {}): Plan {
  return {
    ...PLAN_DEFAULTS,
    ...{ version: 1, goal: 'Mend the roof', assumptions: [], completion_criteria: [], checks: [] },
    steps: steps.map(({ stage, owns, ...step }) => ({ ...step, ...(owns === null ? {} : { owns }) })),
    ...more,
  }
}

/** The stream of an agent that carries out a plan, event by event. */
export function planLog(task = 'Mend the roof') {
  const run = eventsOfRun()
  run.root(task)
  const root = (run.events.at(-1) as { data: { contract: Contract } } | undefined)?.data.contract as Contract
  const budget = { ...root.execution.budget, total_tokens: 100, sub_agents: 0 }
  const contract: Contract = { ...root, execution: { ...root.execution, budget } }
  let agents = 0
  let index = -1

  function note<T extends Extract<EventType, `plan.${string}`>>(type: T, data: Omit<EventData<T>, 'call_id'>) {
    run.add('root', type, { call_id: CALL, ...data } as EventData<T>)
  }

  const log = {
    note,
    wait: run.wait,
    add: run.add,
    adopt(plan: Plan, steps: readonly StepSpec[], more: Partial<EventData<'plan.adopted'>> = {}) {
      note('plan.adopted', { revision: 1, plan, by: 'planner', reason: null, steps: [...steps], ...more })
    },
    /** A sub-agent begins with a step, as another attempt where there was one before. */
    begin(step: string, attempt = 1) {
      const id = `a${++agents}`
      note('plan.step_started', { step, attempt, index: ++index })
      run.add('root', 'agent.subagent_created', {
        ...{ sub_agent_id: id, step_idx: agents - 1, call_id: CALL, index, task: step, cache_key: null, contract },
      })
      return {
        id,
        gate(what: string, passed: boolean, after_merge = false) {
          run.add('root', 'agent.gate_checked', {
            ...{ sub_agent_id: id, step_idx: 0, gate: 0, kind: 'command', what, passed, detail: 'exit code 0' },
            ...{ output: null, duration_ms: 5, ...(after_merge ? { after_merge: true as const } : {}) },
          })
        },
        close(result: Partial<AgentResult> = {}, final_status: 'completed' | 'failed' = 'completed') {
          const used = { total_tokens: 0, cost_usd: 0, sub_agents: 0 }
          run.add('root', 'agent.subagent_closed', {
            ...{ sub_agent_id: id, step_idx: 0, final_status, close_reason: 'so it went', used },
            result: resultOf({ usage: USAGE, cost_usd: 0.01, ...result }),
          })
          return id
        },
      }
    },
    /** One that does all that its step asks for. */
    complete(step: string, result: Partial<AgentResult> = {}) {
      const id = log.begin(step).close(result)
      note('plan.step_ended', { step, status: 'completed', sub_agent_id: id, reason: null })
    },
    end(step: string, status: 'completed' | 'failed' | 'skipped', sub_agent_id: string | null, reason: string | null) {
      note('plan.step_ended', { step, status, sub_agent_id, reason })
    },
    memory(): { memory: AgentMemory; state: PlanState } {
      const memory = foldAgent(run.events.filter(({ agent_id }) => agent_id === 'root')) as AgentMemory
      return { memory, state: memory.plans.find(({ call_id }) => call_id === CALL) as PlanState }
    },
  }
  return log
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
const USAGE = { ...NO_USAGE, input_tokens: 900, output_tokens: 100 }
