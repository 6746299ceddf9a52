import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Plan } from '../../src/domain/index.js'
import { planFaults, planFrom, readPlan, withLines, writePlan } from '../../src/planning/index.js'
import { planJsonSchema } from '../../src/planning/plan-answer.js'
import { createSchemaCompiler } from '../../src/tools/index.js'
import { surroundings } from './surroundings.js'

const GOOD = new URL('../fixtures/plans/good/', import.meta.url)
const PAGE = readFileSync(new URL('../../docs/plan-files.md', import.meta.url), 'utf8')

const TEA: Plan = {
  version: 1,
  goal: 'Tea for two',
  assumptions: ['There is water'],
  completion_criteria: [],
  checks: [{ kind: 'command', command: 'npm test' }],
  on_failure: 'continue',
  replans: 1,
  repair_rounds: 2,
  steps: [
    {
      id: '1',
      title: 'Boil water',
      description: 'Boil water\nin the large kettle,\nand wait.',
      agent: 'executor',
      depends_on: [],
      owns: ['kettle/**'],
      inputs: [],
      success_criteria: ['It boils: 100 °C'],
      checks: [{ kind: 'paths', exist: ['kettle/water.md'] }],
      budget: { tool_calls: 5, total_tokens: null },
      needs_approval: false,
      retries: 1,
    },
    {
      id: 'pour',
      title: 'Pour',
      description: 'Pour it',
      agent: null,
      depends_on: ['1'],
      inputs: [],
      success_criteria: [],
      checks: [],
      budget: {},
      needs_approval: true,
      retries: 0,
    },
    {
      id: '3',
      title: 'Serve it',
      description: 'Serve it',
      agent: null,
      depends_on: ['1', 'pour'],
      owns: [],
      inputs: ['1', 'pour'],
      success_criteria: [],
      checks: [],
      budget: {},
      needs_approval: false,
      retries: 0,
    },
  ],
}

const WRITTEN = `# A plan for Retinue: what is to be done, by whom, in which order, and how it is checked.
# Change it as you like and carry it out with: retinue plan run <file>

version: 1
goal: Tea for two
assumptions:
  - There is water
checks:
  - npm test
on_failure: continue
steps:
  - agent: executor
    description: |-
      Boil water
      in the large kettle,
      and wait.
    owns:
      - kettle/**
    success_criteria:
      - "It boils: 100 °C"
    checks:
      - kind: paths
        exist:
          - kettle/water.md
    budget:
      tool_calls: 5
      total_tokens: null
    retries: 1

  - id: pour
    title: Pour
    description: Pour it
    depends_on: [ 1 ]
    inputs: []
    needs_approval: true

  - description: Serve it
    depends_on: [ 1, pour ]
    owns: []
`

describe('a file that is good', () => {
  it.each(readdirSync(GOOD).filter((name) => !name.endsWith('.plan')))('%s is this plan', (name) => {
    const text = readFileSync(new URL(name, GOOD), 'utf8')
    const plan: unknown = JSON.parse(readFileSync(new URL(`${name}.plan`, GOOD), 'utf8'))
    expect(readPlan(text)).toEqual({ ok: true, plan })
  })

  it('is written for people: only what is not as usual, always in the same order', () => {
    expect(writePlan(TEA)).toBe(WRITTEN)
    const { steps, goal, ...rest } = TEA
    expect(writePlan({ steps, ...rest, goal })).toBe(WRITTEN)
    expect(readPlan(WRITTEN)).toEqual({ ok: true, plan: TEA })
  })

  it('may begin with a byte order mark and have the line breaks of another system', () => {
    expect(readPlan(`\uFEFF${WRITTEN.replaceAll('\n', '\r\n')}`)).toEqual({ ok: true, plan: TEA })
  })
})

describe('a plan of a program', () => {
  it('may leave out what a file may, and be the text of one', () => {
    const given = { version: 1, goal: 'Tea for two', max_concurrent: undefined, steps: [{ description: 'Make tea' }] }
    expect(planFrom(given)).toEqual(readPlan('{version: 1, goal: Tea for two, steps: [{description: Make tea}]}'))
    expect(planFrom(WRITTEN)).toEqual({ ok: true, plan: TEA })
  })

  it('has no lines in its faults', () => {
    expect(planFrom({ version: 1, goal: 'Tea for two', steps: [{ description: '' }] })).toEqual({
      ok: false,
      faults: [{ path: 'steps[0].description', message: 'is blank: say what is to be done in this step' }],
    })
  })

  it('is refused where it could not be stored', () => {
    const circle: Record<string, unknown> = { version: 1, goal: 'Tea for two' }
    circle.steps = [circle]
    const noJson = 'the plan is no JSON: it has itself in it, or something that cannot be stored'
    const deep = JSON.parse(`${'['.repeat(4000)}${']'.repeat(4000)}`)
    const tooDeep = 'lists and mappings are nested deeper than 100 levels: no plan needs that'
    const tooLarge = 'the plan has 1000035 characters: at most 1000000 are read'
    const withCheck = (schema: unknown) => ({ ...TEA, steps: [{ description: 'Boil', checks: [{ schema }] }] })
    const notJson = 'has something in it that is no JSON: take it out'
    expect(
      [
        circle,
        withCheck({ x: 1n }),
        withCheck({ x: deep }),
        { version: 1, goal: 'x'.repeat(1_000_000), steps: [1] },
        withCheck({ x: Number.NaN }),
      ].map((value) => planFrom(value)),
    ).toEqual([
      { ok: false, faults: [{ path: '', message: noJson }] },
      { ok: false, faults: [{ path: '', message: noJson }] },
      { ok: false, faults: [{ path: '', message: tooDeep }] },
      { ok: false, faults: [{ path: '', message: tooLarge }] },
      { ok: false, faults: [{ path: 'steps[0].checks[0].schema', message: notJson }] },
    ])
  })
})

