import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storedRegistry } from '../../src/control/index.js'
import { NO_AGENTS, parseRegistryText, readRegistry } from '../../src/domain/index.js'

const PROFILES = ['profile:writer:v1', 'docs', 'reviewer']

const WRITER = {
  agentId: '@writer',
  profileId: 'profile:writer:v1',
  description: 'Writes clear, human-sounding docs and messages. Prioritises structure and tone.',
  defaultForwardSkills: ['skill:writing_helpers'],
  allowedForwardSkills: ['skill:writing_helpers', 'skill:formatting'],
  defaultMcpServers: ['mcp:docs'],
  allowedMcpServers: ['mcp:docs', 'mcp:web'],
  tags: ['writing', 'docs'],
}

const HANDLE = 'a handle is @ and 2 to 32 lower-case letters, digits, dashes and underscores'
const SKILL =
  'the name of a skill begins with a letter or digit and has at most 64 letters, digits, dashes and underscores'
const TAG = 'a tag has 1 to 40 characters: no commas, quotes, bars, <, > and &, and no blanks at its ends'
const UNSEEN = 'has a line break or another character that cannot be seen: write it in one plain line'

const agents = (...list: unknown[]) => ({ version: 1, agents: list })
const agent = (changes: object) => agents({ agentId: '@ab', profileId: 'docs', description: 'Docs.', ...changes })

