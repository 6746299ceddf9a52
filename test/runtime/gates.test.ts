import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type EventData, type EventType, type StoredEvent } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { family, retinueIn } from '../seeds/family.js'
import { makeProject } from '../support/project.js'

const AUTO = { settings: { mode: 'auto' as const } }

function dataOf<T extends EventType>(events: StoredEvent[], type: T): EventData<T>[] {
  return events.flatMap((event) => (event.type === type ? [event.data as EventData<T>] : []))
}

/** One sub-agent with a check, whose parent says afterwards that it is done. */
function checked(check: string, more: object = {}) {
  return { root: [{ calls: [{ spawn_agent: { task: 'Work', checks: [check], ...more } }] }, { text: 'Done.' }] }
}

describe('the check of a sub-agent', () => {
  it('runs behind the fence of the sub-agent, which may have written what it runs', async () => {
    const script = 'echo out > outside.txt; cat .retinue/retinue.db > src/stolen.txt; exit 0'
    const { retinue, cwd } = await family(
      {
        ...checked('sh src/check.sh', { owns: ['src/**'] }),
        a1: [{ calls: [{ write_file: { path: 'src/check.sh', content: script } }] }, { text: 'ok' }],
      },
      { files: { 'src/check.sh': 'exit 1\n' }, ...AUTO },
    )
    await retinue.run({ task: 'Work' }).result()
    expect(existsSync(join(cwd, 'outside.txt'))).toBe(false)
    expect(existsSync(join(cwd, 'src/stolen.txt')) ? readFileSync(join(cwd, 'src/stolen.txt'), 'utf8') : '').toBe('')
  })

  it('is not run without a sandbox, although it was allowed when there was one', async () => {
    const agents = { ...checked('touch made.txt'), a1: [{ delay_ms: 60_000, text: 'late' }] }
    const { retinue, cwd } = await family(agents, AUTO)
    const run = retinue.run({ task: 'Work' })
    for await (const { type, agent_id } of run) if (type === 'model.requested' && agent_id === 'a1') break
    run.leave('to go on elsewhere')
    await run.result().catch(() => {})
    const model = createScriptedModel({ name: 'test', agents: { ...agents, a1: [{ text: 'ok' }] } })
    const second = await retinueIn(cwd, model, { settings: { mode: 'auto', sandbox: 'off' } })
    await second.resume(run.run_id).result()
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false)
    const [gate] = dataOf(await second.events(run.run_id), 'agent.gate_checked')
    expect(gate).toMatchObject({ passed: false, detail: expect.stringContaining('not run: there is no sandbox here') })
  })

  it('puts no secret into the log or the report, whole or cut in two', async () => {
    const secret = 'hunter2-correct-horse-battery-staple-9931'
    const lengths = [10, 1150, 1180, 1210, 1240, 1270]
    const files = Object.fromEntries(lengths.map((n) => [`l${n}.txt`, `${'x'.repeat(n)}${secret}${'y'.repeat(3000)}`]))
    const cwd = makeProject(files)
    const agents = {
      root: [
        { calls: lengths.map((n) => ({ spawn_agent: { task: `Work ${n}`, checks: [`cat l${n}.txt; false`] } })) },
        { text: 'Done.' },
      ],
      'a*': [{ text: 'ok' }],
    }
    const retinue = await createRetinue({
      cwd,
      models: modelsOf(createScriptedModel({ name: 'test', agents })),
      secrets: [{ name: 'TOKEN', value: secret }],
      ...AUTO,
    })
    onTestFinished(() => retinue.close())
    const run = retinue.run({ task: 'Work' })
    await run.result()
    const events = await retinue.events(run.run_id)
    const reports = lengths.map((_, i) =>
      readFileSync(join(cwd, '.retinue/reports', run.run_id, `a${i + 1}-step-${i}-result.md`), 'utf8'),
    )
    const written = JSON.stringify(events) + reports.join('\n')
    expect(written).toContain('[secret TOKEN]')
    expect(written).not.toContain(secret.slice(0, 12))
    expect(written).not.toContain(secret.slice(-12))
  })

  it('is stopped when its sub-agent is cancelled, which is then cancelled and not failed', async () => {
    const { retinue } = await family({ ...checked('sleep 60'), a1: [{ text: 'ok' }] }, AUTO)
    const run = retinue.run({ task: 'Work' })
    for await (const { type } of run) if (type === 'agent.gate_started') break
    const result = await retinue.cancelAgent(run.run_id, 'a1', 'person', 'enough')
    expect(result).toMatchObject({
      outcome: 'cancelled',
      reason: 'cancelled by person while it was checked: enough',
    })
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(dataOf(await retinue.events(run.run_id), 'agent.gate_checked')).toEqual([])
  })

  it('is stopped when the run is cancelled, and says nothing about the work', async () => {
    const { retinue } = await family({ ...checked('sleep 60'), a1: [{ text: 'ok' }] }, AUTO)
    const run = retinue.run({ task: 'Work' })
    for await (const { type } of run) if (type === 'agent.gate_started') break
    run.cancel('enough')
    expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed).toMatchObject({ final_status: 'failed', result: { outcome: 'cancelled' } })
  })
})

describe('a sub-agent without a word', () => {
  it('is not completed, unless its checks speak for it', async () => {
    const { retinue } = await family(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'One' } }, { spawn_agent: { task: 'Two', checks: ['true'] } }] },
          { text: 'Done.' },
        ],
        'a*': [{ text: '' }],
      },
      AUTO,
    )
    const run = retinue.run({ task: 'Work' })
    await run.result()
    const closed = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed').sort(
      (a, b) => a.step_idx - b.step_idx,
    )
    expect(closed.map(({ final_status, close_reason }) => [final_status, close_reason])).toEqual([
      ['failed', 'it answered without a word'],
      ['completed', 'it gave its answer; 1 of 1 checks passed'],
    ])
  })
})

it('a report that cannot be written is said, and the work is not lost', async () => {
  const { retinue } = await family(
    { root: [{ calls: [{ spawn_agent: { task: 'Work' } }] }, { text: 'Done.' }], a1: [{ text: 'ok' }] },
    { files: { '.retinue/reports': 'a file where a folder is needed' } },
  )
  const run = retinue.run({ task: 'Work' })
  await run.result()
  const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
  expect(closed).toMatchObject({
    final_status: 'completed',
    close_reason: expect.stringContaining('cannot be written'),
  })
})
