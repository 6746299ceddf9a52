import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MAX_STEPS, type Plan, type PlanStep, planSchema } from '../../src/domain/index.js'
import { planFrom, readPlan, writePlan } from '../../src/planning/index.js'
import '../support/seed.js'

/** Texts as people and models write them, and some that are hard to write as YAML. */
const said = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
    fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 30 }),
    fc.array(fc.lorem({ maxCount: 12 }), { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n')),
    fc.lorem({ maxCount: 60 }).map((text) => `${text}\n`),
    fc.constantFrom(
      'yes',
      '1',
      '~',
      'null',
      '- a',
      '# b',
      'a: b',
      '```\nx\n```',
      '---',
      '"',
      "'",
      '|',
      'é\u2028',
      '{',
      '*a',
    ),
  )
  .filter((text) => text.trim() !== '')
const texts = fc.array(said, { maxLength: 3 })
const glob = fc.constantFrom('src/**', 'docs/*.md', '*', '.', 'a b/c', '{a,b}/**', './x', '**/y', '#z', '- w')
const id = fc.oneof(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/), fc.integer({ min: 1, max: 9 }).map(String))

const schema = fc
  .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, never>)
const command = said.map((text) => ({ kind: 'command' as const, command: text }))
const paths = fc
  .record(
    { exist: fc.array(glob, { minLength: 1 }), unchanged: fc.array(glob), unmarked: fc.array(said) },
    { requiredKeys: ['exist'] },
  )
  .map((value) => ({ kind: 'paths' as const, ...value }))
const ofSchema = schema.map((value) => ({ kind: 'schema' as const, schema: value }))

const budget = fc.record(
  {
    tool_calls: fc.integer({ min: 1 }),
    turns: fc.integer({ min: 1 }),
    context_tokens: fc.integer({ min: 1 }),
    wall_ms: fc.integer({ min: 5000 }),
    total_tokens: fc.option(fc.integer({ min: 2000 })),
    cost_usd: fc.option(fc.double({ min: 0.0001, max: 1e6, noNaN: true })),
    sub_agents: fc.integer({ min: 0 }),
  },
  { requiredKeys: [] },
)

const step = fc.record(
  {
    title: said,
    description: said,
    agent: fc.option(said),
    owns: fc.array(glob, { maxLength: 3 }),
    success_criteria: texts,
    checks: fc.array(fc.oneof(command, paths, ofSchema), { maxLength: 3 }),
    budget,
    needs_approval: fc.boolean(),
    retries: fc.integer({ min: 0, max: 5 }),
  },
  {
    requiredKeys: [
      'title',
      'description',
      'agent',
      'success_criteria',
      'checks',
      'budget',
      'needs_approval',
      'retries',
    ],
  },
)

/** Each depends on some that come before it, and is given the results of some that it comes after. */
const steps = fc
  .uniqueArray(id, { minLength: 1, maxLength: 8 })
  .filter((ids) => !ids.some((one) => /^(?:research|plan|replan|review|repair)-\d/.test(one)))
  .chain((ids) =>
    fc
      .tuple(
        ...ids.map((own, i) => fc.tuple(fc.constant(own), step, fc.subarray(ids.slice(0, i)), fc.option(fc.nat()))),
      )
      .map((all) =>
        all.map(([own, rest, depends_on, fewer]): PlanStep => {
          const inputs = fewer === null ? depends_on : depends_on.slice(0, fewer % (depends_on.length + 1))
          return { id: own, ...rest, depends_on, inputs } as PlanStep
        }),
      ),
  )

const plan = fc.record(
  {
    version: fc.constant(1 as const),
    goal: said,
    assumptions: texts,
    completion_criteria: texts,
    checks: fc.array(fc.oneof(command, paths), { maxLength: 3 }),
    on_failure: fc.constantFrom('stop', 'continue', 'replan'),
    replans: fc.integer({ min: 0, max: 5 }),
    repair_rounds: fc.integer({ min: 0, max: 5 }),
    max_concurrent: fc.integer({ min: 1, max: 1000 }),
    steps,
  },
  {
    requiredKeys: [
      'version',
      'goal',
      'assumptions',
      'completion_criteria',
      'checks',
      'on_failure',
      'replans',
      'repair_rounds',
      'steps',
    ],
  },
) as fc.Arbitrary<Plan>

it('a plan that is written and read again is the same, as YAML and as JSON', () => {
  fc.assert(
    fc.property(plan, (given) => {
      const text = writePlan(given)
      expect(readPlan(text)).toEqual({ ok: true, plan: given })
      expect(readPlan(JSON.stringify(given))).toEqual({ ok: true, plan: given })
      expect(writePlan(planSchema.parse(given))).toBe(text)
    }),
    { numRuns: process.env.RETINUE_FULL ? 2000 : 150 },
  )
})

it('whatever stands in a file, reading it gives a sound plan or faults', () => {
  const names = fc.constantFrom(
    'version',
    'goal',
    'steps',
    'checks',
    'id',
    'description',
    'depends_on',
    'inputs',
    'owns',
    'budget',
    'agent',
    'kind',
    'x',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(1, 0, -1, 1.5, null, true, '', 'a', '1', Number.NaN, undefined),
      tie('list'),
      tie('map'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    map: fc.dictionary(names, tie('value'), { maxKeys: 6 }),
  }))
  const parts = fc.record(
    { goal: value, steps: fc.array(value, { maxLength: 5 }), checks: value },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      fc.oneof(
        value,
        parts.map((some) => ({ version: 1, ...some })),
      ),
      fc.string(),
      (given, text) => {
        for (const read of [planFrom(given), readPlan(text), readPlan(JSON.stringify(given) ?? '')]) {
          if (read.ok) expect(planSchema.safeParse(read.plan)).toEqual({ success: true, data: read.plan })
          else expect(read.faults.length).toBeGreaterThan(0)
        }
      },
    ),
    { numRuns: process.env.RETINUE_FULL ? 5000 : 400 },
  )
})

it('a text that was made to take long, or to become large, is refused and does no harm', () => {
  const many = (text: string, times: number) => text.repeat(times)
  const head = 'version: 1\ngoal: Tea for two\n'
  const names = Array.from({ length: MAX_STEPS }, (_, i) => `a-rather-long-name-of-a-step-${i}`)
  const texts = [
    many('[', 50_000),
    `a: ${many('{b: ', 50_000)}`,
    // In pairs these would be compared for minutes.
    Array.from({ length: 40_000 }, (_, i) => `key${i}: 1`).join('\n'),
    `a: &a [x, x, x, x, x, x, x, x, x]\n${[...'bcdefgh'].map((k, i) => `${k}: &${k} [${Array(9).fill(`*${'abcdefg'[i]}`)}]`).join('\n')}`,
    `${head}x: &x "${many('y', 400_000)}"\nsteps:\n${many('  - {description: *x}\n', 40)}`,
    `${head}steps:\n${many('  - {}\n', MAX_STEPS * 20)}`,
    `${head}steps:\n${names.map((id) => `  - {id: ${id}, description: d, depends_on: [${many('a-rather-long-nama-of, ', 300)}]}`).join('\n')}`,
    `${head}steps:\n${names.map((id) => `  - {id: ${id}, description: d, depends_on: [${names}]}`).join('\n')}`,
    many('```\n', 50_000),
    many('{\n', 50_000),
  ]
  for (const text of texts) {
    const read = readPlan(text)
    expect(read.ok || read.faults.length > 101).toBe(false)
  }
})