describe('a registry', () => {
  it('is read as the seed writes it, with prefixes of names left out', () => {
    expect(readRegistry(agents(WRITER), PROFILES)).toEqual({
      ok: true,
      value: {
        version: 1,
        agents: [
          {
            ...WRITER,
            defaultForwardSkills: ['writing_helpers'],
            allowedForwardSkills: ['writing_helpers', 'formatting'],
            defaultMcpServers: ['docs'],
            allowedMcpServers: ['docs', 'web'],
          },
        ],
      },
    })
  })

  it.each([
    ['lists may be absent', {}],
    ['and empty, which is not the same', { allowedForwardSkills: [], allowedMcpServers: [], tags: [] }],
    ['a description has 300 characters as people count them', { description: '😀'.repeat(300) }],
    ['a handle has 2 to 32', { agentId: `@${'a'.repeat(32)}` }],
    ['defaults without limits', { defaultForwardSkills: ['a'], defaultMcpServers: ['b'] }],
    ['tags in any script', { tags: ['テスト', 'c++', 'a b'] }],
  ])('%s', (_, changes) => {
    const value = agent(changes)
    expect(readRegistry(value, PROFILES)).toEqual({ ok: true, value })
  })

  it('may be empty', () => {
    expect(readRegistry(agents(), PROFILES)).toEqual({ ok: true, value: NO_AGENTS })
  })

  it.each<[string, unknown, string, string]>([
    ['no object', [], '', 'the registry must be an object with version and agents, not a list'],
    ['nothing', null, '', 'the registry must be an object with version and agents, not nothing'],
    ['no version', { agents: [] }, 'version', 'is missing: it is 1'],
    ['another version', { version: 2, agents: [] }, 'version', 'must be the number 1, not 2'],
    ['a version in quotes', { version: '1', agents: [] }, 'version', 'must be the number 1, not "1"'],
    ['no agents', { version: 1 }, 'agents', 'is missing: it is the list of agents; an empty list: none'],
    ['agents as an object', { version: 1, agents: {} }, 'agents', 'must be a list, not an object; an empty list: none'],
    ['an unknown key', { ...agents(), agent: 1 }, '', 'unknown key "agent": did you mean agents?'],
    [
      'a hidden key',
      JSON.parse('{"version":1,"agents":[],"__proto__":{}}'),
      '',
      'unknown key "__proto__": there are version, agents',
    ],
    ['an agent that is a text', agents('@ab'), 'agents[0]', 'an agent is an object, not a text'],
    ['a hole', agents(null), 'agents[0]', 'an agent is an object, not nothing'],
    [
      'an unknown key of an agent',
      agent({ profileID: 'x' }),
      'agents[0]',
      'unknown key "profileID": did you mean profileId?',
    ],
    ['no handle', agent({ agentId: undefined }), 'agents[0].agentId', `is missing: ${HANDLE}`],
    ['a handle without @', agent({ agentId: 'writer' }), 'agents[0].agentId', `"writer" is no handle: ${HANDLE}`],
    ['a short one', agent({ agentId: '@a' }), 'agents[0].agentId', `"@a" is no handle: ${HANDLE}`],
    [
      'a long one',
      agent({ agentId: `@${'a'.repeat(33)}` }),
      'agents[0].agentId',
      `"@${'a'.repeat(33)}" is no handle: ${HANDLE}`,
    ],
    ['a large one', agent({ agentId: '@Writer' }), 'agents[0].agentId', `"@Writer" is no handle: ${HANDLE}`],
    ['one with more after it', agent({ agentId: '@ab\n' }), 'agents[0].agentId', `"@ab\\n" is no handle: ${HANDLE}`],
    ['one that leads elsewhere', agent({ agentId: '@a:b' }), 'agents[0].agentId', `"@a:b" is no handle: ${HANDLE}`],
    ['one of another script', agent({ agentId: '@wrіter' }), 'agents[0].agentId', `"@wrіter" is no handle: ${HANDLE}`],
    [
      'one with hidden marks',
      agent({ agentId: '@ab\u202e' }),
      'agents[0].agentId',
      `"@ab\\u{202e}" is no handle: ${HANDLE}`,
    ],
    ['a handle that is a number', agent({ agentId: 7 }), 'agents[0].agentId', `must be a text, not 7: ${HANDLE}`],
    ['no profile', agent({ profileId: undefined }), 'agents[0].profileId', 'is missing: it is the name of a profile'],
    [
      'a profile that is not there',
      agent({ profileId: 'dosc' }),
      'agents[0].profileId',
      'there is no profile "dosc" (did you mean docs?): retinue agents (in a chat: /agents) lists those that there are',
    ],
    [
      'one that is like none',
      agent({ profileId: 'zzzzzzzz' }),
      'agents[0].profileId',
      'there is no profile "zzzzzzzz": retinue agents (in a chat: /agents) lists those that there are',
    ],
    [
      'a profile that is a list',
      agent({ profileId: [] }),
      'agents[0].profileId',
      'must be the name of a profile, not a list',
    ],
    [
      'no description',
      agent({ description: undefined }),
      'agents[0].description',
      'is missing: say in at most 300 characters what the agent is good for',
    ],
    [
      'an empty one',
      agent({ description: ' ' }),
      'agents[0].description',
      'is empty: say in at most 300 characters what the agent is good for',
    ],
    [
      'one of 301 characters',
      agent({ description: '😀'.repeat(301) }),
      'agents[0].description',
      'has 301 characters: it may have at most 300',
    ],
    ['one of two lines', agent({ description: 'a\nb' }), 'agents[0].description', UNSEEN],
    ['one with an escape', agent({ description: 'a\u001b[31mb' }), 'agents[0].description', UNSEEN],
    ['one with a mark of direction', agent({ description: 'a\u202eb' }), 'agents[0].description', UNSEEN],
    ['one with letters that nobody sees', agent({ description: 'a\u{e0041}b' }), 'agents[0].description', UNSEEN],
    ['half a character', agent({ description: 'a\ud83d' }), 'agents[0].description', UNSEEN],
    ['a description that is true', agent({ description: true }), 'agents[0].description', 'must be a text, not true'],
    [
      'skills in one text',
      agent({ allowedForwardSkills: 'a, b' }),
      'agents[0].allowedForwardSkills',
      'must be a list of texts, not a text',
    ],
    [
      'a skill that is null',
      agent({ allowedForwardSkills: ['a', null] }),
      'agents[0].allowedForwardSkills[1]',
      'must be a text, not nothing',
    ],
    [
      'a skill that is a path',
      agent({ allowedForwardSkills: ['../x'] }),
      'agents[0].allowedForwardSkills[0]',
      `"../x": ${SKILL}`,
    ],
    [
      'a skill with another prefix',
      agent({ defaultForwardSkills: ['mcp:x'] }),
      'agents[0].defaultForwardSkills[0]',
      `"mcp:x": ${SKILL}`,
    ],
    [
      'a skill of no letters',
      agent({ defaultForwardSkills: ['skill:'] }),
      'agents[0].defaultForwardSkills[0]',
      `"skill:": ${SKILL}`,
    ],
    [
      'a skill twice',
      agent({ allowedForwardSkills: ['a', 'skill:a'] }),
      'agents[0].allowedForwardSkills[1]',
      '"skill:a" is there twice: it is [0] too',
    ],
    [
      'a server that passes for another',
      agent({ allowedMcpServers: ['a__b'] }),
      'agents[0].allowedMcpServers[0]',
      '"a__b": a server name does not begin or end with an underscore, nor has two in a row',
    ],
    [
      '101 servers',
      agent({ allowedMcpServers: Array.from({ length: 101 }, (_, i) => `s${i}`) }),
      'agents[0].allowedMcpServers',
      'has 101 entries: it may have at most 100',
    ],
    [
      'a default that is not allowed',
      agent({ defaultForwardSkills: ['a', 'b'], allowedForwardSkills: ['a'] }),
      'agents[0].defaultForwardSkills[1]',
      '"b" is not in allowedForwardSkills: add it there, or leave it out here',
    ],
    [
      'a default where nothing is',
      agent({ defaultMcpServers: ['a'], allowedMcpServers: [] }),
      'agents[0].defaultMcpServers[0]',
      '"a" is not in allowedMcpServers: add it there, or leave it out here',
    ],
    ['a tag with markup', agent({ tags: ['<b>'] }), 'agents[0].tags[0]', `"<b>": ${TAG}`],
    ['a tag that ends an attribute', agent({ tags: ['a" x="'] }), 'agents[0].tags[0]', `"a\\" x=\\"": ${TAG}`],
    ['a tag of two lines', agent({ tags: ['a\nb'] }), 'agents[0].tags[0]', `"a\\nb": ${TAG}`],
    ['a tag of 41 characters', agent({ tags: ['x'.repeat(41)] }), 'agents[0].tags[0]', `"${'x'.repeat(41)}": ${TAG}`],
    ['an empty tag', agent({ tags: [''] }), 'agents[0].tags[0]', `"": ${TAG}`],
    [
      '21 tags',
      agent({ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }),
      'agents[0].tags',
      'has 21 entries: it may have at most 20',
    ],
    [
      'a handle twice',
      agents({ ...WRITER }, { ...WRITER }),
      'agents[1].agentId',
      '@writer is the handle of agents[0] too',
    ],
    [
      '101 agents',
      agents(...Array.from({ length: 101 }, () => WRITER)),
      'agents',
      'there are 101 agents: a registry has at most 100',
    ],
  ])('is refused with %s', (_, value, path, message) => {
    expect(readRegistry(value, PROFILES)).toEqual({ ok: false, faults: [{ path, message }] })
  })

  it('is told all its faults at once, in the order of the text', () => {
    const value = {
      version: 3,
      agents: [
        { agentId: '@ok-', profileId: 'docs', description: 'Fine.' },
        {
          agentId: 'bad',
          profileId: 'dox',
          descripton: 'x',
          defaultForwardSkills: [1, 'b'],
          allowedForwardSkills: ['a'],
        },
        { agentId: '@ok-', profileId: 'docs', description: '' },
      ],
    }
    const read = readRegistry(value, PROFILES)
    expect(read.ok ? [] : read.faults.map(({ path }) => path)).toEqual([
      'version',
      'agents[1]',
      'agents[1].agentId',
      'agents[1].profileId',
      'agents[1].description',
      'agents[1].defaultForwardSkills[0]',
      'agents[1].defaultForwardSkills[1]',
      'agents[2].description',
      'agents[2].agentId',
    ])
  })

  it('of 10,000 agents is refused with one message, without a look at them', () => {
    let looked = 0
    const list = Array.from({ length: 10_000 }, () => ({
      get agentId() {
        looked++
        return 'bad'
      },
    }))
    expect(readRegistry({ version: 1, agents: list }, PROFILES)).toEqual({
      ok: false,
      faults: [{ path: 'agents', message: 'there are 10000 agents: a registry has at most 100' }],
    })
    expect(looked).toBe(0)
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('the text of a registry', () => {
  it('is JSON, with or without a mark at its beginning', () => {
    const value = agents({ agentId: '@ab', profileId: 'docs', description: 'Says "hi" \\ é' })
    expect(parseRegistryText(JSON.stringify(value, null, 2), PROFILES)).toEqual({ ok: true, value })
    expect(parseRegistryText(`\ufeff${JSON.stringify(value)}\n`, PROFILES)).toEqual({ ok: true, value })
  })

  it.each([
    ['', 1, 1, 'the text ends where a value should be'],
    ['{"version": 1,\n "agents": [}', 2, 13, 'expected a value, found "}"'],
    ['{"version": 1,\n "agents": []', 2, 14, 'expected a comma or }, found the end of the text'],
    ['{"version": 1,\n}', 2, 1, 'expected a key in double quotes, found "}"'],
    ["{'version': 1}", 1, 2, 'expected a key in double quotes, found "\'"'],
    ['{"version" 1}', 1, 12, 'expected a colon after the key, found "1"'],
    ['{"version": 01}', 1, 13, 'expected a value, found "0"'],
    ['{"version": 1} x', 1, 16, 'there is more after the end of the value'],
    ['["😀", tru]', 1, 7, 'expected a value, found "t"'],
    ['["a]', 1, 2, 'this text has no closing quote'],
    ['["a\nb"]', 1, 4, 'a line break, tab or control character in a text: write it as \\n, \\t or \\u0000'],
    ['["\\x"]', 1, 3, 'an escape that JSON does not have'],
    ['{"version": 1,\n "agents": [],\n "agents": []}', 3, 2, 'the key "agents" is there twice'],
    ['['.repeat(100_000), 1, 52, 'lists and objects are nested more than 50 deep'],
    ['// all of them\n{}', 1, 1, 'expected a value, found "/"'],
  ])('that is no JSON is refused with the place: %j', (text, line, column, message) => {
    expect(parseRegistryText(text, PROFILES)).toEqual({
      ok: false,
      faults: [{ path: '', message: `line ${line}, column ${column}: this is no JSON: ${message}` }],
    })
  })

  it('is JSON exactly where the engine says so', () => {
    const torn = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '0', '-', 'e', '\n', 'null'),
      )
      .map(([text, at, cut, put]) => {
        const place = at % (text.length + 1)
        return `${text.slice(0, place)}${put}${text.slice(place + cut)}`
      })
    fc.assert(
      fc.property(fc.oneof(torn, fc.json(), fc.string()), (text) => {
        const read = parseRegistryText(text, PROFILES)
        const message = read.ok ? '' : (read.faults[0]?.message ?? '')
        fc.pre(!message.endsWith('is there twice'))
        expect(message.includes('this is no JSON')).toBe(!isJson(text.replace(/^\ufeff/, '')))
      }),
      { numRuns: 5000 },
    )
  })

  it('is not read where it is longer than any registry', () => {
    const read = parseRegistryText(' '.repeat(2_000_001), PROFILES)
    expect(read).toMatchObject({
      ok: false,
      faults: [{ message: 'the text has 2000001 characters: a registry has at most 2000000' }],
    })
  })
})

describe('the registry of a store', () => {
  const record = (value: unknown) => ({
    type: 'policy',
    id: 'agent-registry:default',
    version: 4,
    value,
    at: 0,
    by: 'ada',
  })

  it('is empty where there is no record', () => {
    expect(storedRegistry(null)).toMatchObject({ ok: true, value: { version: 0, value: NO_AGENTS } })
  })

  it('keeps agents whose profiles are gone', () => {
    const value = agent({ profileId: 'gone' })
    expect(storedRegistry(record(value))).toMatchObject({ ok: true, value: { version: 4, value } })
  })

  it('that makes no sense says so, and how it is replaced', () => {
    expect(storedRegistry(record({ version: 9, agents: [] }))).toEqual({
      ok: false,
      code: 'corrupt',
      message:
        'The agent registry in the store makes no sense (its record has version 4): version: must be the number 1, not 9\n' +
        'Replace it with: retinue agents registry --set <file> --expect 4',
    })
  })
})
