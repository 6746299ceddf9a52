import type { ContractFlags } from '../contract-flags.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { faultLines } from '../plan/faults.js'
import { optionsFor } from '../plan/of-run.js'
import { findPlan } from '../plan/source.js'
import { line, plural } from '../style.js'

type PlanCheckOptions = StoreOptions & ContractFlags & { json?: boolean }

/** Whether a plan could be carried out here. Its faults are what was asked for, so that they go to stdout. */
export async function planCheck(named: string, options: PlanCheckOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { name, text, run } = await findPlan(retinue, named)
    const checked = await retinue.checkPlan(text, await optionsFor(retinue, run, options))
    const faults = checked.ok ? [] : checked.faults
    if (options.json) process.stdout.write(`${JSON.stringify({ ok: checked.ok, faults })}\n`)
    else if (checked.ok) process.stdout.write(`${line(name)}: sound, ${plural(checked.plan.steps.length, 'step')}\n`)
    else for (const text of faultLines(name, faults)) process.stdout.write(`${text}\n`)
    return checked.ok ? EXIT.ok : EXIT.input
  })
}
