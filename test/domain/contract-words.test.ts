import { expect, it } from 'vitest'
import {
  adjustmentWords,
  budgetRows,
  type Contract,
  checkWords,
  contractRows,
  dossierRows,
  endWords,
  openDossier,
  resultFigures,
  runFigures,
} from '../../src/domain/index.js'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

/** The dossier of a sub-agent that has spent something. */
function dossier(change: (contract: Contract) => void = () => {}) {
  const run = eventsOfRun()
  run.root()
  run.create('root', 'a1', { profile: 'researcher' }).start()
  run.ask('a1', 'q1')
  run.answer('a1', 'q1', 1200, null)
  for (const { data } of run.events) if ('contract' in data) change(data.contract)
  const found = openDossier(run.events, 'a1')
  if (!found?.contract) throw new Error('there is no such agent')
  return { ...found, contract: found.contract }
}

it('a contract is rows of a label and a text, of what there is', () => {
  const least = contractRows(dossier().contract)
  expect(least).toEqual([
    { label: 'profile', text: 'researcher' },
    { label: 'model', text: 'p/m (chosen by request)' },
    { label: 'mode', text: 'auto; what would be asked about is refused' },
    { label: 'tools', text: 'none' },
    { label: 'may read', text: '**' },
    { label: 'may write', text: '**' },
    { label: 'network', text: 'none' },
    { label: 'delegation', text: '2 deep' },
  ])
  const { contract } = dossier((one) => {
    one.step = { ...one.step, success_criteria: ['dry', 'clean'], inputs: [{ from: 'a0', outcome: 'completed' }] }
    one.agent.profile_id = null
    one.model.allowed = ['p/m', 'p/x']
    Object.assign(one.permissions, {
      ...{ allowed_tools: ['read_file', 'edit_file'], allowed_skills: ['roofs'], allowed_mcp_servers: ['docs'] },
      ...{ read_paths: [['**'], ['src/**', 'docs/**']], write_paths: [['**'], []], can_ask_person: true },
      rules: [{ mode: 'auto', rules: [{ decision: 'deny', tool: 'web_fetch', pattern: null }] }],
      can_spawn_children: false,
    })
    one.workspace.owns = ['src/**']
  })
  expect(contractRows(contract)).toEqual([
    { label: 'criteria', text: 'dry\nclean' },
    { label: 'given', text: 'a0 (completed)' },
    { label: 'profile', text: 'none' },
    { label: 'model', text: 'p/m (chosen by request), may use p/x' },
    { label: 'mode', text: 'auto; what needs a yes is asked' },
    { label: 'tools', text: 'read_file edit_file' },
    { label: 'skills', text: 'roofs' },
    { label: 'servers', text: 'docs' },
    { label: 'may read', text: '**, and of that src/** docs/**' },
    { label: 'may write', text: '**, and of that nothing' },
    { label: 'owns', text: 'src/**' },
    { label: 'rules', text: 'deny web_fetch' },
    { label: 'network', text: 'none' },
    { label: 'delegation', text: 'none' },
  ])
})

it('a budget is rows of what was used of which limit, as numbers and in words', () => {
  const { contract, spent } = dossier()
  const { budget } = contract.execution
  expect(budgetRows(budget, spent)).toEqual([
    { name: 'turns', what: 'turns', used: 1, limit: 9, text: '1 of 9' },
    { name: 'tool_calls', what: 'tool calls', used: 0, limit: 9, text: '0 of 9' },
    { name: 'context_tokens', what: 'tokens a request', used: null, limit: 9000, text: '9,000' },
    { name: 'total_tokens', what: 'tokens', used: 1200, limit: 9000, text: '1,200 of 9,000' },
    { name: 'cost_usd', what: 'cost', used: null, limit: null, text: 'unknown, no limit' },
    { name: 'wall_ms', what: 'time', used: 0, limit: 60_000, text: '0 ms of 1 min 0 s' },
    { name: 'sub_agents', what: 'sub-agents', used: 0, limit: 9, text: '0 of 9' },
  ])
  const unspent = budgetRows({ ...budget, cost_usd: 2 }, null)
  expect(unspent.map(({ text }) => text).join('; ')).toBe('9; 9; 9,000; 9,000; $2.00; 1 min 0 s; 9')
  expect(unspent.every(({ used }) => used === null)).toBe(true)
})

it('all there is to read about an agent has its contract in it, and its worktree, checks and adjustments', () => {
  const adjustment = { field: 'mode', asked: 'auto', given: 'normal', reason: 'its parent is in normal mode' }
  const one = dossier((contract) => {
    contract.adjustments = [adjustment]
    contract.step.checks = [{ kind: 'command', command: 'npm test' }]
  })
  const worktree = {
    ...{ branch: 'retinue/r/a1', path: '.retinue/worktrees/r/a1', base: 'b'.repeat(40), notes: ['no node_modules'] },
    included: [{ path: '.env', how: 'copied' as const }],
  }
  const budget = budgetRows(one.contract.execution.budget, one.spent).map(({ what, text }) => `${what}: ${text}`)
  expect(dossierRows({ ...one, worktree, attempts: 2, reused_from: { run_id: 'q', agent_id: 'a7' } })).toEqual([
    { label: 'asked by', text: 'root, with call c1' },
    { label: 'task', text: 'Task of a1' },
    { label: 'result', text: 'of a7 of run q, which did the same; nobody ran here' },
    ...contractRows(one.contract),
    { label: 'worktree', text: '.retinue/worktrees/r/a1, on retinue/r/a1 from bbbbbbbbbb' },
    { label: 'has', text: '.env, copied from your folder' },
    { label: 'note', text: 'no node_modules' },
    { label: 'attempts', text: '2' },
    { label: 'budget', text: budget.join('\n') },
    { label: 'check', text: 'npm test' },
    { label: 'adjusted', text: adjustmentWords(adjustment) },
  ])
  expect(adjustmentWords(adjustment)).toBe('mode from auto to normal: its parent is in normal mode')
})

it('a check says what must be so', () => {
  expect(checkWords({ kind: 'schema', schema: { type: 'object' } })).toBe('the answer fits {"type":"object"}')
  expect(checkWords({ kind: 'paths', exist: ['a', 'b/*'], unchanged: ['c'], unmarked: ['d'] })).toBe(
    'a is there\nb/* is there\nc is not changed\nno conflict is marked in d',
  )
})

it('a run and a result have their figures in a line', () => {
  const usage = {
    input_tokens: 1500,
    output_tokens: 20,
    cached_tokens: 1000,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
  }
  const figures = '2 turns, 1 tool call, 1,500 tokens in (1,000 cached), 20 out, cost unknown'
  const result = resultOf({ turns: 2, tool_calls: 1, usage, cost_usd: null, duration_ms: 1500 })
  expect(runFigures({ ...usage, turns: 2, tool_calls: 1, cost_usd: null, created_at: 100, updated_at: 1600 })).toBe(
    `${figures}, 1.5 s`,
  )
  expect(resultFigures(result)).toBe(`${figures}, 1.5 s`)
  expect(resultFigures({ ...result, sub_agents: 3 })).toBe(`${figures}, 3 sub-agents included, 1.5 s`)
  expect([endWords(result, null), endWords(resultOf({ outcome: 'budget_exceeded' }), 'completed')]).toEqual([
    ...['completed', 'incomplete, budget_exceeded'],
  ])
})
