import type { Plan, PlanFault } from '../../index.js'
import { canAsk, isAsked } from '../audience.js'
import { refuseToDetach } from '../detach.js'
import { type DriveOptions, drive } from '../drive.js'
import { EXIT } from '../exit.js'
import { withRetinue } from '../open.js'
import { planDriving } from '../plan/driving.js'
import { refusal, unsound } from '../plan/faults.js'
import { optionsFor } from '../plan/of-run.js'
import { findPlan, refuseOpen } from '../plan/source.js'
import { line } from '../style.js'
import { offerTrust } from '../trust.js'
import type { PlanFlags } from './plan.js'

/** Carries out the plan of a file, or the saved one of a run. Where nobody can be asked, naming it is the yes to it. */
export async function planRun(named: string, flags: PlanFlags): Promise<number> {
  refuseToDetach(flags)
  const asks = isAsked(flags) && flags.yes !== true
  if (canAsk(flags) && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, async (retinue) => {
    const { name, text, run } = await findPlan(retinue, named)
    refuseOpen(run, 'begun again')
    const options = await optionsFor(retinue, run, flags)
    const checked = await retinue.checkPlan(text, options)
    if (!checked.ok) throw refusal(flags, unsound(name, checked.faults), checked.faults)
    const unasked = asks || flags.yes === true ? [] : wantingApproval(checked.plan)
    if (unasked.length > 0) throw refusal(flags, nobodyAsked(checked.plan), unasked)
    const driving: DriveOptions = { ...flags, ...planDriving(retinue, { ...flags, as: options }) }
    const approve = asks ? ('ask' as const) : ('yes' as const)
    return drive(retinue, driving, (watching) => retinue.executePlan(text, { ...options, approve, ...watching }))
  })
}

/** A step that wants a yes of its own does not get it from whoever only named the plan. */
function wantingApproval({ steps }: Plan): PlanFault[] {
  return steps.flatMap(({ needs_approval }, i) => {
    const message = 'needs approval, and nobody can be asked: say --yes to approve'
    return needs_approval ? [{ path: `steps[${i}].needs_approval`, message }] : []
  })
}

function nobodyAsked({ steps }: Plan): string {
  const wanting = steps.filter(({ needs_approval }) => needs_approval)
  const names = wanting.map(({ id, title }) => `${line(id)} (${line(title)})`).join(', ')
  const which = wanting.length === 1 ? `step ${names} needs` : `steps ${names} need`
  return `${which} approval and nobody can be asked: say --yes to approve. Nothing was begun`
}
