import type { Retinue } from '../../index.js'
import type { DriveOptions } from '../drive.js'
import { checkToCarryOut } from './editing.js'
import { type EndingOptions, planEnding } from './ending.js'
import { savePlanOfRun } from './saving.js'

/** What more there is to a run of a plan: that the plan can be edited, and what is said at its end. */
export function planDriving(retinue: Retinue, options: EndingOptions): Pick<DriveOptions, 'editing' | 'ending'> {
  return {
    editing: (run_id) => ({
      check: (text) => checkToCarryOut(retinue, text, options.as),
      save: (text) => savePlanOfRun(retinue, run_id(), text),
    }),
    ending: planEnding(retinue, options),
  }
}
