import { type Approval, type PlanPreview, type Proposal, writePlan } from '../../index.js'
import { choose } from '../question/choose.js'
import type { Desk } from '../question/prompt.js'
import { withdrawn } from '../question/withdrawn.js'
import { write } from '../question/write.js'
import { line, type Paint } from '../style.js'
import { type EditDesk, editPlan, type Sound } from './editing.js'
import { faultLines } from './faults.js'
import { previewLines } from './preview-lines.js'

/** For plans that are edited. `save`: keeps what was written where the plan is, and says where that is. */
export type PlanEditing = Pick<EditDesk, 'check'> & { save: (text: string) => Promise<string> }

type Asked = {
  desk: Desk
  say: (text: string) => void
  signal: AbortSignal
  paint: Paint
  /** Absent: it cannot be edited here. */
  editing?: PlanEditing
}

const LEAVE = 'Leave it for later: the plan is saved'
const EDIT = 'Edit it'
const CARRY_OUT = 'Carry it out'

/** Asks whether a plan is carried out, edited first, or left; or whether one of its steps begins. */
export function approve(proposal: Proposal, asked: Asked): Promise<Approval | null> {
  return proposal.step === null ? approvePlan(proposal, asked) : approveStep(proposal, proposal.step, asked)
}

async function approvePlan({ plan, preview, faults }: Proposal, asked: Asked): Promise<Approval | null> {
  const { say, paint, editing } = asked
  let edit: Pick<Sound, 'text' | 'plan'> | null = null
  const show = (preview: PlanPreview | null) => {
    say('')
    if (preview) for (const text of previewLines(preview, paint)) say(text)
  }
  show(preview as PlanPreview | null)
  for (const text of faultLines('plan', [...faults])) say(text)
  const labels = [LEAVE, ...(editing ? [EDIT] : []), ...(faults.length === 0 ? [CARRY_OUT] : [])]
  for (;;) {
    say('')
    say('? Carry this plan out?')
    const label = await chosen(labels, asked, 'leaves it')
    if (label === null) return null
    say(`  → ${label}`)
    if (label === CARRY_OUT) {
      return { answer: 'approve', by: 'person', note: null, ...(edit ? { plan: edit.plan } : {}) }
    }
    if (label === LEAVE || !editing) return { answer: 'decline', by: 'person', note: null }
    const edited = await editPlan(edit?.text ?? writePlan(plan), {
      ...{ say, check: editing.check, signal: asked.signal, name: 'plan' },
      again: async () => (await chosen([LEAVE, 'Edit it again'], asked, 'leaves it')) === 'Edit it again',
    })
    if (edited.kind === 'left') {
      if (asked.signal.aborted) {
        say(`  What you wrote is in ${line(edited.file)}`)
        return withdrawn(asked.signal, say)
      }
      say(`  → ${LEAVE} as it was before; what you wrote is in ${edited.file}`)
      return { answer: 'decline', by: 'person', note: null }
    }
    if (edited.kind === 'sound') {
      edit = edited
      if (!labels.includes(CARRY_OUT)) labels.push(CARRY_OUT)
      show(edited.preview)
      await keep(edited, editing, say)
    }
  }
}

/** At once, so that it is there in whatever way the question ends. */
async function keep(edited: Sound, editing: PlanEditing, say: Asked['say']): Promise<void> {
  try {
    say(`The plan as you changed it is saved in ${line(await editing.save(edited.text))}`)
    await edited.forget()
  } catch (error) {
    const why = (error as Error).message
    say(`The plan as you changed it could not be saved: ${line(why)}; what you wrote is in ${line(edited.file)}`)
  }
}

async function approveStep({ plan }: Proposal, id: string, asked: Asked): Promise<Approval | null> {
  const { say, desk, signal } = asked
  const step = plan.steps.find((one) => one.id === id)
  say('')
  if (step) for (const text of step.description.split('\n')) say(`  │ ${line(text)}`)
  const who = step?.agent ? ` by ${line(step.agent)}` : ''
  say(`? Begin step ${line(id)}${who}${step ? `: ${line(step.title)}` : ''}?`)
  const label = await chosen(['No', 'No, and say why', 'Yes, begin it'], asked, 'means no')
  if (label === null) return null
  if (label === 'No, and say why') {
    say('? Why not?')
    const why = await write(desk, signal, { calm: true })
    if (why.kind === 'stopped') return withdrawn(signal, say)
    const note = why.kind === 'answer' ? why.value : null
    say(`  → No${note === null ? '' : `: ${line(note)}`}`)
    return { answer: 'decline', by: 'person', note }
  }
  say(`  → ${label}`)
  return { answer: label === 'No' ? 'decline' : 'approve', by: 'person', note: null }
}

/** The first is what Enter and Esc mean. null: it is not asked any more. */
async function chosen(
  labels: readonly string[],
  { desk, signal, say }: Asked,
  on_escape: string,
): Promise<string | null> {
  const ended = await choose(desk, signal, { labels, chosen: 0, escape: on_escape })
  if (ended.kind === 'stopped') return withdrawn(signal, say)
  return (ended.kind === 'answer' ? labels[ended.value] : labels[0]) ?? null
}
