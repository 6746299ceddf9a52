import { describe, expect, it } from 'vitest'
import { atFields, NEW_RUN, orderOf } from '../../web/src/pages/runs/start-run'

describe('what a new run is asked for with', () => {
  it('says nothing of what nobody said, so that the settings decide', () => {
    expect(orderOf({ ...NEW_RUN, task: ' Add a theme \n' })).toEqual({ ok: true, order: { task: 'Add a theme' } })
  })

  it('has all that was said', () => {
    const agent = { kind: 'named', name: '@writer' } as const
    const form = { ...NEW_RUN, task: 'x', agent, mode: 'plan', model: ' a/b ', turns: '7' } as const
    const budget = { turns: 7, total_tokens: 90_000, cost_usd: 0.5, wall_ms: 90_000 }
    expect(orderOf({ ...form, total_tokens: '90000', cost_usd: ' 0.5 ', minutes: '1.5' })).toEqual({
      ok: true,
      order: { task: 'x', profile: '@writer', mode: 'plan', model: 'a/b', budget },
    })
  })

  it('tells no profile from the one that is pinned', () => {
    expect(orderOf({ ...NEW_RUN, task: 'x', agent: { kind: 'none' } })).toEqual({
      ok: true,
      order: { task: 'x', profile: null },
    })
  })

  it('leaves it to a plan who does its steps', () => {
    const agent = { kind: 'named', name: '@writer' } as const
    expect(orderOf({ ...NEW_RUN, task: 'x', plan: true, agent })).toEqual({
      ok: true,
      order: { task: 'x', plan: true },
    })
  })

  it('names every field that cannot be sent', () => {
    const whole = 'Give a whole number above 0, or nothing for what the settings say'
    expect(orderOf({ ...NEW_RUN, task: ' ', turns: '1.5', tool_calls: '-1', cost_usd: 'much', minutes: '0' })).toEqual({
      ok: false,
      faults: [
        { path: 'task', message: 'Say what is to be done' },
        { path: 'budget.turns', message: whole },
        { path: 'budget.tool_calls', message: whole },
        { path: 'budget.cost_usd', message: 'Give a number above 0, or nothing for what the settings say' },
        { path: 'budget.wall_ms', message: 'Give a number above 0, or nothing for what the settings say' },
      ],
    })
  })

  it('shows a fault at its field, and loses none that has no field', () => {
    const faults = [
      { path: 'model', message: 'one' },
      { path: 'model', message: 'two' },
      { path: 'session_id', message: 'three' },
    ]
    expect(atFields(faults, ['task', 'model'])).toEqual({
      at: new Map([['model', 'one; two']]),
      elsewhere: [{ path: 'session_id', message: 'three' }],
    })
  })
})
