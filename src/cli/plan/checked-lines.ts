import type { PlanCheck } from '../../index.js'
import type { Paint } from '../style.js'
import { faultLines } from './faults.js'
import { previewLines } from './preview-lines.js'

/** What a plan would come to, or why it cannot be carried out as it is. */
export function checkedLines(checked: PlanCheck, name: string, paint: Paint): string[] {
  if (checked.ok) return previewLines(checked.preview, paint)
  return [paint.yellow('It cannot be carried out as it is:'), ...faultLines(name, checked.faults)]
}
