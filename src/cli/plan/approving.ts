import { type Person, type Plan, type PlanCheck, type PlanPreview, writePlan } from '../../index.js'
import { choose } from '../question/choose.js'
import type { Desk } from '../question/prompt.js'
import { write } from '../question/write.js'
import { line, type Paint } from '../style.js'
import { editPlan } from './editing.js'
import { faultLines } from './faults.js'
import { previewLines } from './preview-lines.js'

type Approve = NonNullable<Person['approve']>
type Proposal = Parameters<Approve>[0]
type Approval = Awaited<ReturnType<Approve>>

type Asked = {
  desk: Desk
  say: (text: string) => void
  signal: AbortSignal
  paint: Paint
  /** Whether a plan that was edited could be carried out. Absent: it cannot be edited here. */
  check?: (text: string) => Promise<PlanCheck>
}

const LEAVE = 'Leave it for later: the plan is saved'
const EDIT = 'Edit it'
const CARRY_OUT = 'Carry it out'

/** Asks whether a plan is carried out, edited first, or left; or whether one of its steps begins. */
export function approve(proposal: Proposal, asked: Asked): Promise<Approval> {
  return proposal.step === null ? approvePlan(proposal, asked) : approveStep(proposal, proposal.step, asked)
}

async function approvePlan({ plan, preview, faults }: Proposal, asked: Asked): Promise<Approval> {
  const { say, paint, check } = asked
  let shown: { plan: Plan; preview: PlanPreview | null; edited: boolean } = {
    plan,
    preview: preview as PlanPreview | null,
    edited: false,
  }
  const show = () => {
    say('')
    if (shown.preview) for (const text of previewLines(shown.preview, paint)) say(text)
  }
  show()
  for (const text of faultLines('plan', [...faults])) say(text)
  const labels = [LEAVE, ...(check ? [EDIT] : []), ...(faults.length === 0 ? [CARRY_OUT] : [])]
  for (;;) {
    say('')
    say('? Carry this plan out?')
    const label = await chosen(labels, asked, 'leaves it')
    if (label === null) return null
    say(`  → ${label}`)
    if (label === CARRY_OUT) {
      return { answer: 'approve', by: 'person', note: null, ...(shown.edited ? { plan: shown.plan } : {}) }
    }
    if (label === LEAVE || !check) return { answer: 'decline', by: 'person', note: null }
    const edited = await editPlan(writePlan(shown.plan), {
      ...{ say, check, signal: asked.signal, name: 'plan' },
      again: async () => (await chosen([LEAVE, 'Edit it again'], asked, 'leaves it')) === 'Edit it again',
    })
    if (edited.kind === 'left') {
      say(`  → ${LEAVE} as it was before; what you wrote is in ${edited.file}`)
      return asked.signal.aborted ? null : { answer: 'decline', by: 'person', note: null }
    }
    if (edited.kind === 'sound') {
      await edited.forget()
      shown = { plan: edited.plan, preview: edited.preview, edited: true }
      if (!labels.includes(CARRY_OUT)) labels.push(CARRY_OUT)
      show()
    }
  }
}

async function approveStep({ plan }: Proposal, id: string, asked: Asked): Promise<Approval> {
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
    if (why.kind === 'stopped') return unanswered(say)
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
  if (ended.kind === 'stopped') return unanswered(say)
  return (ended.kind === 'answer' ? labels[ended.value] : labels[0]) ?? null
}

function unanswered(say: (text: string) => void): null {
  say('  → not answered')
  return null
}
