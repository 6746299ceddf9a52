import { namesInWords, type PlanPreview } from '../../index.js'
import { line, type Paint, plural } from '../style.js'
import { estimateLines, stepEstimate } from './estimate-words.js'

type PreviewedStep = PlanPreview['steps'][number]

/** A plan before anything is done: who does what, when and why not sooner, what it may write, and what it may come to. */
export function previewLines(preview: PlanPreview, paint: Paint): string[] {
  const { goal, assumptions, completion_criteria, checks, steps, parallel } = preview
  return [
    `${paint.bold('Plan:')} ${line(goal)}`,
    paint.dim(`${plural(steps.length, 'step')}${steps.length < 2 ? '' : `, ${atOnce(parallel.most)}`}`),
    '',
    ...wavesOf(steps).flatMap((wave, i) => waveLines(wave, i + 1, paint)),
    ...listed('Not more at once', parallel.why),
    ...listed('Taken for granted', assumptions),
    ...listed('Done when', completion_criteria),
    ...listed('Checks of the whole', checks),
    ...estimateLines(preview.estimate),
  ]
}

function atOnce(most: number): string {
  return most < 2 ? 'one after the other' : `at most ${most} side by side`
}

function wavesOf(steps: readonly PreviewedStep[]): PreviewedStep[][] {
  const numbers = [...new Set(steps.map(({ wave }) => wave))].sort((a, b) => a - b)
  return numbers.map((number) => steps.filter(({ wave }) => wave === number))
}

function waveLines(steps: readonly PreviewedStep[], number: number, paint: Paint): string[] {
  const first = number === 1 ? 'First' : 'Then'
  return [
    paint.dim(`${first}${steps.length > 1 ? ', side by side' : ''}:`),
    ...steps.flatMap((step) => stepLines(step, paint)),
    '',
  ]
}

function stepLines(step: PreviewedStep, paint: Paint): string[] {
  const { id, title, agent, needs_approval, depends_on, waits, checks, label } = step
  const who = agent === null ? '' : `${line(agent)}: `
  const asks = needs_approval ? paint.yellow(' (you are asked before it begins)') : ''
  const more = [
    `${writes(step)}${depends_on.length > 0 ? ` · after ${namesInWords(depends_on)}` : ''}`,
    label === undefined ? '' : `on a worker with the label ${label}`,
    ...waits.map(({ step: other, why }) => `waits for ${other}: ${why}`),
    ...checks.map((check) => `checked: ${check}`),
    stepEstimate(step.estimate),
  ]
  return [
    `  ${paint.cyan(line(id))} ${who}${line(title)}${asks}`,
    ...more.filter((text) => text !== '').map((text) => paint.dim(`    ${line(text)}`)),
  ]
}

function writes({ owns }: PreviewedStep): string {
  if (owns === null) return 'may write anything'
  return owns.length === 0 ? 'writes nothing' : `writes ${owns.join(', ')}`
}

function listed(label: string, texts: readonly string[]): string[] {
  const [only, ...others] = texts
  if (only === undefined) return []
  if (others.length === 0) return [`${label}: ${line(only)}`]
  return [`${label}:`, ...texts.map((text) => `  - ${line(text)}`)]
}
