import { claimOf, mayChange, mayOverlap, namesInWords, type StepSpec } from '../domain/index.js'
import type { Rehearsed } from './rehearsal.js'

/** What a step waits for besides what it depends on. */
export type Wait = { step: string; why: string; kind: 'overlap' | 'order' | 'limit' }

/** So many pairs of globs are named. */
const MOST_GLOBS = 3

/**
 * For each step, in order, what it waits for besides what it depends on. What it waits for anyway, because of something
 * else that it waits for, is left out.
 */
export function waitsOf(course: readonly Rehearsed[], limit: number): Map<string, Wait[]> {
  const byId = new Map(course.map((one) => [one.step.id, one]))
  const all = new Map<string, Wait[]>()
  /** All that is over before a step begins. */
  const before = new Map<string, Set<string>>()
  for (const rehearsed of course) {
    const { step, crowded_by } = rehearsed
    const known = new Set<string>()
    const after = (id: string) => {
      known.add(id)
      for (const one of before.get(id) ?? []) known.add(one)
    }
    const waits: Wait[] = []
    for (const id of step.depends_on) after(id)
    for (const other of writersBefore(rehearsed, course).reverse()) {
      if (known.has(other.id) || !mayOverlap(claimOf(other), claimOf(step))) continue
      waits.push({ step: other.id, why: overlapInWords(other, step), kind: 'overlap' })
      after(other.id)
    }
    for (const id of step.depends_on) {
      const first = heldUpBy(byId.get(id), course)
      if (!first || known.has(first)) continue
      const why = `work is integrated in the order of the steps, that of step ${id}, which it depends on, after that of step ${first}`
      waits.push({ step: first, why, kind: 'order' })
      after(first)
    }
    const [crowd] = crowded_by
    if (crowd !== undefined) {
      const why = `no more than ${limit} at once: ${crowded_by.length === 1 ? `${crowd} must` : `one of ${namesInWords(crowded_by)} must`} have done its work`
      waits.push({ step: crowd, why, kind: 'limit' })
    }
    all.set(step.id, waits)
    before.set(step.id, known)
  }
  return all
}

/** Those whose files are compared with its own when it is about to begin. */
function writersBefore({ step }: Rehearsed, course: readonly Rehearsed[]): StepSpec[] {
  if (step.owns === null) return []
  return course.flatMap(({ step: other }) => (other.position < step.position && other.owns !== null ? [other] : []))
}

/** Of the steps that are integrated before one whose work was done, the last. */
function heldUpBy(one: Rehearsed | undefined, course: readonly Rehearsed[]): string | null {
  if (!one || one.ended === one.done) return null
  const held = course.filter(
    ({ step, ended }) => step.position < one.step.position && mayChange(step) && ended > one.done,
  )
  return held.at(-1)?.step.id ?? null
}

function overlapInWords(first: StepSpec, second: StepSpec): string {
  const [one, other] = [first, second].map((step) => mayWriteAnything(step))
  if (one && other) return `both may write anything: give them \`owns\``
  if (one || other) return `step ${one ? first.id : second.id} may write anything: give it \`owns\``
  const pairs = claimOf(first).flatMap((a) => claimOf(second).flatMap((b) => (mayOverlap([a], [b]) ? [{ a, b }] : [])))
  const said = pairs.slice(0, MOST_GLOBS).map(({ a, b }) => (a === b ? a : `${a} and ${b}`))
  const more = pairs.length > MOST_GLOBS ? ` and ${pairs.length - MOST_GLOBS} more` : ''
  return `both may write the same${said.length > 0 ? `: ${said.join(', ')}${more}` : ''}`
}

function mayWriteAnything(step: StepSpec): boolean {
  return claimOf(step).some((glob) => glob === '**' || glob === '**/*')
}
