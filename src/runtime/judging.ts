import type { AgentResult, Check, Child, EventData, Redactor } from '../domain/index.js'
import type { Files } from '../workspaces/index.js'
import { checkGate, gateOf, looksAtFiles, type RunGate } from './gates.js'
import { type ChildRun, checksOf } from './launcher.js'
import type { Recorder } from './recorder.js'

/** What becomes of a sub-agent, as far as its work was looked at. */
export type Judged = { passed: boolean; result: AgentResult; close_reason: string }

/** Who may stop a check. null: nobody can any more. */
export type Stopper = Pick<ChildRun, 'stopped' | 'cancelled'> | null

/** Where a gate looks: at the sub-agent's own work, or at that merged with what its parent has. */
type GatePlace = { files: Files; after_merge: boolean }

export type JudgingSide = {
  recorder: Recorder
  /** How the command of a sub-agent's gate is run, and where. */
  runGate: (child: Child, files: Files, command: string, signal: AbortSignal) => ReturnType<RunGate>
  redactor: Redactor
  now: () => number
}

const NEVER = new AbortController().signal

/** What a sub-agent's own end and its gates come to. */
export class Judging {
  constructor(
    private readonly side: JudgingSide,
    /** Who stopped the parent itself. */
    private readonly stopper: () => { by: string; reason: string } | null,
  ) {}

  /** `wrote`: whether its changes speak for it, where it says nothing. */
  async judge(child: Child, result: AgentResult, run: Stopper, on: GatePlace, wrote: boolean): Promise<Judged> {
    const { outcome, reason, text } = result
    if (outcome !== 'completed' && outcome !== 'budget_exceeded') return failed(result, reason ?? outcome)
    const unmet = await this.gates(child, result, run, on)
    if (unmet) return unmet
    // An answer that says nothing, and that nothing else speaks for, is none.
    if (text.trim() === '' && checksOf(child).length === 0 && !wrote) {
      const close_reason = reason ?? 'it answered without a word'
      if (outcome === 'budget_exceeded') return failed(result, close_reason)
      return failed({ ...result, outcome: 'error', cause: 'no_answer', reason: close_reason }, close_reason)
    }
    return wellDone(result, checksOf(child))
  }

  /** null: all of them pass. Those that a dead process had checked are not checked again. */
  async gates(child: Child, result: AgentResult, run: Stopper, on: GatePlace): Promise<Judged | null> {
    for (const [number, check] of checksOf(child).entries()) {
      if (on.after_merge && !looksAtFiles(check)) continue
      const known = child.gates.find((gate) => gate.gate === number && (gate.after_merge ?? false) === on.after_merge)
      const checked = known ?? (await this.#check(child, number, check, result, run?.stopped ?? NEVER, on))
      if (!checked) return this.stopped(result, run)
      if (checked.passed) continue
      const where = on.after_merge ? ' on the merged tree' : ''
      const close_reason = `the check failed${where}: ${checked.what}: ${checked.detail}`
      return failed({ ...result, outcome: 'gate_failed', cause: 'gate', reason: close_reason }, close_reason)
    }
    return null
  }

  stopped(result: AgentResult, run: Stopper): Judged {
    const by = run?.cancelled() ?? this.stopper() ?? { by: 'parent', reason: 'its parent was stopped' }
    const close_reason = `cancelled by ${by.by} while it was checked: ${by.reason}`
    return failed({ ...result, outcome: 'cancelled', cause: by.by, reason: close_reason }, close_reason)
  }

  /** null: it was stopped. */
  async #check(
    child: Child,
    number: number,
    check: Check,
    { text, files_changed: changed }: AgentResult,
    stopped: AbortSignal,
    { files, after_merge }: GatePlace,
  ): Promise<EventData<'agent.gate_checked'> | null> {
    const { recorder, runGate, redactor, now } = this.side
    const { id, step_idx } = child
    const stage = after_merge ? { after_merge: true as const } : {}
    const gate = { sub_agent_id: id, step_idx, ...gateOf(check, number), ...stage }
    recorder.record('agent.gate_started', gate)
    await recorder.commit()
    const started = now()
    const run = (command: string) => runGate(child, files, command, stopped)
    const checked = await checkGate(check, { text, changed, workspace: files.workspace }, run, redactor)
    if (checked === 'stopped') return null
    const { passed, detail, whole } = checked
    const output = whole === null ? null : recorder.keep(whole)
    const found = recorder.cleaned({ ...gate, passed, detail, output, duration_ms: now() - started })
    recorder.record('agent.gate_checked', found)
    return found
  }
}

export function wellDone(result: AgentResult, checks: Check[]): Judged {
  const proven = checks.length > 0 ? `; ${checks.length} of ${checks.length} checks passed` : ''
  return { passed: true, result, close_reason: `${result.reason ?? 'it gave its answer'}${proven}` }
}

export function failed(result: AgentResult, close_reason: string): Judged {
  return { passed: false, result, close_reason }
}
