import { join } from 'node:path'
import { type AgentMemory, type AgentResult, type Child, foldAgent, type Redactor } from '../../domain/index.js'
import type { Host } from '../../host/index.js'
import { type PlanOutcome, planOutcome, planReport, writePlan } from '../../planning/index.js'
import type { Store } from '../../store/index.js'
import { reportOf } from './report.js'

/** Where the plan of a run is kept for people, relative to the folder. */
export function planFile(run_id: string): string {
  return join('.retinue', 'plans', `${run_id}.yaml`)
}

type Parts = {
  cwd: string
  host: Host
  store: Store
  redactor: Redactor
  run_id: string
  /** Whether the run was begun in another folder than this. */
  isAway: () => Promise<boolean>
}

/**
 * What a run leaves for people beside the log: plans and reports. They are in the folder that it was begun in, and in no
 * other: whoever works on it elsewhere writes none, and whoever waits for it there has them from the log.
 */
export class Papers {
  constructor(private readonly parts: Parts) {}

  /** `fresh`: it was made a moment ago. Answers with what went wrong, or null. */
  async savePlan(text: string, fresh: boolean): Promise<string | null> {
    if (await this.parts.isAway()) return null
    const { cwd, host, redactor, run_id } = this.parts
    const file = join(cwd, planFile(run_id))
    // A person may have changed it since: then it is not ours any more.
    if (!fresh && (await host.readText(file)) !== null) return null
    const written = host.writeReport(file, redactor.redact(text))
    return written.ok ? null : written.message
  }

  async reportPlan(outcome: PlanOutcome): Promise<void> {
    if (await this.parts.isAway()) return
    const { cwd, host, redactor, run_id } = this.parts
    host.writeReport(join(cwd, '.retinue', 'reports', run_id, 'plan.md'), redactor.redact(planReport(outcome)))
  }

  /** The log has it all: a report that cannot be written is no reason to lose the work, but it is said. */
  async report(child: Child, result: AgentResult): Promise<string | null> {
    const pattern = child.contract?.outputs.report_path_pattern
    if (!pattern || (await this.parts.isAway())) return null
    const { cwd, host, run_id } = this.parts
    const path = pattern
      .replaceAll('<run>', run_id)
      .replaceAll('<agent>', child.id)
      .replaceAll('<idx>', String(child.step_idx))
    const written = host.writeReport(join(cwd, path), reportOf(child, result))
    return written.ok ? null : written.message
  }

  /** For a run that others have carried out, perhaps elsewhere: what the log says, in the folder that it was begun in. */
  async bring(root: AgentMemory): Promise<void> {
    const [state] = root.plans
    if (state?.plan) await this.savePlan(writePlan(state.plan), false)
    if (state) await this.reportPlan(planOutcome(root, state))
    await this.#reports(root)
  }

  async #reports({ run_id, children }: AgentMemory): Promise<void> {
    for (const child of children) {
      if (!child.closed) continue
      const { result } = child.closed
      await this.report(child, result)
      // Those of another run that did the same before have theirs there.
      const has = (result.sub_agents ?? 0) > 0 && child.reused_from === null
      const memory = has ? foldAgent(await this.parts.store.read({ run_id, agent_id: child.id })) : null
      if (memory) await this.#reports(memory)
    }
  }
}
