import type { Usage } from '../domain/index.js'
import type { Health } from './health.js'
import type { FellOver, GenerateOptions, Model, ModelAnswer, ModelChoice, ModelError } from './model.js'

/** A member that can be asked, or the reason why not. Its package is loaded when it is first asked. */
export type Member = {
  name: string
  ready:
    | { ok: true; window: number | null; price: () => ((usage: Usage) => number) | undefined }
    | { ok: false; code: ModelError['code']; message: string }
  open: () => Promise<ModelChoice>
}

export type PoolOptions = {
  /** `pool/name`. */
  name: string
  members: readonly Member[]
  health: Health
  now: () => number
  /** A member that said nothing for so long when the call was given up counts as failed. */
  silence_ms: number
}

/** Why a member did not answer, and how long until it may. */
type Passed = FellOver & { wait_ms: number }

/**
 * Several models as one. The first member that can answer does: the next is asked when one fails before the first
 * token of its answer, never after.
 */
export function createPool({ name, members, health, now, silence_ms }: PoolOptions): Model {
  async function generate(request: Parameters<Model['generate']>[0], options: GenerateOptions): Promise<ModelAnswer> {
    const passed: Passed[] = []
    for (const member of members) {
      if (options.signal.aborted) return cancelled(name, passed)
      const out = leftOut(member)
      if (out) {
        passed.push(out)
        continue
      }
      const opened = await member.open()
      if (!opened.ok) {
        passed.push({ model: member.name, ...unusable(opened), wait_ms: Number.POSITIVE_INFINITY })
        continue
      }
      const started = now()
      const call = watched(options)
      const answer = await opened.model.generate(request, call.options)
      if (answer.ok) {
        health.worked(member.name, started)
        return { ...answer, answered_by: member.name, fell_over: passed.map(toFellOver) }
      }
      if (answer.code === 'aborted') {
        const message = `${member.name} had said nothing when the call was given up`
        const silent = !call.began() && now() - started >= silence_ms
        if (silent) health.failed(member.name, { code: 'network', message, retry_after_ms: null }, started)
        return withPassed(answer, passed)
      }
      health.failed(member.name, answer, started)
      // A request that is too large has to be made smaller for all members, and whoever calls can do that.
      if (call.began() || answer.code === 'context_overflow') return withPassed(answer, passed)
      const { code, message } = answer
      passed.push({ model: member.name, code, message, wait_ms: health.pauseOf(member.name)?.left_ms ?? 0 })
    }
    return allFailed(name, passed)
  }

  function leftOut({ name, ready }: Member): Passed | null {
    if (!ready.ok) return { model: name, code: ready.code, message: ready.message, wait_ms: Number.POSITIVE_INFINITY }
    const pause = health.pauseOf(name)
    if (!pause) return null
    const { code, message, left_ms } = pause
    const until = Number.isFinite(left_ms) ? `for another ${Math.ceil(left_ms / 1000)} s` : 'from now on'
    return { model: name, code, message: `left out ${until}: ${message}`, wait_ms: left_ms }
  }

  const usable = members.flatMap(({ ready }) => (ready.ok ? [ready] : []))
  const windows = usable.flatMap(({ window }) => (window === null ? [] : [window]))
  return {
    name,
    // A request has to fit whoever answers it.
    window: windows.length > 0 ? Math.min(...windows) : null,
    get price() {
      return highest(usable.map(({ price }) => price()))
    },
    generate,
  }
}

/** What a call to any member costs at most; undefined when one of them has no known price. */
function highest(prices: (((usage: Usage) => number) | undefined)[]): ((usage: Usage) => number) | undefined {
  const known = prices.filter((price) => price !== undefined)
  if (known.length < prices.length || known.length === 0) return undefined
  return (usage) => Math.max(...known.map((price) => price(usage)))
}

/** The same call, and whether anything of an answer has come. */
function watched(options: GenerateOptions): { options: GenerateOptions; began: () => boolean } {
  // Streamed also where nobody watches: fetched whole, a member that says nothing looks like one that thinks.
  const { onDelta = () => {}, onBegin } = options
  let begun = false
  const begin = () => {
    begun = true
    onBegin?.()
  }
  const show: typeof onDelta = (delta) => {
    begun = true
    onDelta(delta)
  }
  return { options: { ...options, onDelta: show, onBegin: begin }, began: () => begun }
}

/** Why a name gives no model, as a fault of a call. */
export function unusable(choice: Extract<ModelChoice, { ok: false }>): Pick<FellOver, 'code' | 'message'> {
  return { code: choice.code === 'no_key' ? 'auth' : 'bad_request', message: choice.message }
}

/** Faults after which it may help to ask again. */
const PASSING: ReadonlySet<ModelError['code']> = new Set(['rate_limited', 'overloaded', 'network', 'bad_output'])

/** The fault of whoever can be asked again first, so that the one who calls waits for that and no longer. */
function allFailed(name: string, passed: Passed[]): ModelError {
  const hopeful = passed.filter(({ code, wait_ms }) => PASSING.has(code) && Number.isFinite(wait_ms))
  const [first] = hopeful.sort((a, b) => a.wait_ms - b.wait_ms)
  const shown = first ?? passed.find(({ code }) => code !== 'auth') ?? passed[0]
  return {
    ok: false,
    code: shown?.code ?? 'bad_request',
    message: `no model of ${name} answered: ${passed.map(reasonOf).join('; ')}`,
    retry_after_ms: first && first.wait_ms > 0 ? Math.ceil(first.wait_ms) : null,
    fell_over: passed.map(toFellOver),
  }
}

function withPassed(error: ModelError, passed: Passed[]): ModelError {
  return passed.length > 0 ? { ...error, fell_over: passed.map(toFellOver) } : error
}

function cancelled(name: string, passed: Passed[]): ModelError {
  const message = `the call to ${name} was cancelled`
  return withPassed({ ok: false, code: 'aborted', message, retry_after_ms: null }, passed)
}

function toFellOver({ model, code, message }: Passed): FellOver {
  return { model, code, message }
}

const MAX_REASON = 200

/** Secrets are struck out where messages are made, so that cutting them is safe here. */
export function reasonOf({ model, message }: FellOver): string {
  const reason = message.startsWith(model) ? message : `${model}: ${message}`
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON - 1)}…` : reason
}
