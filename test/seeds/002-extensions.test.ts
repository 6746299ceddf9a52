import { describe, expect, it } from 'vitest'
import type { Delta } from '../../src/index.js'
import { createScriptedModel } from '../../src/testing/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { ask, DONE } from './asking.js'
import { family, gate, requestsOf, retinueIn, toldTo } from './family.js'

describe('seed 002, C14: what was to come later', () => {
  it('C14: no more than max_concurrent are at work at once, and as many as that are', async () => {
    const full = gate()
    let now = 0
    let most = 0
    const limit = 3
    const { retinue } = await family(
      {
        root: [
          { calls: Array.from({ length: 9 }, (_, n) => ({ spawn: { task: `Task ${n}` } })) },
          { calls: [{ spawn_await: { job_ids: '*' } }] },
          DONE,
        ],
        'a*': [{ text: 'Yes.' }],
      },
      {
        settings: { max_concurrent: limit },
        // The first are held until there are as many as may be. Whether there are more shows afterwards.
        hold: async ({ agent_id }) => {
          if (agent_id === 'root') return
          now += 1
          most = Math.max(most, now)
          if (now === limit) full.open()
          await full.opened
          await new Promise((resolve) => setTimeout(resolve, 20))
          now -= 1
        },
      },
    )
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_closed')).toHaveLength(9)
    expect(most).toBe(limit)
  })

  it('C14: what sub-agents say is seen while they say it, with who says it', async () => {
    const deltas: Delta[] = []
    const { retinue } = await family({
      root: [ask({}, {}), { text: 'Both are done.' }],
      a1: [{ reasoning: 'Let me see.', text: 'One is done.' }],
      a2: [{ text: 'Two is done.' }],
    })
    await runToEnd(retinue, { onDelta: (delta) => void deltas.push(delta) })
    const said = (agent_id: string, type: Delta['type'] = 'text') =>
      deltas.filter((delta) => delta.agent_id === agent_id && delta.type === type).map(({ text }) => text)
    expect(said('a1').length).toBeGreaterThan(1)
    expect(said('a1').join('')).toBe('One is done.')
    expect(said('a1', 'reasoning').join('')).toBe('Let me see.')
    expect(said('a2').join('')).toBe('Two is done.')
    expect(said('root').join('')).toBe('Both are done.')
  })

  it('C14: a parent gives a sub-agent what it needs to know, and nothing else comes with it', async () => {
    const { retinue, model } = await family({
      root: [
        {
          calls: [
            { spawn: { task: 'Judge', context: 'The message was: "all clear".\nFile b.ts: export const b = 1' } },
          ],
        },
        { calls: [{ spawn_await: { job_ids: '*' } }] },
        DONE,
      ],
      a1: [
        {
          expect: { like: 'Judge\n\nContext:\nThe message was: "all clear".\nFile b.ts: export const b = 1' },
          ...DONE,
        },
      ],
    })
    const { result } = await runToEnd(retinue, { task: 'Something else' })
    expect((await requestsOf(retinue, result.run_id, 'a1'))[0]?.messages).toHaveLength(1)
    model.assertAllUsed()
  })

  it('C14: with cache the same task is done once in a session, and whoever asks again is told', async () => {
    const { retinue, model, cwd } = await family({
      root: [
        ask({ task: 'Count', cache: true }),
        {
          calls: [
            ...ask({ task: 'Count', cache: true }).calls,
            ...ask({ task: 'Count' }).calls,
            ...ask({ task: 'Count on', cache: true }).calls,
            ...ask({ task: 'Count', cache: true, max_tool_calls: 3 }).calls,
          ],
        },
        DONE,
        // The next run of the session, and then another session.
        ask({ task: 'Count', cache: true }),
        DONE,
      ],
      'a*': [{ text: 'Nine.', usage: { input_tokens: 500, output_tokens: 20 } }],
    })
    const first = await runToEnd(retinue)
    const { run_id, session_id } = first.result
    const told = await toldTo(retinue, run_id)
    expect(told[0]?.content).toMatch(/^\[COMPLETED\]\nNine\./)
    expect(told[1]?.content).toMatch(
      new RegExp(
        `^\\[COMPLETED\\]\nFrom the cache: a1 of run ${run_id} did the same before\\. Nothing was run or paid for\\.\nNine\\.`,
      ),
    )
    // Not asked for, another task, another contract: each of them is done.
    for (const { content } of told.slice(2)) expect(content).toMatch(/^\[COMPLETED\]\nNine\./)
    expect(dataOf(first.events, 'agent.subagent_reused')).toMatchObject([
      { sub_agent_id: 'a2', from: { run_id, agent_id: 'a1' } },
    ])
    expect(dataOf(first.events, 'agent.subagent_created').map(({ sub_agent_id }) => sub_agent_id)).toEqual([
      'a1',
      'a3',
      'a4',
      'a5',
    ])
    const asked = () => model.requests.filter(({ caller }) => caller.agent_id !== 'root').length
    expect(asked()).toBe(4)
    const closed = dataOf(first.events, 'agent.subagent_closed')
    expect(closed.map(({ used }) => used.total_tokens)).toEqual([520, 520, 520, 520])

    const again = await runToEnd(retinue, { session_id })
    expect(asked()).toBe(4)
    expect(dataOf(again.events, 'agent.subagent_reused')).toMatchObject([{ from: { run_id, agent_id: 'a1' } }])

    const strange = createScriptedModel({
      name: 'test',
      agents: { root: [ask({ task: 'Count', cache: true }), DONE], 'a*': [{ text: 'Ten.' }] },
    })
    const other = await runToEnd(await retinueIn(cwd, strange))
    expect(other.result.session_id).not.toBe(session_id)
    expect(dataOf(other.events, 'agent.subagent_reused')).toEqual([])
    expect(strange.requests.map(({ caller }) => caller.agent_id)).toEqual(['root', 'a1', 'root'])
  })

  it('C14: what failed or was cut short is not taken from the cache', async () => {
    const { retinue, model } = await family(
      {
        root: [ask({ profile: 'kept' }), ask({ profile: 'kept' }), ask({ profile: 'kept' }), DONE],
        a1: [{ fail: { code: 'auth', message: 'no key' } }],
        a2: [{ text: 'Now it works.' }],
      },
      { settings: { delegation: { profiles: { kept: { cache: true } } } } },
    )
    const { result } = await runToEnd(retinue)
    const told = await toldTo(retinue, result.run_id)
    expect(told.map(({ content }) => content.split('\n')[0])).toEqual([
      '[ERROR] error: no key',
      '[COMPLETED]',
      '[COMPLETED]',
    ])
    expect(told[2]?.content).toContain('From the cache: a2 of run')
    model.assertAllUsed()
  })
})
