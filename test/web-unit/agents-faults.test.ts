import { describe, expect, it } from 'vitest'
import { parseRegistryText } from '#domain'
import { textFaults } from '../../web/src/pages/agents/registry/faults'
import { newAgent } from '../../web/src/pages/agents/registry/new-agent'

const PROFILES = [
  { name: 'reviewer', fault: null },
  { name: 'writer', fault: null },
  { name: 'broken', fault: 'broken.md:3: not valid YAML' },
]

const agent = (more: object = {}) => ({
  agentId: '@critic',
  profileId: 'reviewer',
  description: 'Finds faults.',
  ...more,
})
const text = (...agents: object[]) => JSON.stringify({ version: 1, agents }, null, 2)

/** What is marked, instead of where: the text at the place. */
function marked(source: string, profiles: typeof PROFILES | null = PROFILES) {
  return textFaults(source, profiles).map(({ severity, line, path, message, from, to }) => ({
    at: source.slice(from, to),
    line,
    severity,
    says: path === '' ? message : `${path}: ${message}`,
  }))
}

describe('faults of a registry as it is typed', () => {
  it('a sound one has none', () => {
    expect(marked(text(agent({ tags: ['review'] })))).toEqual([])
  })

  it('what is no JSON is marked where it ends to be, in the words of the server', () => {
    const source = '{\n  "version": 1,\n  "agents": [}\n}'
    const says = 'line 3, column 14: this is no JSON: expected a value, found "}"'
    expect(marked(source)).toEqual([{ at: '}', line: 3, severity: 'error', says }])
    expect(parseRegistryText(source, null)).toEqual({ ok: false, faults: [{ path: '', message: says }] })
  })

  it('counts characters as people do, and marks the right one all the same', () => {
    const source = '{ "🌱🌱": x }'
    expect(marked(source)).toEqual([
      { at: 'x', line: 1, severity: 'error', says: 'line 1, column 9: this is no JSON: expected a value, found "x"' },
    ])
  })

  it('a text that ends too soon is marked at its end', () => {
    expect(textFaults('{', null)).toEqual([
      {
        path: '',
        message: 'line 1, column 2: this is no JSON: expected a key in double quotes, found the end of the text',
        from: 1,
        to: 1,
        line: 1,
        severity: 'error',
      },
    ])
  })

  it('marks values, keys that there are not, and what something is missing from', () => {
    const source = text(agent({ agentId: '@X' }), agent({ tgas: [], tags: ['a', 'a'] }), { agentId: '@other' })
    expect(marked(source)).toEqual([
      {
        at: '"@X"',
        line: 5,
        severity: 'error',
        says: 'agents[0].agentId: "@X" is no handle: a handle is @ and 2 to 32 lower-case letters, digits, dashes and underscores',
      },
      { at: '"tgas"', line: 13, severity: 'error', says: 'agents[1]: unknown key "tgas": did you mean tags?' },
      { at: '"a"', line: 16, severity: 'error', says: 'agents[1].tags[1]: "a" is there twice: it is [0] too' },
      { at: '{', line: 19, severity: 'error', says: 'agents[2].profileId: is missing: it is the name of a profile' },
      {
        at: '{',
        line: 19,
        severity: 'error',
        says: 'agents[2].description: is missing: say in at most 300 characters what the agent is good for',
      },
    ])
  })

  it('a profile that there is not is a fault, as it is for the server; one that is broken is warned of', () => {
    const source = text(agent({ profileId: 'reviewr' }), agent({ agentId: '@other', profileId: 'broken' }))
    expect(marked(source)).toEqual([
      {
        at: '"reviewr"',
        line: 6,
        severity: 'error',
        says: 'agents[0].profileId: there is no profile "reviewr" (did you mean reviewer?): retinue agents (in a chat: /agents) lists those that there are',
      },
      {
        at: '"broken"',
        line: 11,
        severity: 'warning',
        says: 'agents[1].profileId: the profile broken is broken: broken.md:3: not valid YAML',
      },
    ])
    expect(marked(source, null)).toEqual([])
  })

  it('a registry that is something else is marked where it begins', () => {
    expect(marked('[]')).toEqual([
      {
        at: '[',
        line: 1,
        severity: 'error',
        says: 'the registry must be an object with version and agents, not a list',
      },
    ])
    expect(marked('null')).toEqual([
      {
        at: 'null',
        line: 1,
        severity: 'error',
        says: 'the registry must be an object with version and agents, not nothing',
      },
    ])
  })
})

describe('another agent', () => {
  const added = (source: string) => {
    const made = newAgent(source)
    return made && source.slice(0, made.at) + made.text + source.slice(made.at)
  }

  it('is written behind the last one, as the registry is written', () => {
    const empty = { agentId: '@', profileId: '', description: '' }
    expect(added(text(agent()))).toBe(text(agent(), empty))
    expect(added(text())).toBe(text(empty))
  })

  it('begins with its handle', () => {
    const made = newAgent(text(agent()))
    expect(made?.text.slice(0, made.select.from).endsWith('"agentId": "@')).toBe(true)
  })

  it('is not written where there is no list', () => {
    expect([newAgent('{'), newAgent('{"agents": 1}'), newAgent('[]'), newAgent('')]).toEqual([null, null, null, null])
  })
})
