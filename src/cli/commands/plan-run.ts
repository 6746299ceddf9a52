import { type Plan, RetinueError } from '../../index.js'
import { canAsk, type DriveOptions, drive } from '../drive.js'
import { EXIT } from '../exit.js'
import { withRetinue } from '../open.js'
import { planEnding } from '../plan/ending.js'
import { unsound } from '../plan/faults.js'
import { planOptions } from '../plan/flags.js'
import { findPlan, refuseOpen } from '../plan/source.js'
import { line } from '../style.js'
import { offerTrust } from '../trust.js'
import type { PlanFlags } from './plan.js'

/** Carries out the plan of a file, or the saved one of a run. Where nobody can be asked, naming it is the yes to it. */
export async function planRun(named: string, flags: PlanFlags): Promise<number> {
  const asks = canAsk(flags) && flags.yes !== true
  if (canAsk(flags) && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, async (retinue) => {
    const { name, text, run } = await findPlan(retinue, named)
    refuseOpen(run, 'begun again')
    const options = planOptions(flags)
    const checked = await retinue.checkPlan(text, options)
    if (!checked.ok) throw unsound(name, checked.faults)
    if (!asks && flags.yes !== true) refuseUnasked(checked.plan)
    const driving: DriveOptions = {
      ...flags,
      checkPlan: (edited) => retinue.checkPlan(edited, options),
      ending: planEnding(retinue, { ...flags, as: options }),
    }
    const approve = asks ? ('ask' as const) : ('yes' as const)
    return drive(retinue, driving, (watching) => retinue.executePlan(text, { ...options, approve, ...watching }))
  })
}

/** A step that wants a yes of its own does not get it from whoever only named the plan. */
function refuseUnasked({ steps }: Plan): void {
  const wanting = steps.filter(({ needs_approval }) => needs_approval)
  if (wanting.length === 0) return
  const names = wanting.map(({ id, title }) => `${line(id)} (${line(title)})`).join(', ')
  const which = wanting.length === 1 ? `step ${names} needs` : `steps ${names} need`
  throw new RetinueError('input', `${which} approval and nobody can be asked: say --yes to approve. Nothing was begun`)
}
