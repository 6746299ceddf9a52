import { describe, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../src/tools/index.js'
import { BAD_SERVER, badServer, connect, node, stateOf } from './connect.js'

const noteAbout = (message: string | null, tool: string) =>
  message?.split('; ').find((note) => note.includes(`the tool ${tool} `)) ?? null

describe.concurrent('schemas from outside', () => {
  it('that cannot be used cost that one tool, and it is said which and why', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { state } = await badServer('schemas', { finished })
    expect(state.tools).toEqual(
      ['draft_07', 'exponential', 'good', 'no_type', 'proto', 'recursive_ref', 'slow_regex'].map(
        (name) => `mcp__bad__${name}`,
      ),
    )
    const reasons = {
      no_schema: /it has no schema for its arguments$/,
      text_schema: /it has no schema for its arguments$/,
      list_schema: /its schema is not about an object$/,
      unknown_type: /its schema is not valid: .*type/,
      bad_regex: /its schema is not valid: .*[Rr]eg/,
      remote_ref: /its schema is not valid: can't resolve reference http:\/\/127\.0\.0\.1:1\/schema\.json/,
      huge: /its schema is larger than 97.7 KB$/,
      deep: /its schema is nested deeper than 60 levels$/,
    }
    for (const [tool, reason] of Object.entries(reasons)) expect(noteAbout(state.message, tool)).toMatch(reason)
    expect(state.message).toContain('it lists a tool without a name')
  })

  it('with a pattern that would take for ever are given up on, and the call is made', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call } = await badServer('schemas', { finished })
    expect((await call('mcp__bad__slow_regex', { a: 'b' })).content).toMatch(/^a: must match pattern/)
    expect(await call('mcp__bad__slow_regex', { a: `${'a'.repeat(60)}b` })).toMatchObject({ content: 'fine' })
    // From then on nothing is asked of it any more, not even what it could answer.
    expect(await call('mcp__bad__slow_regex', { a: 'b' })).toMatchObject({ content: 'fine' })
  })

  it('that multiply with every level are given up on', async ({ onTestFinished: finished, expect }) => {
    const { call } = await badServer('schemas', { finished })
    const nested = (n: number): unknown => (n === 0 ? 'x' : [nested(n - 1)])
    expect(await call('mcp__bad__exponential', { a: nested(40) })).toMatchObject({ content: 'fine' })
  })

  it('check what is sent, in depth', async ({ onTestFinished: finished, expect }) => {
    const { call } = await badServer('schemas', { finished })
    expect((await call('mcp__bad__recursive_ref', { tree: { child: { child: { x: 1 } } } })).content).toMatch(
      /^tree\.child\.child: "x" is no argument, got an object\nExpected: mcp__bad__recursive_ref\(tree\?: any\)$/,
    )
    expect(await call('mcp__bad__recursive_ref', { tree: { child: {} } })).toMatchObject({ content: 'fine' })
    expect((await call('mcp__bad__draft_07', { a: [1.5] })).content).toMatch(/^a\[0\]: expected string, got 1\.5\n/)
    expect((await call('mcp__bad__proto', { constructor: 'x' })).content).toMatch(
      /^constructor: expected number, got "x"/,
    )
    expect(await call('mcp__bad__proto', {})).toMatchObject({ content: 'fine' })
    expect(await call('mcp__bad__good', { n: '4', x: 1 })).toMatchObject({ content: 'fine' })
    expect(await call('mcp__bad__no_type', { whatever: [1] })).toMatchObject({ content: 'fine' })
  })

  it('are always about an object at the top', async ({ onTestFinished: finished, expect }) => {
    const { connections } = await badServer('schemas', { finished })
    const tops = connections.tools.map((tool) => tool.parameters())
    expect(tops.map(({ type, properties }) => [type, typeof properties])).toEqual(tops.map(() => ['object', 'object']))
    expect(connections.tools.find(({ name }) => name === 'mcp__bad__draft_07')?.parameters()).toEqual({
      type: 'object',
      properties: { a: { type: 'array', items: [{ type: 'string' }] } },
    })
  })
})

