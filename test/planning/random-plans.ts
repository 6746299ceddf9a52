import fc from 'fast-check'
import { type OnFailure, STEP_DEFAULTS, type StepSpec } from '../../src/domain/index.js'
import { stepOrder } from '../../src/planning/schedule.js'

/** How one attempt at a step comes out, and how long it takes. What fails when it is integrated was worked on first. */
export type Attempt = { takes: number; comes_out: 'well' | 'fails_at_work' | 'fails_integrated' }

/** A plan with everything decided that a run would find out. */
export type RandomPlan = {
  /** In the order in which their work is integrated. */
  steps: StepSpec[]
  /** What the planner makes of the rest when a step failed and it is asked. */
  rest: StepSpec[]
  /** Of each step, in order: one for each time that it may be tried. */
  attempts: Record<string, Attempt[]>
  limit: number
  on_failure: OnFailure
}

/** `failing`: of 100 attempts. `folders`: among which steps are spread; few make many overlaps. */
export type Shape = { steps: [number, number]; limit: [number, number]; folders: number; failing: number }

type Draft = { owns: StepSpec['owns']; retries: number; attempts: Attempt[] }

export function randomPlans(shape: Shape): fc.Arbitrary<RandomPlan> {
  const rest: Shape = { ...shape, steps: [1, 4] }
  return fc
    .record({
      first: parts('s', shape),
      second: parts('r', rest),
      limit: fc.integer({ min: shape.limit[0], max: shape.limit[1] }),
      on_failure: fc.constantFrom<OnFailure[]>('stop', 'continue', 'replan'),
    })
    .map(({ first, second, limit, on_failure }) => {
      const attempts = { ...first.attempts, ...second.attempts }
      return { steps: first.steps, rest: second.steps, attempts, limit, on_failure }
    })
}

/** Dependencies point forward in the list as well as backward, as in a file that a person wrote. */
function parts(name: string, shape: Shape): fc.Arbitrary<Pick<RandomPlan, 'steps' | 'attempts'>> {
  const [least, most] = shape.steps
  return fc.integer({ min: least, max: most }).chain((n) => {
    const number = fc.nat({ max: n - 1 })
    const ids = Array.from({ length: n }, (_, i) => `${name}${i}`)
    return fc
      .record({
        drafts: fc.array(drafts(shape), { minLength: n, maxLength: n }),
        rank: fc.shuffledSubarray([...ids.keys()], { minLength: n }),
        arrows: fc.array(fc.tuple(number, number), { maxLength: Math.floor(n * 1.5) }),
      })
      .map(({ drafts, rank, arrows }) => {
        const isArrow = ([a, b]: [number, number]) => Number(rank[a]) < Number(rank[b])
        const specs = drafts.map((draft, i) => {
          const before = arrows.filter((arrow) => arrow[1] === i && isArrow(arrow)).map(([a]) => ids[a] as string)
          return stepOf(ids[i] as string, draft, [...new Set(before)])
        })
        const attempts = Object.fromEntries(drafts.map((draft, i) => [ids[i], draft.attempts]))
        return { steps: stepOrder(specs) ?? [], attempts }
      })
  })
}

function drafts({ folders, failing }: Shape): fc.Arbitrary<Draft> {
  const folder = fc.nat({ max: folders - 1 })
  const comes_out = fc.oneof(
    { weight: 100 - failing, arbitrary: fc.constant('well' as const) },
    { weight: failing, arbitrary: fc.constantFrom('fails_at_work' as const, 'fails_integrated' as const) },
  )
  const attempt = fc.record({ takes: fc.integer({ min: 1, max: 10 }), comes_out })
  return fc.record({
    owns: fc.oneof<fc.WeightedArbitrary<StepSpec['owns']>[]>(
      { weight: 6, arbitrary: folder.map((n) => [`f${n}/**`]) },
      { weight: 4, arbitrary: fc.tuple(folder, folder).map(([n, m]) => [`f${n}/one.ts`, `f${m}/deep/two.md`]) },
      { weight: 1, arbitrary: fc.constant(['**/*.md']) },
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.constant(null) },
    ),
    retries: fc.constantFrom(0, 0, 0, 1, 2),
    attempts: fc.array(attempt, { minLength: 3, maxLength: 3 }),
  })
}

function stepOf(id: string, { owns, retries }: Draft, depends_on: string[]): StepSpec {
  const text = { title: `Step ${id}`, description: 'Do it.' }
  const lists = { success_criteria: [], checks: [], inputs: [] }
  return { ...STEP_DEFAULTS, ...text, ...lists, id, stage: 'work', depends_on, owns, retries, budget: {} }
}

/** Whether two steps own the same file, by a second opinion on what the globs above match. */
export function ownTheSame(a: Pick<StepSpec, 'owns'>, b: Pick<StepSpec, 'owns'>, folders: number): boolean {
  const files = new Set(filesOf(a, folders))
  return filesOf(b, folders).some((file) => files.has(file))
}

function filesOf({ owns }: Pick<StepSpec, 'owns'>, folders: number): string[] {
  return (owns ?? []).flatMap((glob) => {
    if (glob === '**/*.md') return Array.from({ length: folders }, (_, n) => `f${n}/deep/two.md`)
    const [folder] = glob.split('/')
    return glob.endsWith('/**') ? [`${folder}/one.ts`, `${folder}/deep/two.md`] : [glob]
  })
}
