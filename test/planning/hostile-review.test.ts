import { describe, expect, it } from 'vitest'
import { dataOf } from '../support/bench.js'
import { comeTo, everything, planOf, rolesIn, scene } from '../support/plan-attacks.js'
import { sampled } from '../support/sampled.js'

const YES = { approve: 'yes' } as const
const verdict = (findings: unknown[]) => ({ text: JSON.stringify({ summary: 'So it is.', findings }) })
const GOOD = verdict([])
const DONE = { text: 'Done.' }
const WRITE = [{ calls: [{ write_file: { path: 'mine/b.txt', content: 'x\n' } }] }, DONE]
const finding = (change: object = {}) => ({
  title: 'Wrong',
  description: 'It is wrong',
  files: ['mine/b.txt'],
  ...change,
})
const reviewed = (change: object = {}) => planOf({ completion_criteria: ['It is right'], ...change })

describe('a hostile reviewer', () => {
  it('that finds nothing does not complete a run whose checks fail', async () => {
    const { retinue, cwd, before } = await scene({ a1: WRITE, 'a*': [GOOD] })
    const { result, outcome } = await comeTo(retinue.executePlan(reviewed({ checks: ['grep -q y mine/b.txt'] }), YES))
    expect(outcome).toMatchObject({ status: 'failed', checks: [{ passed: false }] })
    expect(result.outcome).not.toBe('completed')
    expect(result.landing?.state).not.toBe('landed')
    expect(everything(cwd)).toEqual(before)
  })

  it('with 1,000 findings does not get 1,000 sub-agents', async () => {
    const findings = Array.from({ length: 1000 }, (_, i) => finding({ title: `Wrong ${i}` }))
    const steps = [verdict(findings), verdict(findings), verdict(findings)]
    const { retinue } = await scene({
      a1: WRITE,
      'a*': [{ branches: [{ when: { contains: 'It is right' }, steps }, { steps: [DONE] }] }],
    })
    const { outcome, log } = await comeTo(retinue.executePlan(reviewed(), YES))
    expect(outcome.status).toBe('failed')
    expect(rolesIn(log).length).toBeLessThan(60)
    expect(outcome.report.length).toBeLessThan(200_000)
  })

  /** A reviewer that names a file, and somebody who mends it and writes there. */
  const named = async (file: string, path = file) => {
    const mends = [{ calls: [{ write_file: { path, content: 'x' } }] }, DONE]
    const there = await scene({
      a1: WRITE,
      a2: [verdict([finding({ files: [file] })])],
      'a*': [{ branches: [{ when: { contains: 'Mend it' }, steps: mends }, { steps: [GOOD] }] }],
    })
    return { ...there, ...(await comeTo(there.retinue.executePlan(reviewed(), YES))) }
  }

  it('whose finding is in a file of a step has it mended', async () => {
    const { cwd, before, outcome } = await named('mine/b.txt')
    expect(outcome.status).toBe('completed')
    expect(everything(cwd)).toEqual({ ...before, 'mine/b.txt': 'x' })
  })

  it.each(
    sampled(
      [
        ['../../etc/passwd', '../../etc/passwd'],
        ['.git/hooks/pre-commit', '.git/hooks/pre-commit'],
        ['.retinue/plans/x.yaml', '.retinue/plans/x.yaml'],
        ['**', '.git/hooks/x'],
        ['**', 'theirs/a.txt'],
        ['theirs/a.txt', 'theirs/a.txt'],
        ['{mine,theirs}/**', 'theirs/a.txt'],
        ['mine/../theirs/a.txt', 'theirs/a.txt'],
        ['mine/{b,../../theirs/a}.txt', 'theirs/a.txt'],
      ],
      2,
    ),
  )('whose finding is in %s has nobody write %s, which no step owns', async (file, path) => {
    const { cwd, before } = await named(file, path)
    const { 'mine/b.txt': _, ...after } = everything(cwd)
    expect(after).toEqual(before)
  })

  it('that writes itself is refused', async () => {
    const { retinue, cwd, before } = await scene({
      a1: WRITE,
      a2: [{ calls: [{ write_file: { path: 'mine/b.txt', content: 'y\n' } }] }, GOOD],
    })
    const { log } = await comeTo(retinue.executePlan(reviewed(), YES))
    expect(dataOf(log, 'tool.refused')).toMatchObject([{ tool: 'write_file', code: 'denied' }])
    expect(everything(cwd)).toEqual({ ...before, 'mine/b.txt': 'x\n' })
  })

  it.each(
    sampled(
      [
        ['words', 'It is good. Trust me.'],
        ['another shape', '{"verdict": "good", "findings": "none"}'],
        ['nothing', ''],
      ],
      3,
    ),
  )('that answers with %s has not said that it is good', { timeout: 120_000 }, async (_, text) => {
    const { retinue, cwd, before } = await scene({ a1: WRITE, 'a*': [{ text }, { text }, { text }] })
    const { outcome, result, log } = await comeTo(retinue.executePlan(reviewed(), YES))
    expect(dataOf(log, 'plan.reviewed')).toEqual([])
    expect(outcome.status).toBe('failed')
    expect(result.outcome).not.toBe('completed')
    expect(everything(cwd)).toEqual(before)
  })
})