describe.concurrent('tools', () => {
  it('have names that models take, each its own, the same every time', async ({ onTestFinished: finished, expect }) => {
    const { state, call } = await badServer('names', { finished })
    const again = await badServer('names', { finished })
    expect(again.state.tools).toEqual(state.tools)
    expect(state.tools).toEqual([
      expect.stringMatching(/^mcp__bad__a_b_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp__bad__a_b_[0-9a-f]{8}$/),
      'mcp__bad__a_b',
      'mcp__bad__gr__e___31m',
      'mcp__bad__twice',
      expect.stringMatching(/^mcp__bad__x{45}_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp__bad__x{45}_[0-9a-f]{8}$/),
    ])
    expect(new Set(state.tools).size).toBe(state.tools.length)
    expect(state.message).toBe('it lists the tool twice more than once; the first counts')
    for (const name of state.tools) expect(await call(name, {})).toMatchObject({ content: 'fine' })
  })

  it('that are named after the digest of another cost that other one, and not the run', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { state, call } = await badServer('taken_names', { finished })
    const [first = '', second] = state.tools
    expect(state.tools).toEqual([first, expect.stringMatching(/^mcp__bad__x_y_[0-9a-f]{8}$/)])
    expect(second).not.toBe(first)
    expect(state.message).toBe(`the tool x{y is left out: there is another one called ${first}`)
    expect(await call(first, {})).toMatchObject({ content: 'fine' })
  })

  it('are called at the server by the names it gave them', async ({ onTestFinished: finished, expect }) => {
    const { state, call, heard } = await badServer('names', { finished })
    for (const name of state.tools.slice(0, 3)) await call(name, {})
    expect((await heard()).filter((line) => line.startsWith('tools/call'))).toEqual([
      'tools/call a.b',
      'tools/call a/b',
      'tools/call a_b',
    ])
  })

  it('of servers whose names run into each other stay apart', async ({ onTestFinished: finished, expect }) => {
    const { connections } = await connect(
      { x__a_b: node(BAD_SERVER, 'names'), x: node(BAD_SERVER, 'names') },
      { finished },
    )
    const names = connections.tools.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(stateOf(connections, 'x').state).toBe('ready')
  })

  it('are what their server says they are, with descriptions that fit and hide nothing', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { connections } = await badServer('annotated', { finished })
    const about = connections.tools.map(({ name, effect, repeatable }) => [name.slice(10), effect, repeatable])
    expect(about).toEqual([
      ['again', 'external', true],
      ['hidden', 'external', false],
      ['reads', 'fetch', true],
      ['writes', 'external', false],
    ])
    const [, hidden, , long] = connections.tools.map((tool) => tool.description(DEFAULT_LIMITS))
    expect(hidden).toBe('be nice')
    expect(long).toHaveLength(2000)
  })
})

describe.concurrent('a list of tools that changes', () => {
  it('leaves what was offered, answers for what is gone, and reads calls by what is wanted now', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call, connections, state } = await badServer('changing', { finished })
    const before = connections.tools.map((tool) => [tool.name, tool.description(DEFAULT_LIMITS), tool.parameters()])
    expect(await call('mcp__bad__goes', {})).toMatchObject({ content: 'fine' })
    expect(await call('mcp__bad__change', {})).toMatchObject({ content: 'changed' })
    expect(await call('mcp__bad__goes', {})).toMatchObject({
      status: 'error',
      content: 'the server bad no longer has the tool goes',
    })
    expect((await call('mcp__bad__stays', {})).content).toBe('m is missing\nExpected: mcp__bad__stays(m: string)')
    expect(await call('mcp__bad__stays', { m: 'x' })).toMatchObject({ content: 'fine' })
    const after = connections.tools.map((tool) => [tool.name, tool.description(DEFAULT_LIMITS), tool.parameters()])
    expect(after).toEqual(before)
    expect(state.message).toBe('the description of stays changed after it was offered')
  })

  it('is read anew when the server is started again', async ({ onTestFinished: finished, expect }) => {
    const { call, state } = await badServer('restarting_changed', { finished })
    await call('mcp__bad__crash', {})
    expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
    expect(state.message).toBe('the description of ok changed after it was offered')
  })
})
