import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/domain/index.js'
import { type Caller, createScriptedModel, readScript, type ScriptedModelOptions } from '../../src/models/index.js'
import { ask, CALLER, options } from './lab.js'

function tell(model: ReturnType<typeof createScriptedModel>, more: Partial<Caller>, messages?: Message[]) {
  return model.generate(ask(messages), options({ caller: { ...CALLER, ...more } }))
}

async function said(model: ReturnType<typeof createScriptedModel>, more: Partial<Caller>): Promise<string> {
  const answer = await tell(model, more)
  if (!answer.ok) return `${answer.code}: ${answer.message}`
  return answer.parts.map((part) => ('text' in part ? part.text : '')).join('')
}

describe('which lines of a script an agent gets', () => {
  const agents: ScriptedModelOptions['agents'] = {
    '*': [{ text: 'any' }],
    root: [{ text: 'root' }],
    'a*': [{ text: 'any sub-agent' }],
    'a1.*': [{ text: 'below a1' }],
    a1: [{ text: 'a1' }],
    'a1#2': [{ text: 'a1 again' }],
    'a*#3': [{ text: 'any third attempt' }],
    'a4#1': [{ text: 'a4 at first' }],
  }

  test.each([
    ['root', 1, 'root'],
    ['a1', 1, 'a1'],
    ['a12', 1, 'any sub-agent'],
    ['a1.1', 1, 'below a1'],
    ['a1.1.7', 1, 'below a1'],
    ['a2.1', 1, 'any sub-agent'],
    ['b', 1, 'any'],
    // An attempt of its own comes before everything that is for any attempt.
    ['a1', 2, 'a1 again'],
    ['a1', 3, 'any third attempt'],
    ['a1', 4, 'a1'],
    ['a2', 2, 'any sub-agent'],
    ['a4', 1, 'a4 at first'],
    ['a4', 2, 'any sub-agent'],
  ])('%s, attempt %i: %s', async (agent_id, agent_attempt, expected) => {
    expect(await said(createScriptedModel({ name: 's', agents }), { agent_id, agent_attempt })).toBe(expected)
  })

  test('none: who it was is said, with the attempt', async () => {
    const model = createScriptedModel({ name: 's', agents: { 'a1#2': [{ text: 'x' }], 'b*': [{ text: 'y' }] } })
    expect(await said(model, { agent_id: 'a1', agent_attempt: 3 })).toBe(
      'bad_request: script s, agent a1, attempt 3: not in the script, which has a1#2, b*; what came: "Hello"',
    )
  })

  test('what nobody used is said by key', async () => {
    const model = createScriptedModel({ name: 's', agents: { 'a*': [{ text: 'x' }], 'a1#2': [{ text: 'y' }] } })
    await said(model, { agent_id: 'a1' })
    expect(model.unused()).toEqual(['a1#2 step 1'])
  })

  test.each(['*a', 'a**', 'a1#', 'a1#0', 'a1#two', 'a1#2*', '#2', ''])('%s is no agent', async (key) => {
    const reading = await readScript('a.yaml', `agents:\n  "${key}":\n    - text: x\n`)
    expect(reading.ok ? '' : reading.message).toContain('a.yaml:3: agents.')
    expect(reading.ok ? '' : reading.message).toContain('#2 after it for its second attempt')
  })
})

describe('a second attempt', () => {
  const agents: ScriptedModelOptions['agents'] = {
    'a*': [{ text: 'one' }, { fail: { code: 'network' } }, { text: 'two' }],
  }

  test('starts at the first step again, with the failures that come there', async () => {
    const model = createScriptedModel({ name: 's', agents })
    for (const agent_attempt of [1, 2]) {
      const caller = { agent_id: 'a1', agent_attempt }
      const first = await tell(model, caller)
      if (!first.ok) throw new Error(first.message)
      const messages: Message[] = [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', parts: first.parts as never },
        { role: 'user', content: 'Go on' },
      ]
      expect(await tell(model, caller, messages)).toMatchObject({ ok: false, code: 'network' })
      expect(await tell(model, { ...caller, attempt: 2 }, messages)).toMatchObject({ ok: true })
    }
    model.assertAllUsed()
  })
})
