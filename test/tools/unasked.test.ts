import { describe, expect, it } from 'vitest'
import type { Fence } from '../../src/host/index.js'
import { judgeCommand } from '../../src/tools/index.js'
import { authorityWith } from './authority.js'
import { delegationLab } from './delegation-lab.js'

describe('where no person can be asked', () => {
  const write: [string, unknown] = ['write_file', { path: 'a.txt', content: 'x' }]
  const fetch: [string, unknown] = ['web_fetch', { url: 'http://127.0.0.1:9/' }]
  const command: [string, unknown] = ['run_command', { command: 'true' }]
  const tests: [string, unknown] = ['run_tests', {}]
  const child = { can_ask_person: false, mode: 'normal' } as const
  const nobody = /nobody to ask/

  it('the mode of the contract answers for its own, and the log says so', async () => {
    const { turn, events, read } = await delegationLab(null, { authority: { ...child, unasked: 'auto' } })
    expect(await turn(write)).toMatchObject([{ status: 'ok' }])
    expect(await read('a.txt')).toBe('x')
    const called = events.find(({ type }) => type === 'tool.called')
    expect(called?.data).toMatchObject({ decision: 'allow', rule: 'mode normal, unasked' })
    expect(events.map(({ type }) => type)).toEqual(['tool.called', 'commit', 'tool.finished'])
    // Auto mode asks about the web, dangerous mode does not.
    expect(await turn(fetch)).toMatchObject([{ code: 'denied', content: expect.stringMatching(nobody) }])
    const wild = await delegationLab(null, { authority: { ...child, unasked: 'dangerous' } })
    expect(await wild.turn(fetch)).toMatchObject([{ tool: 'web_fetch', status: 'error' }])
  })

  it.each([
    ['the contract does not say', child, write],
    ['the mode would have to ask too', { ...child, unasked: 'normal' }, write],
    ['a rule wants it asked', { ...child, unasked: 'dangerous', rules: ['ask write_file'] }, write],
    ['a rule about what it runs wants it asked', { ...child, unasked: 'dangerous', rules: ['ask run_command'] }, tests],
    ['it is a command without a fence', { ...child, unasked: 'dangerous', mode: 'auto' }, command],
    [
      'a rule allows a command without a fence',
      { ...child, unasked: 'dangerous', rules: ['allow run_command'] },
      command,
    ],
  ] as const)('it is denied where %s', async (_, authority, call) => {
    const lab = await delegationLab(null, {
      authority: authority as Parameters<typeof authorityWith>[0],
      files: { 'package.json': '{"scripts":{"test":"true"}}' },
      // Nothing is run here: it is only said that a fence is there.
      ...(call === tests ? { context: { fence: {} as Fence } } : {}),
    })
    expect(await lab.turn([call[0], call[1]])).toMatchObject([
      { code: 'denied', content: expect.stringMatching(nobody) },
    ])
    expect(lab.events.map(({ type }) => type)).not.toContain('tool.called')
  })

  it('a person is asked where one can be, whatever the contract says about nobody', async () => {
    const { turn, events } = await delegationLab(null, { authority: { unasked: 'dangerous' } })
    expect(await turn(write)).toMatchObject([{ status: 'ok' }])
    expect(events.map(({ type }) => type)).toContain('a person')
  })

  it('a rule that wants to be asked shows, beside a mode that asks too', async () => {
    const mode = { mode: 'normal', rules: [] } as const
    const rule = { mode: 'normal', rules: [{ decision: 'ask', tool: 'run_command', pattern: null }] } as const
    for (const rules of [
      [mode, rule],
      [rule, mode],
    ]) {
      const authority = { ...authorityWith({}), rules: rules.map((layer) => ({ ...layer, rules: [...layer.rules] })) }
      expect(await judgeCommand(authority, 'ls', true)).toMatchObject({ decision: 'ask', by: 'rule' })
    }
  })
})

describe('judging a command that nobody called', () => {
  const auto = (rules: string[]) => {
    const authority = authorityWith({ mode: 'auto', rules })
    return { ...authority, rules: authority.rules.map((layer) => ({ ...layer, mode: 'auto' as const })) }
  }

  it('goes by the same rules as run_command', async () => {
    const rules = ['deny run_command(git push *)', 'ask run_command(npm publish *)']
    const judged = async (command: string, sandboxed: boolean) =>
      (await judgeCommand(auto(rules), command, sandboxed)).decision
    expect(await judged('npm test', true)).toBe('allow')
    expect(await judged('npm test && git push origin', true)).toBe('deny')
    expect(await judged('npm publish .', true)).toBe('ask')
    expect(await judged('npm test', false)).toBe('ask')
    expect((await judgeCommand(authorityWith({ allowed_tools: [] }), 'true', true)).decision).toBe('deny')
  })
})
