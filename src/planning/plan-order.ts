import { namesInWords, nearest, type PlanStep, quoted } from '../domain/index.js'
import { type FaultAt, MOST_FAULTS } from './plan-fields.js'
import type { Reference, StepDraft } from './plan-steps.js'

type Named = StepDraft & { id: string }

/** The steps with what they come after and are given, as ids. */
export function orderSteps(drafts: readonly StepDraft[], faults: FaultAt[]): PlanStep[] {
  const named = drafts.map((draft, i): Named => ({ ...draft, id: draft.own_id ?? String(i + 1) }))
  const twice = idFaults(named, faults)
  const unsure = new Set<string>()
  const after = new Map<string, string[]>()
  for (const draft of named) {
    const found = draft.depends_on.map((reference) => {
      const id = idOf(reference, draft, named, faults)
      if (id === null || twice.has(id)) unsure.add(draft.id)
      if (id !== draft.id || twice.has(id)) return id
      faults.push({ path: reference.path, message: `step ${id} depends on itself: remove it` })
      return null
    })
    after.set(draft.id, distinct(found))
  }
  const told = new Map([...after].filter(([id]) => !twice.has(id)))
  circleFaults(named, told, faults)
  return named.map((draft) => {
    const depends_on = after.get(draft.id) ?? []
    const inputs = draft.inputs === null ? depends_on : inputsOf(draft, { named, after, twice, unsure }, faults)
    return { id: draft.id, ...draft.step, depends_on, inputs }
  })
}

/** Notes ids that several steps have, and answers with them: nobody can say which of these another one means. */
function idFaults(named: readonly Named[], faults: FaultAt[]): Set<string> {
  const first = new Map<string, number>()
  const twice = new Set<string>()
  for (const [i, { id, path, own_id }] of named.entries()) {
    const before = first.get(id)
    if (before === undefined) {
      first.set(id, i)
      continue
    }
    twice.add(id)
    const how = own_id === null ? 'has no id and is known by its place' : 'has the same'
    const at = own_id === null ? path : [...path, 'id']
    faults.push({
      path: at,
      message: `the id ${id} is that of steps[${before}], and this step ${how}: give it another`,
    })
  }
  return twice
}

/** null: there is no such step, which is noted. */
function idOf({ value, path }: Reference, { id }: Named, named: readonly Named[], faults: FaultAt[]): string | null {
  const no = (message: string) => {
    faults.push({ path, message })
    return null
  }
  if (typeof value === 'string') {
    if (named.some((one) => one.id === value)) return value
    const others = named.map((one) => one.id).filter((one) => one !== id)
    // To look for it takes a while, and nobody is told of more.
    const near = faults.length < MOST_FAULTS ? nearest(value, others) : null
    const hint = near === null ? whichThereAre(others) : `did you mean ${near}?`
    return no(`there is no step ${quoted(value)}: ${hint}`)
  }
  if (!Number.isInteger(value)) return no(`must be the id of a step or its number, not ${quoted(value)}`)
  const number = value as number
  const there = named[number - 1]
  const count = named.length === 1 ? 'the plan has 1 step' : `the plan has ${named.length} steps, counted from 1`
  if (!there) return no(`there is no step ${number}: ${count}`)
  const namesake = named.find((one) => one.id === String(number))
  if (!namesake || namesake.id === there.id) return there.id
  return no(
    `${number} could be step ${there.id}, by its place, or the step whose id is ${number}: write "${number}" or "${there.id}"`,
  )
}

/** One fault for each circle, the shortest first from where it is first met, until none is left. */
function circleFaults(named: readonly Named[], after: ReadonlyMap<string, string[]>, faults: FaultAt[]): void {
  const open = new Map([...after].map(([id, ids]) => [id, new Set(ids)]))
  for (const { id, path } of named) {
    for (let circle = circleOf(id, open); circle; circle = circleOf(id, open)) {
      const all = [...circle, id]
      const message = `steps ${all.join(' → ')} wait for each other: remove one of these dependencies`
      faults.push({ path: [...path, 'depends_on'], message })
      for (const [i, one] of circle.entries()) open.get(one)?.delete(all[i + 1] as string)
    }
  }
}

/** The shortest way from a step back to itself; null: there is none. */
function circleOf(start: string, after: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const ways: string[][] = [[start]]
  const seen = new Set<string>()
  for (let way = ways.shift(); way; way = ways.shift()) {
    for (const next of after.get(way.at(-1) as string) ?? []) {
      if (next === start) return way
      if (seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return null
}

/** What is known of the steps, and of which of them it is not quite known what they come after. */
type Known = {
  named: readonly Named[]
  after: ReadonlyMap<string, readonly string[]>
  twice: ReadonlySet<string>
  unsure: ReadonlySet<string>
}

function inputsOf(draft: Named, { named, after, twice, unsure }: Known, faults: FaultAt[]): string[] {
  const before = ancestorsOf(draft.id, after)
  // Where it is not known what a step comes after, nobody can say that it does not come after another.
  const isSure = ![draft.id, ...before].some((id) => unsure.has(id) || twice.has(id))
  const found = (draft.inputs ?? []).map((reference) => {
    const id = idOf(reference, draft, named, faults)
    const no = (message: string) => faults.push({ path: reference.path, message })
    if (id === null || twice.has(id)) return id
    if (id === draft.id) no(`step ${id} cannot be given its own result: remove it`)
    else if (isSure && !before.has(id)) {
      no(`step ${draft.id} does not come after step ${id}, whose result it is to be given: add ${id} to its depends_on`)
    }
    return id
  })
  return distinct(found)
}

function ancestorsOf(id: string, after: ReadonlyMap<string, readonly string[]>): Set<string> {
  const before = new Set<string>()
  const open = [...(after.get(id) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (before.has(next)) continue
    before.add(next)
    open.push(...(after.get(next) ?? []))
  }
  return before
}

function distinct(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids)].filter((id) => id !== null)
}

function whichThereAre(ids: readonly string[]): string {
  if (ids.length < 2) return ids.length === 0 ? 'there is no other' : `there is ${ids[0]}`
  return `there are ${ids.length > 12 ? namesInWords(ids) : ids.join(', ')}`
}
