import { type Plan, type PlanFault, type PlanOptions, type PlanPreview, type Retinue, readPlan } from '../../index.js'
import { editText } from './editor.js'
import { faultLines } from './faults.js'

/** `file`: what was written last is there, and nowhere else, until `forget`. */
type Written = { text: string; file: string; forget: () => Promise<void> }
type Left = Written & { kind: 'left'; faults: PlanFault[] }
export type Sound = Written & { kind: 'sound' } & Checked
type Checked = {
  plan: Plan
  /** null: it can be saved, but not be carried out here and now. */
  preview: PlanPreview | null
  /** What is in the way of that. */
  warnings: PlanFault[]
}
/** `failed`: there is no editor, or it did not end well. */
export type EditEnd = Sound | Left | { kind: 'unchanged'; failed: boolean }

/** Whether what was written is good enough. */
export type Edited = ({ ok: true } & Checked) | { ok: false; faults: PlanFault[] }

export type EditDesk = {
  say: (text: string) => void
  check: (text: string) => Promise<Edited>
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
    if (checked.ok) {
      const { plan, preview, warnings } = checked
      return { kind: 'sound', text, file, plan, preview, warnings, forget }
    }
    left = { kind: 'left', text, file, faults: checked.faults, forget }
    for (const fault of faultLines(name, checked.faults)) say(fault)
    if (!again || signal?.aborted || !(await again())) return left
  }
}

/** For a plan that is to be carried out now: every fault is one. */
export async function checkToCarryOut(retinue: Retinue, text: string, as: PlanOptions): Promise<Edited> {
  const checked = await retinue.checkPlan(text, as)
  return checked.ok ? { ...checked, warnings: [] } : checked
}

/** For a plan that is only saved: what depends on where and how it is carried out may be otherwise by then. */
export async function checkToSave(retinue: Retinue, text: string, as: PlanOptions): Promise<Edited> {
  const read = readPlan(text)
  if (!read.ok) return read
  const checked = await checkToCarryOut(retinue, text, as)
  return checked.ok ? checked : { ok: true, plan: read.plan, preview: null, warnings: checked.faults }
}
