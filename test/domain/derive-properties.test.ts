import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Authority,
  type Budget,
  type Contract,
  contractSchema,
  DELEGATION_TOOLS,
  type Decision,
  type DelegationRequest,
  MODES,
  matchesWord,
  mayWrite,
  openLedger,
  type Parent,
  permits,
  reserve,
  unenforceable,
} from '../../src/domain/index.js'
import '../support/seed.js'
import { type Asked, derive, effective } from './derive-lab.js'
import { fresh } from './deriving.js'
import { asked, call, placed, writing } from './random-derivations.js'

const WIDTH: Record<Decision, number> = { deny: 0, ask: 1, allow: 2 }

/** Derives only what is not refused; how often that is, is looked at below. */
function derived(asked: Asked): Contract | null {
  const result = derive(asked)
  return result.ok ? result.contract : null
}

function inside(child: Contract, { contract: above, left }: Parent, expecting = expect): void {
  const within = (list: readonly string[], whole: readonly string[]) =>
    expecting(whole).toEqual(expect.arrayContaining([...list]))
  const a = child.permissions
  const b = above.permissions
  within(a.allowed_tools, b.allowed_tools)
  within(a.allowed_skills, b.allowed_skills)
  within(a.allowed_mcp_servers, b.allowed_mcp_servers)
  within(child.model.allowed, ['p/m', ...above.model.allowed])
  within([`${child.model.provider}/${child.model.model}`], ['p/m', ...above.model.allowed])
  for (const name of ['read_paths', 'write_paths', 'rules'] as const) {
    for (const layer of b[name]) expecting(a[name]).toContainEqual(layer)
  }
  expecting(MODES.indexOf(a.mode)).toBeLessThanOrEqual(MODES.indexOf(b.mode))
  expecting(a.network).toBe(b.network)
  expecting(!a.can_ask_person || b.can_ask_person).toBe(true)
  expecting(a.max_delegation_depth).toBe(b.max_delegation_depth - 1)
  expecting(a.can_spawn_children && (a.max_delegation_depth === 0 || a.mode === 'plan')).toBe(false)
  if (!a.can_spawn_children) expecting(a.allowed_tools.filter((tool) => DELEGATION_TOOLS.includes(tool))).toEqual([])
  if (!a.can_ask_person) expecting(a.allowed_tools).not.toContain('ask_user')

  const got = child.execution.budget
  const had = above.execution.budget
  for (const name of ['tool_calls', 'turns', 'context_tokens', 'wall_ms'] as const) {
    expecting(got[name]).toBeLessThanOrEqual(had[name])
  }
  expecting(got.wall_ms).toBeLessThanOrEqual(left.wall_ms)
  expecting(child.execution.attempt_timeout_ms).toBeLessThanOrEqual(got.wall_ms)
  for (const name of ['total_tokens', 'cost_usd'] as const) {
    expecting(got[name] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(left[name])
  }
  expecting(got.sub_agents + 1).toBeLessThanOrEqual(left.sub_agents)
  const ledger = { ...openLedger(had), spent: { ...openLedger(had).spent } }
  for (const name of ['total_tokens', 'cost_usd', 'sub_agents'] as const) {
    const limit = had[name]
    if (limit !== null) ledger.spent[name] = limit - left[name]
  }
  if (got.cost_usd === null || got.cost_usd <= left.cost_usd / 2) {
    // (Where all of the money goes to one, the last bit of a float is not worth a test.)
    expecting(reserve(ledger, { ...got, sub_agents: got.sub_agents + 1 }).ok).toBe(true)
  }
  expecting(contractSchema.safeParse(child).success).toBe(true)
}

const isAboutReading = (fault: string) => fault.includes('read_only')

describe('whatever is asked for', () => {
  it('nothing widens: a sub-agent does nothing that its parent could not do, and nothing unasked that it would have to ask', () => {
    let unasked = 0
    fc.assert(
      fc.property(asked, fc.array(call, { minLength: 1, maxLength: 8 }), (asked, calls) => {
        const contract = derived(asked)
        const above = asked.parent?.contract.permissions as Authority
        fc.pre(contract !== null)
        for (const call of calls) {
          expect(WIDTH[permits(contract.permissions, call).decision]).toBeLessThanOrEqual(
            WIDTH[permits(above, call).decision],
          )
          const done = effective(contract.permissions, call)
          expect(WIDTH[done]).toBeLessThanOrEqual(WIDTH[effective(above, call)])
          if (done === 'allow' && permits(contract.permissions, call).decision === 'ask') unasked += 1
        }
      }),
      { numRuns: 2000 },
    )
    expect(unasked).toBeGreaterThan(10)
  }, 120_000)

  it('one that is said to write nothing has no call by which it could, nor have those below it', () => {
    const seen = { reading: 0, done: 0 }
    fc.assert(
      fc.property(placed, placed, fc.array(writing, { minLength: 4, maxLength: 8 }), (first, second, calls) => {
        const contract = derived(first)
        fc.pre(contract !== null)
        const below = derived({ ...second, parent: fresh(contract, {}, 'a1.1') })
        if (!mayWrite(contract) && below) expect(mayWrite(below)).toBe(false)
        expect(contract.workspace.isolation === 'read_only').toBe(!mayWrite(contract))
        expect(unenforceable(contract, { sandboxed: true, priced: true }).filter(isAboutReading)).toEqual([])
        for (const call of calls) {
          const done = effective(contract.permissions, call) !== 'deny'
          // With nothing of its own a command still runs, behind a fence that lets it write nothing.
          const isFenced =
            call.effect === 'execute' && contract.permissions.write_paths.some(({ length }) => length === 0)
          if (done && !isFenced) expect(mayWrite(contract)).toBe(true)
          if (done) seen.done += 1
          else seen.reading += 1
        }
      }),
      { numRuns: 2000 },
    )
    expect(seen.done).toBeGreaterThan(100)
    expect(seen.reading).toBeGreaterThan(100)
  }, 120_000)

  it('every list and every number is inside the parent’s, and so are those of the next level', () => {
    let levels = [0, 0]
    fc.assert(
      fc.property(asked, asked, (first, second) => {
        const contract = derived(first)
        fc.pre(contract !== null)
        inside(contract, first.parent as Parent)
        levels = [(levels[0] ?? 0) + 1, levels[1] ?? 0]
        const parent = fresh(contract, {}, 'a1.1')
        const below = derived({ ...second, parent })
        if (below === null) return
        inside(below, parent)
        levels = [levels[0] ?? 0, (levels[1] ?? 0) + 1]
      }),
      { numRuns: 2000 },
    )
    // Properties of nothing are no properties.
    expect(levels[0]).toBeGreaterThan(1000)
    expect(levels[1]).toBeGreaterThan(50)
  }, 120_000)

  it('a wish that is not granted in full is among the adjustments', () => {
    fc.assert(
      fc.property(asked, (asked) => {
        const contract = derived(asked)
        fc.pre(contract !== null)
        const request = asked.request as DelegationRequest
        const told = (field: string, wish: string) =>
          contract.adjustments.some((one) => one.field === field && one.asked === wish && one.reason !== '')
        const { permissions, execution } = contract
        if (request.mode)
          expect(told('permissions.mode', request.mode)).toBe(
            request.mode !== permissions.mode && MODES.indexOf(request.mode) > MODES.indexOf(permissions.mode),
          )
        for (const tool of request.tools ?? []) {
          if (tool.includes('*')) {
            if (tool !== '*' && !permissions.allowed_tools.some((name) => matchesWord(tool, name)))
              expect(told('permissions.allowed_tools', tool)).toBe(true)
          } else expect(told('permissions.allowed_tools', tool)).toBe(!permissions.allowed_tools.includes(tool))
        }
        if (request.model) {
          const name = request.model === 'fast' ? 'pool/fast' : request.model
          expect(told('model', request.model)).toBe(name !== `${contract.model.provider}/${contract.model.model}`)
        }
        for (const [name, value] of Object.entries(request.budget ?? {}) as [keyof Budget, number | null][]) {
          const given = execution.budget[name]
          const adjusted = contract.adjustments.find(({ field }) => field === `execution.budget.${name}`)
          expect(adjusted === undefined).toBe(given === value)
        }
        if (request.max_retries !== undefined && execution.max_retries < request.max_retries)
          expect(told('execution.max_retries', String(request.max_retries))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  }, 120_000)
})