it('tells a hundred faults and how many more there are', () => {
  const read = readPlan(
    `version: 1\ngoal: Tea for two\n${Array.from({ length: 130 }, (_, i) => `x${i}: 1\n`).join('')}`,
  )
  expect(read.ok ? [] : [read.faults.length, read.faults.at(-1)]).toEqual([
    101,
    { path: '', message: 'and 31 more faults' },
  ])
})

it('a text of more than a megabyte is not read', () => {
  expect(readPlan(`# ${'x'.repeat(1_000_000)}`)).toEqual({
    ok: false,
    faults: [{ path: '', message: 'the plan has 1000002 characters: at most 1000000 are read' }],
  })
})

describe('what is around a plan', () => {
  it('has no fault to find in one that fits', async () => {
    const step = TEA.steps[0] as Plan['steps'][number]
    const tested = { ...step, id: 'test', agent: 'tester', owns: ['**/*.test.js'], checks: [] }
    const schema = { ...step, id: 'ask', checks: [{ kind: 'schema' as const, schema: { type: 'object' } }] }
    const all = { wall_ms: 3_600_000, tool_calls: 200, total_tokens: 500_000, cost_usd: 2.5, sub_agents: 8 }
    const plan = { ...TEA, steps: [{ ...tested, budget: all }, { ...schema, budget: all }, ...TEA.steps.slice(1)] }
    const unlimited = { ...surroundings().budget, total_tokens: null }
    expect(await planFaults(plan, surroundings())).toEqual([])
    expect(await planFaults(TEA, { ...surroundings(), budget: unlimited })).toEqual([])
  })

  it('asks about each command of a check once for each place where it stands', async () => {
    const asked: string[] = []
    const refusal = async (command: string) => {
      asked.push(command)
      return null
    }
    expect(
      await planFaults(TEA, { ...surroundings(), refusal, budget: { ...surroundings().budget, total_tokens: null } }),
    ).toEqual([])
    expect(asked).toEqual(['npm test'])
  })

  it('gives the lines of the file to what was found later, in its order', () => {
    const faults = [
      { path: 'steps[1].agent', message: 'b' },
      { path: 'checks[0]', message: 'a' },
      { path: 'steps[0].checks[0]', message: 'c' },
    ]
    expect(withLines(faults, WRITTEN)).toEqual([
      { path: 'checks[0]', message: 'a', line: 9 },
      { path: 'steps[0].checks[0]', message: 'c', line: 22 },
      { path: 'steps[1].agent', message: 'b', line: 30 },
    ])
  })
})

describe('what a planner is told', () => {
  it('fits what can be read, and is short', async () => {
    const schema = planJsonSchema()
    const compiled = (await createSchemaCompiler())(schema)
    const step = { description: 'Boil water', agent: null, depends_on: ['1', 1], owns: [], budget: { tool_calls: 5 } }
    const answer = { version: 1, goal: 'Tea for two', checks: ['npm test'], steps: [{ description: 'Fetch it' }, step] }
    expect(compiled.ok ? compiled.check(answer) : compiled.message).toEqual([])
    expect(compiled.ok ? compiled.check({ ...answer, colour: 'green' })?.length : compiled.message).toBe(1)
    expect(planFrom(answer).ok).toBe(true)
    expect(JSON.stringify(schema).length).toBeLessThan(3500)
  })
})

describe('docs/plan-files.md', () => {
  it('has an example that is a plan without faults', async () => {
    const example = PAGE.split('```yaml\n')[1]?.split('```')[0] ?? ''
    const read = readPlan(example)
    expect(read.ok ? await planFaults(read.plan, surroundings()) : read.faults).toEqual([])
    expect(read.ok && readPlan(writePlan(read.plan))).toEqual(read)
  })

  it('shows a fault as it is told', () => {
    const example = PAGE.split('```yaml\n')[1]?.split('```')[0] ?? ''
    const read = readPlan(example.replace('depends_on: read', 'depends_on: raed'))
    const told = (read.ok ? [] : read.faults).map(({ line, path, message }) => `tea.yaml:${line}: ${path}: ${message}`)
    expect(told).toHaveLength(1)
    expect(PAGE).toContain(`\n${told[0]}\n`)
  })

  it('has a row for every key, with its default', () => {
    const rows = [...PAGE.matchAll(/^\| `(\w+)` +\| (.*?) *\|/gm)].map(([, key]) => key)
    const keys = (properties: unknown) => Object.keys(properties as object)
    const { properties } = planJsonSchema() as { properties: { steps: { items: { properties: object } } } }
    expect(rows).toEqual(expect.arrayContaining([...keys(properties), ...keys(properties.steps.items.properties)]))
    expect(rows).toEqual(expect.arrayContaining([...Object.keys(TEA), 'max_concurrent']))
  })
})
