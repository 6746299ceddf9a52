import { type StoredEvent, stepLabel } from '../../index.js'
import { duration, line, type Paint, plural } from '../style.js'

type PlanLineOptions = {
  paint: Paint
  /** The run is worked on by another process. */
  elsewhere: boolean
  /** A tree beside the lines shows what is under way. */
  in_tree: boolean
  /** How a step is called. */
  step: (id: string) => string
  /** `3 of 7 steps completed`, after this event. */
  total: string | null
}

/** What happens to a plan, as a line for a person. undefined: it is about something else; null: it says nothing new. */
export function planLine(event: StoredEvent, options: PlanLineOptions): string | null | undefined {
  const { paint, elsewhere, in_tree, step, total } = options
  const { cyan, dim, green, red, yellow } = paint
  switch (event.type) {
    case 'plan.steps_added': {
      const steps = event.data.steps.map((one) => `${line(stepLabel(one))} ${line(one.title)}`)
      return `${cyan('▸')} ${plural(steps.length, 'step')}: ${steps.join('; ')}`
    }
    case 'plan.proposed': {
      // Where it is asked about, or is all that there will be, the preview says it.
      const { by, plan } = event.data
      return elsewhere ? `${cyan('▸')} ${WHO[by]} proposes a plan with ${plural(plan.steps.length, 'step')}` : null
    }
    case 'plan.adopted': {
      const { revision, steps, by, reason } = event.data
      const what = revision === 1 ? 'a plan' : `revision ${revision} of the plan`
      const why = reason === null ? '' : `, because ${line(reason)}`
      return `${cyan('▸')} ${what} by ${WHO[by]} with ${plural(steps.length, revision === 1 ? 'step' : 'new step')}${why}`
    }
    case 'plan.approval_asked': {
      // At the terminal that asks, the question itself is what is seen.
      if (!elsewhere) return null
      const what = event.data.step === null ? 'carry the plan out' : `begin ${step(event.data.step)}`
      return `${yellow('?')} waits for a person: whether to ${what}`
    }
    case 'plan.approval_answered': {
      const { answer, by, note, step: id } = event.data
      if (!elsewhere && by === 'person') return null
      const what = id === null ? 'the plan' : step(id)
      return `${answer === 'approved' ? green('✓') : yellow('!')} ${what} ${answer} by ${line(by)}${note === null ? '' : `: ${line(note)}`}`
    }
    case 'plan.step_started': {
      const { attempt } = event.data
      return attempt > 1 ? `${yellow('!')} ${step(event.data.step)} is tried again, attempt ${attempt}` : null
    }
    case 'plan.step_ended': {
      const { status, reason } = event.data
      const mark = { completed: green('✓'), failed: red('✗'), skipped: yellow('–') }[status]
      const why = reason === null ? '' : `: ${line(firstLine(reason))}`
      return `${mark} ${step(event.data.step)} ${status}${why}${total === null ? '' : ` ${dim(`· ${total}`)}`}`
    }
    case 'plan.check_started':
      return in_tree ? null : dim(`  checks the whole: ${line(event.data.what)}`)
    case 'plan.checked': {
      const { passed, what, detail, duration_ms } = event.data
      if (passed) return `${green('✓')} check of the whole passed: ${line(what)} ${dim(`· ${duration(duration_ms)}`)}`
      return `${red('✗')} check of the whole failed: ${line(what)}: ${line(firstLine(detail))}`
    }
    case 'plan.reviewed': {
      const { findings } = event.data
      if (findings.length === 0) return `${green('✓')} the review found nothing`
      const titles = findings.map(({ title }) => line(title))
      return `${yellow('!')} the review found ${plural(findings.length, 'fault')}: ${titles.join('; ')}`
    }
    case 'plan.ended': {
      const { status, reason } = event.data
      return status === 'failed' ? `${red('✗')} the plan failed${reason === null ? '' : `: ${line(reason)}`}` : null
    }
    default:
      return undefined
  }
}

const WHO = { person: 'a person', planner: 'the planner', program: 'a program' } as const

function firstLine(text: string): string {
  const first = text.split('\n', 1)[0] as string
  return first.length > 200 ? `${first.slice(0, 199)}…` : first
}
