import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataOf } from '../support/bench.js'
import { retinue } from '../support/cli.js'
import { git, makeProject } from '../support/project.js'
import { testRetinue, testWorker } from '../support/retinues.js'

const GOAL = 'sum adds up'
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../sum.js'

test('sum', () => assert.equal(sum(1, 2), 3))
`

const PLAN = {
  version: 1,
  goal: GOAL,
  completion_criteria: ['sum adds any number of numbers'],
  checks: ['node --test'],
  steps: [{ id: 'sum', description: 'Make sum add', agent: 'executor', owns: ['sum.js'] }],
}

const write = (body: string) => ({ calls: [{ write_file: { path: 'sum.js', content: `export ${body}\n` } }] })
const verdict = (findings: object[]) => ({ text: JSON.stringify({ summary: 'Looked at it.', findings }) })
const finding = { title: 'Only two', description: 'sum(1, 2, 3) is 3', files: ['sum.js'] }

const SCRIPT = {
  agents: {
    a1: [{ calls: [{ read_file: { path: 'sum.js' } }] }, { expect: 'a - b', text: 'sum.js:1 subtracts.' }],
    a2: [{ expect: { contains: [GOAL, 'sum.js:1 subtracts.'] }, text: JSON.stringify(PLAN) }],
    a3: [{ expect: 'Make sum add', ...write('const sum = (a, b) => a + b') }, { text: 'It adds.' }],
    a4: [{ expect: 'sum adds any number of numbers', ...verdict([finding]) }],
    a5: [
      { expect: 'sum(1, 2, 3) is 3', ...write('const sum = (...all) => all.reduce((a, b) => a + b, 0)') },
      { text: 'All of them.' },
    ],
    a6: [{ expect: 'sum adds any number of numbers', ...verdict([]) }],
  },
}

describe('seed 004, E6: the complex-task flow', { timeout: 180_000 }, () => {
  it('E6: research, plan, execute, review, repair, report; and the tests pass in the folder', async () => {
    const cwd = makeProject(
      {
        'package.json': '{"type": "module"}\n',
        'sum.js': 'export const sum = (a, b) => a - b\n',
        'test/sum.test.js': TEST,
      },
      { git: true },
    )
    const script = join(makeProject({ 'script.yaml': JSON.stringify(SCRIPT) }), 'script.yaml')
    const tests = () => execFileSync(process.execPath, ['--test'], { cwd, stdio: 'pipe' })
    expect(tests).toThrow()

    await testWorker(cwd)
    const flags = ['--yes', '-p', '--mode', 'auto', '--model', `scripted/${script}`]
    const ended = await retinue(['plan', GOAL, '--research', 'What does sum do now?', ...flags], { cwd })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    tests()
    expect(git(cwd, 'status', '--porcelain')).toBe(' M sum.js\n')

    const program = await testRetinue({ cwd })
    const [run] = await program.runs()
    const outcome = await program.planOutcome(run?.run_id ?? '')
    expect(outcome.steps.map(({ id, stage, agent, status }) => [id, stage, agent, status])).toEqual([
      ['research-1', 'research', 'researcher', 'completed'],
      ['plan-1', 'plan', 'planner', 'completed'],
      ['sum', 'work', 'executor', 'completed'],
      ['review-1', 'review', 'reviewer', 'completed'],
      ['repair-1.1', 'repair', 'executor', 'completed'],
      ['review-2', 'review', 'reviewer', 'completed'],
    ])
    expect([outcome.status, outcome.findings]).toEqual(['completed', []])
    // Before the repair and after it, on the whole, whatever the reviewer says.
    const checks = dataOf(await program.events(outcome.run_id), 'plan.checked')
    expect(checks.map(({ round, what, passed }) => [round, what, passed])).toEqual([
      [0, 'node --test', true],
      [1, 'node --test', true],
    ])
    const report = readFileSync(join(cwd, '.retinue', 'reports', outcome.run_id, 'plan.md'), 'utf8')
    expect([outcome.report.trim(), ended.stdout.trim()]).toEqual([report.trim(), report.trim()])
  })
})
