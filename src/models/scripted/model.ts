import { type ModelRequest, NO_USAGE } from '../../domain/index.js'
import type { AnswerPart, Caller, GenerateOptions, Model, ModelAnswer } from '../model.js'
import { findStep, type Playing } from './find.js'
import { formatPath, lastStep, marked, type Path, summaryNote } from './position.js'
import { priceOf } from './price.js'
import { type Script, type ScriptedCall, type ScriptedPart, type Step, scriptSchema } from './script.js'
import { createUseLog } from './uses.js'

/** A model that says what it was told to say, and fails on everything that it was not told about. */
export type ScriptedModel = Model & {
  /** Every request, in the order in which they came. */
  readonly requests: readonly { caller: Caller; request: ModelRequest }[]
  /** Calls that the script did not foresee, in words. */
  readonly violations: readonly string[]
  /** Steps that were never used. Of branches, only those count that were taken. */
  unused(): string[]
  /** Throws when there were violations or steps are left. */
  assertAllUsed(): void
}

/** `name` is what comes after `scripted/`; for a script from a file, the file. */
export type ScriptedModelOptions = { name: string; agents: Script['agents']; window?: number }

export function createScriptedModel({ name, ...given }: ScriptedModelOptions): ScriptedModel {
  const script = scriptSchema.parse(given)
  const playing: Playing = { name, script, uses: createUseLog(script), failures: new Map() }
  const requests: { caller: Caller; request: ModelRequest }[] = []
  const violations: string[] = []

  async function generate(request: ModelRequest, options: GenerateOptions): Promise<ModelAnswer> {
    const { caller, signal, onDelta } = options
    requests.push({ caller, request })
    const found = findStep(playing, request, caller)
    if (!found.ok) {
      violations.push(found.message)
      return { ok: false, code: 'bad_request', message: found.message, retry_after_ms: null }
    }
    const { step, path, list, place, where } = found
    if (!(await sleep(step.delay_ms ?? 0, signal))) {
      return { ok: false, code: 'aborted', message: `the call to scripted/${name} was cancelled`, retry_after_ms: null }
    }
    if (step.fail) {
      playing.failures.set(place, (playing.failures.get(place) ?? 0) + 1)
      const { code, message = `${where} fails`, retry_after_ms = null } = step.fail
      return { ok: false, code, message, retry_after_ms }
    }
    const agent = caller.agent_id
    const parts = toParts(step, path, marked({ script: name, agent, list, step: formatPath(path) }))
    if (list === 'summary') {
      const steps = lastStep(request.messages, { script: name, agent, list: 'steps' })
      parts.push({ type: 'text', text: ` ${summaryNote(agent, steps, path)}` })
    }
    if (onDelta) speak(parts, onDelta)
    return {
      ok: true,
      model: `scripted/${name}`,
      parts,
      finish_reason: step.finish_reason ?? (parts.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop'),
      usage: { ...NO_USAGE, ...step.usage },
      ...(step.cost_usd === undefined ? {} : { cost_usd: step.cost_usd }),
    }
  }

  return {
    name: `scripted/${name}`,
    window: script.window ?? null,
    price: priceOf(script),
    generate,
    requests,
    violations,
    unused: playing.uses.unused,
    assertAllUsed() {
      const problems = [...violations, ...playing.uses.unused().map((step) => `never used: ${step}`)]
      if (problems.length > 0) throw new Error(`script ${name}:\n  ${problems.join('\n  ')}`)
    },
  }
}

/** The mark goes on the first part that stays in the conversation whatever becomes of the reasoning. */
function toParts(step: Step, path: Path, mark: Pick<AnswerPart, 'provider'>): AnswerPart[] {
  let calls = 0
  const parts = partsOf(step).map((part): AnswerPart => {
    if ('text' in part) return { type: 'text', text: part.text }
    if ('reasoning' in part) return { type: 'reasoning', text: part.reasoning }
    calls += 1
    return { type: 'tool_call', wire_id: `call_${path.join('-')}_${calls}`, ...readCall(part.call) }
  })
  const first = parts.findIndex((part) => part.type !== 'reasoning')
  return parts.map((part, index) => (index === first ? { ...part, ...mark } : part))
}

function partsOf(step: Step): ScriptedPart[] {
  const parts: ScriptedPart[] = [...(step.parts ?? [])]
  if (step.reasoning !== undefined) parts.push({ reasoning: step.reasoning })
  if (step.text !== undefined) parts.push({ text: step.text })
  for (const call of step.calls ?? []) parts.push({ call })
  return parts
}

function readCall(call: ScriptedCall): { tool: string; args: string } {
  if (typeof call.raw_args === 'string' && typeof call.tool === 'string')
    return { tool: call.tool, args: call.raw_args }
  const [tool, args] = Object.entries(call)[0] as [string, unknown]
  return { tool, args: JSON.stringify(args ?? {}) }
}

/** Word by word. */
function speak(parts: readonly AnswerPart[], onDelta: NonNullable<GenerateOptions['onDelta']>): void {
  for (const part of parts) {
    if (part.type === 'tool_call') continue
    for (const text of part.text.split(/(?<=\s)(?=\S)/)) if (text !== '') onDelta({ type: part.type, text })
  }
}

/** False when the signal comes first. */
function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || ms === 0) return Promise.resolve(!signal.aborted)
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve(true)
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
