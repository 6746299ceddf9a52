import type { Plan, PlanCheck, PlanFault, PlanPreview } from '../../index.js'
import { editText } from './editor.js'
import { faultLines } from './faults.js'

/** `file`: what was written last is there, and nowhere else, until `forget`. */
type Left = { kind: 'left'; text: string; file: string; faults: PlanFault[]; forget: () => Promise<void> }
type Sound = { kind: 'sound'; text: string; plan: Plan; preview: PlanPreview; forget: () => Promise<void> }
/** `failed`: there is no editor, or it did not end well. */
export type EditEnd = Sound | Left | { kind: 'unchanged'; failed: boolean }

export type EditDesk = {
  say: (text: string) => void
  check: (text: string) => Promise<PlanCheck>
  /** Whether to edit what has faults once more. Absent: nobody can be asked. */
  again?: () => Promise<boolean>
  /** How the plan is called where its faults are said. */
  name: string
  signal?: AbortSignal
}

/** A plan in the person's editor, again and again until it has no fault or they leave it. */
export async function editPlan(before: string, { say, check, again, signal, name }: EditDesk): Promise<EditEnd> {
  let left: Left | null = null
  for (;;) {
    const edited = await editText(left?.text ?? before, { env: process.env, ...(signal ? { signal } : {}) })
    if (!edited.ok) {
      say(edited.message)
      return left ?? { kind: 'unchanged', failed: true }
    }
    await left?.forget()
    const { text, file, forget } = edited
    if (text === before) {
      await forget()
      say('The plan is as it was.')
      return { kind: 'unchanged', failed: false }
    }
    const checked = await check(text)
    if (checked.ok) return { kind: 'sound', text, plan: checked.plan, preview: checked.preview, forget }
    left = { kind: 'left', text, file, faults: checked.faults, forget }
    for (const fault of faultLines(name, checked.faults)) say(fault)
    if (!again || signal?.aborted || !(await again())) return left
  }
}
