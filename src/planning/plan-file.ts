import type { Plan } from '../domain/index.js'
import type { PlanFault } from './faults.js'
import { type FaultAt, MOST_FAULTS, pathOf, pathText } from './plan-fields.js'
import { readPlanValue } from './plan-read.js'
import { MAX_PLAN_CHARS, readPlanText, tooLarge } from './plan-text.js'
import { type LineOf, MAX_DEPTH, TOO_DEEP } from './plan-yaml.js'

export { writePlan } from './plan-write.js'

export type PlanReading = { ok: true; plan: Plan } | { ok: false; faults: PlanFault[] }

/** A plan from the text of a file, YAML or JSON; or from the answer of a model, which may stand in a fenced block. */
export function readPlan(text: string): PlanReading {
  const read = readPlanText(text)
  return read.ok ? planOf(read.value, read.lineOf) : read
}

/** The same from a value, with everything filled in that may be left out; or from a text, as above. */
export function planFrom(value: unknown): PlanReading {
  return typeof value === 'string' ? readPlan(value) : planOf(value, null)
}

/** Faults that were found in a plan, in the order of the text that it was read from, each with its line. */
export function withLines(faults: readonly PlanFault[], text: string): PlanFault[] {
  const read = readPlanText(text)
  if (!read.ok) return [...faults]
  return inOrder(faults.map((fault) => ({ ...fault, line: read.lineOf(pathOf(fault.path), 'value') })))
}

function planOf(value: unknown, lineOf: LineOf | null): PlanReading {
  const size = sizeFault(value)
  if (size !== null) return { ok: false, faults: [{ path: '', message: size }] }
  const { plan, faults } = readPlanValue(value)
  if (plan !== null && faults.length === 0) return { ok: true, plan }
  const told = faults.slice(0, MOST_FAULTS).map((fault) => located(fault, lineOf))
  const more = faults.length - told.length
  return {
    ok: false,
    faults: [...inOrder(told), ...(more > 0 ? [{ path: '', message: `and ${more} more faults` }] : [])],
  }
}

/** Aliases make a value larger than its text, and a program's value may be none that can be stored. */
function sizeFault(value: unknown): string | null {
  try {
    const { length } = JSON.stringify(value) ?? ''
    if (length > MAX_PLAN_CHARS) return tooLarge(length)
    return isDeeper(value, MAX_DEPTH) ? TOO_DEEP : null
  } catch {
    return 'the plan is no JSON: it has itself in it, or something that cannot be stored'
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}

function located({ path, message, key }: FaultAt, lineOf: LineOf | null): PlanFault {
  const fault = { path: pathText(path), message }
  return lineOf === null ? fault : { ...fault, line: lineOf(path, key ? 'key' : 'value') }
}

function inOrder(faults: readonly PlanFault[]): PlanFault[] {
  return [...faults].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
}
