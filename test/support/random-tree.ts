import { NO_USAGE, type Usage } from '../../src/domain/index.js'
import type { AnswerPart, Model, ModelAnswer } from '../../src/models/index.js'

/** US dollars for a token, read or written. */
export const PRICE = 0.000_01

/** What the agents of a random tree do. All of it follows from the seed and from who asks how often. */
export type Plan = {
  seed: number
  /** How likely a call of the model is to fail, to hang until somebody ends it, or to cost far more than expected. */
  fails: number
  hangs: number
  spends_much: number
}

/** What the models of a run were really asked for and gave, counted by themselves. */
export type Till = { tokens: number; calls: number; most_at_once: number }

export type RandomModel = Model & { till: Till }

/** `onHang`: an agent's model says nothing more until it is ended. */
export function randomModel(name: string, plan: Plan, onHang: (agent_id: string) => void): RandomModel {
  const asked = new Map<string, number>()
  const till: Till = { tokens: 0, calls: 0, most_at_once: 0 }
  let open = 0
  return {
    name,
    window: null,
    price: ({ input_tokens, output_tokens }: Usage) => (input_tokens + output_tokens) * PRICE,
    till,
    async generate(request, { caller, signal }) {
      const { agent_id, purpose } = caller
      const turn = asked.get(agent_id) ?? 0
      asked.set(agent_id, turn + 1)
      const draw = dice(`${plan.seed} ${agent_id} ${turn}`)
      // Where the first agent ends at once there is no tree.
      const { fails, hangs } = agent_id === 'root' && turn < 3 ? SURE : plan
      till.calls++
      till.most_at_once = Math.max(till.most_at_once, ++open)
      try {
        if (draw() < hangs) {
          const aborted = once(signal)
          onHang(agent_id)
          await aborted
        } else {
          await new Promise((resolve) => setTimeout(resolve, Math.floor(draw() * 4)))
        }
        if (signal.aborted) return fault('aborted')
        if (draw() < fails) return fault(pick(draw, ['network', 'bad_request', 'overloaded']))
        const usage = usageOf(draw, plan)
        till.tokens += usage.input_tokens + usage.output_tokens
        const parts =
          purpose === 'turn'
            ? partsOf(
                draw,
                turn,
                request.tools.map((tool) => tool.name),
              )
            : [say('So far.')]
        const calls = parts.some(({ type }) => type === 'tool_call')
        return {
          ...{ ok: true, model: name, parts, usage, counted: true, finish_reason: calls ? 'tool_calls' : 'stop' },
          cost_usd: (usage.input_tokens + usage.output_tokens) * PRICE,
        }
      } finally {
        open--
      }
    },
  }
}

const SURE = { fails: 0, hangs: 0 }

function fault(code: 'aborted' | 'network' | 'bad_request' | 'overloaded'): ModelAnswer {
  return { ok: false, code, message: `the plan says ${code}`, retry_after_ms: null }
}

function usageOf(draw: () => number, { spends_much }: Plan): Usage {
  const scale = draw() < spends_much ? 60_000 : 3000
  return { ...NO_USAGE, input_tokens: Math.floor(draw() * scale), output_tokens: 1 + Math.floor((draw() * scale) / 4) }
}

const PROFILES = ['', 'lead', 'lead', 'lead', 'lead', 'rich', 'tiny']

/** Delegates most of the time at first, and comes to an end. */
function partsOf(draw: () => number, turn: number, tools: string[]): AnswerPart[] {
  if (draw() < turn * 0.15) return [say('Done.')]
  if (!tools.includes('spawn')) return draw() < 0.5 ? [call('list_dir', {})] : [say('Done.')]
  const made = Array.from({ length: 1 + Math.floor(draw() * 4) }, (): AnswerPart => {
    const task = `Work ${Math.floor(draw() * 1000)}`
    const profile = pick(draw, PROFILES)
    const way = draw()
    if (way < 0.4) return call('spawn', { task, profile })
    if (way < 0.6) return call('spawn_agent', { task, profile })
    if (way < 0.75) return call('spawn_await', { job_ids: '*' })
    if (way < 0.9) return call('list_dir', {})
    return call('delegate_task', { plan: task, subtasks: [{ task: 'One' }, { task: 'Two', depends_on: 0 }] })
  })
  return made
}

function call(tool: string, args: object): AnswerPart {
  return { type: 'tool_call', wire_id: '', tool, args: JSON.stringify(args) }
}

function say(text: string): AnswerPart {
  return { type: 'text', text }
}

function pick<T>(draw: () => number, of: readonly T[]): T {
  return of[Math.floor(draw() * of.length)] as T
}

function once(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Numbers from 0 up to 1, the same for the same text. */
export function dice(text: string): () => number {
  let state = 2_166_136_261
  for (const letter of text) state = Math.imul(state ^ letter.charCodeAt(0), 16_777_619)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
