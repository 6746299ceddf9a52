import { describe, expect, test } from 'vitest'
import type { Message, ModelRequest } from '../../src/domain/index.js'
import {
  type Caller,
  createScriptedModel,
  type Model,
  type ModelAnswer,
  readScript,
  type ScriptedModelOptions,
} from '../../src/models/index.js'
import { ask, CALLER, options } from './lab.js'

/** A conversation with a model, kept as the runtime keeps it. */
function talk(model: Model, more: Partial<Caller> = {}) {
  const messages: Message[] = [{ role: 'user', content: 'Fix the bug' }]
  const request = (purpose: Caller['purpose']): ModelRequest =>
    purpose === 'turn'
      ? ask([...messages])
      : ask([...messages, { role: 'user', content: `Write a ${purpose}` }], { tool_choice: 'none' })
  return {
    messages,
    async turn(attempt = 1): Promise<ModelAnswer> {
      const answer = await model.generate(request('turn'), options({ caller: { ...CALLER, attempt, ...more } }))
      if (!answer.ok) return answer
      const parts = answer.parts.map((part, index) =>
        part.type === 'tool_call' ? { ...part, call_id: `c${messages.length}_${index}` } : part,
      )
      messages.push({ role: 'assistant', parts })
      return answer
    },
    words(purpose: 'report' | 'summary'): Promise<ModelAnswer> {
      return model.generate(request(purpose), options({ caller: { ...CALLER, purpose, ...more } }))
    },
    result(content: string) {
      messages.push({
        role: 'tool',
        results: [{ call_id: 'c', wire_id: 'w', tool: 'read_file', content, is_error: false }],
      })
    },
  }
}

function textOf(answer: ModelAnswer): string {
  if (!answer.ok) return `${answer.code}: ${answer.message}`
  return answer.parts.map((part) => (part.type === 'tool_call' ? `<${part.tool} ${part.args}>` : part.text)).join('')
}

const SIMPLE: ScriptedModelOptions = {
  name: 'simple',
  agents: {
    root: [
      {
        expect: { contains: 'Fix the bug' },
        reasoning: 'Hm.',
        text: 'I will look.',
        calls: [{ read_file: { path: 'a' } }, { tool: 'read_file', raw_args: '{"path": ' }, { list_dir: null }],
        usage: { input_tokens: 100, output_tokens: 20 },
      },
      { expect: { matches: 'line \\d+' }, text: 'Done.' },
    ],
  },
}

describe('a script', () => {
  test('is answered step by step', async () => {
    const model = createScriptedModel(SIMPLE)
    const { turn, result } = talk(model)
    expect(await turn()).toEqual({
      ok: true,
      model: 'scripted/simple',
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        {
          type: 'text',
          text: 'I will look.',
          provider: { scripted: { script: 'simple', agent: 'root', list: 'steps', step: '1' } },
        },
        { type: 'tool_call', wire_id: 'call_1_1', tool: 'read_file', args: '{"path":"a"}' },
        { type: 'tool_call', wire_id: 'call_1_2', tool: 'read_file', args: '{"path": ' },
        { type: 'tool_call', wire_id: 'call_1_3', tool: 'list_dir', args: '{}' },
      ],
      finish_reason: 'tool_calls',
      usage: { input_tokens: 100, output_tokens: 20, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
    })
    expect(() => model.assertAllUsed()).toThrow('script simple:\n  never used: root step 2')
    result('line 12')
    expect(textOf(await turn())).toBe('Done.')
    model.assertAllUsed()
    expect(model.requests).toHaveLength(2)
  })

  test('goes on where it was in another process', async () => {
    const first = createScriptedModel(SIMPLE)
    const { turn, result, messages } = talk(first)
    await turn()
    result('line 1')
    const second = createScriptedModel(SIMPLE)
    const answer = await second.generate(ask(structuredClone(messages)), options())
    expect(textOf(answer)).toBe('Done.')
    second.assertAllUsed()
  })

  test('says the same to the same request', async () => {
    const model = createScriptedModel(SIMPLE)
    const once = await model.generate(ask([{ role: 'user', content: 'Fix the bug' }]), options())
    expect(await model.generate(ask([{ role: 'user', content: 'Fix the bug' }]), options())).toEqual(once)
  })

  test('is not moved by answers of another model or another agent', async () => {
    const model = createScriptedModel({ name: 's', agents: { '*': [{ text: 'one' }, { text: 'two' }] } })
    const foreign: Message = { role: 'assistant', parts: [{ type: 'text', text: 'foreign' }] }
    const parent = talk(model, { agent_id: 'parent' })
    await parent.turn()
    const messages: Message[] = [foreign, ...parent.messages, { role: 'user', content: 'go' }]
    expect(textOf(await model.generate(ask(messages), options()))).toBe('one')
  })

  test('speaks in words to who listens, and stops when it is told to', async () => {
    const model = createScriptedModel({
      name: 's',
      agents: { '*': [{ text: 'one  two\nthree ' }, { text: 'x', delay_ms: 5000 }] },
    })
    const said: string[] = []
    await model.generate(ask(), options({ onDelta: ({ text }) => said.push(text) }))
    expect(said).toEqual(['one  ', 'two\n', 'three '])
    const { turn } = talk(model)
    await turn()
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 10)
    const started = performance.now()
    const { messages } = talk(model)
    messages.push({
      role: 'assistant',
      parts: [
        { type: 'text', text: 'x', provider: { scripted: { script: 's', agent: 'root', list: 'steps', step: '1' } } },
      ],
    })
    expect(await model.generate(ask(messages), options({ signal: controller.signal }))).toMatchObject({
      code: 'aborted',
    })
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('what a script did not foresee', () => {
  test('another last message', async () => {
    const model = createScriptedModel(SIMPLE)
    expect(await model.generate(ask([{ role: 'user', content: 'Paint it' }]), options())).toEqual({
      ok: false,
      code: 'bad_request',
      message: 'script simple, agent root, step 1: expected text containing "Fix the bug"; what came: "Paint it"',
      retry_after_ms: null,
    })
    expect(() => model.assertAllUsed()).toThrow('what came: "Paint it"')
  })

  test.each<[object, string | null]>([
    [{ matches: '^Fix.*bug$' }, null],
    [{ contains: ['Fix', 'bug'], excludes: 'feature' }, null],
    [{ matches: 'paint' }, 'text matching /paint/'],
    [{ contains: ['Fix', 'wall', 'roof'] }, 'text containing "wall" and "roof"'],
    [{ excludes: ['bug', 'wall'] }, 'text without "bug"'],
  ])('expecting %j', async (matcher, missed) => {
    const model = createScriptedModel({ name: 's', agents: { root: [{ expect: matcher, text: 'ok' }] } })
    const said = textOf(await talk(model).turn())
    expect(said).toBe(
      missed ? `bad_request: script s, agent root, step 1: expected ${missed}; what came: "Fix the bug"` : 'ok',
    )
  })

  test('one more call', async () => {
    const model = createScriptedModel({ name: 's', agents: { root: [{ text: 'all' }] } })
    const { turn } = talk(model)
    await turn()
    expect(textOf(await turn())).toBe('bad_request: script s, agent root: no step after the last, 1; what came: "all"')
    expect(model.violations).toHaveLength(1)
  })

  test('another agent', async () => {
    const model = createScriptedModel({ name: 's', agents: { root: [{ text: 'all' }] } })
    expect(textOf(await talk(model, { agent_id: 'a7' }).turn())).toBe(
      'bad_request: script s, agent a7: not in the script, which has root; what came: "Fix the bug"',
    )
  })

  test('a report', async () => {
    const model = createScriptedModel({ name: 's', agents: { root: [{ text: 'all' }] } })
    expect(textOf(await talk(model).words('report'))).toBe(
      'bad_request: script s, agent root: asked for a report, and the script has no report list; what came: "Write a report"',
    )
  })
})

describe('failures', () => {
  const agents: ScriptedModelOptions['agents'] = {
    root: [
      { fail: { code: 'rate_limited', retry_after_ms: 5 } },
      { fail: { code: 'overloaded', message: 'busy' } },
      { text: 'one' },
      { fail: { code: 'network' } },
      { text: 'two' },
    ],
  }

  test('come one after the other, then the answer', async () => {
    const model = createScriptedModel({ name: 's', agents })
    const { turn } = talk(model)
    expect(await turn()).toEqual({
      ok: false,
      code: 'rate_limited',
      message: 'script s, agent root, step 1 fails',
      retry_after_ms: 5,
    })
    expect(textOf(await turn(2))).toBe('overloaded: busy')
    expect(textOf(await turn(3))).toBe('one')
    expect(textOf(await turn())).toMatch(/^network/)
    // The count of attempts starts anew where the request was made smaller in between.
    expect(textOf(await turn())).toBe('two')
    model.assertAllUsed()
  })

  test('are not repeated by another process that knows the attempt', async () => {
    const model = createScriptedModel({ name: 's', agents })
    expect(textOf(await talk(model).turn(3))).toBe('one')
  })
})

describe('branches', () => {
  const model = () =>
    createScriptedModel({
      name: 's',
      agents: {
        root: [
          { calls: [{ run_command: { command: 'make' } }] },
          {
            branches: [
              {
                when: { contains: 'interrupted' },
                steps: [{ text: 'again', calls: [{ read_file: {} }] }, { text: 'checked' }],
              },
              { when: 'fine', steps: [] },
              { steps: [{ text: 'odd' }] },
            ],
          },
          { text: 'end' },
        ],
      },
    })

  test.each([
    ['it was interrupted', ['again<read_file {}>', 'checked', 'end']],
    ['all fine', ['end']],
    ['something else', ['odd', 'end']],
  ])('%s', async (content, expected) => {
    const playing = model()
    const { turn, result, messages } = talk(playing)
    await turn()
    result(content)
    const said: string[] = []
    for (const _ of expected) {
      // Each from the conversation alone, as after a restart.
      said.push(textOf(await model().generate(ask(structuredClone(messages)), options())))
      await turn()
    }
    expect(said).toEqual(expected)
    playing.assertAllUsed()
  })

  test('that do not fit are a violation', async () => {
    const playing = createScriptedModel({ name: 's', agents: { root: [{ branches: [{ when: 'wall', steps: [] }] }] } })
    expect(textOf(await talk(playing).turn())).toContain('step 1: no branch fits; what came: "Fix the bug"')
  })
})

describe('a script with a report and summaries', () => {
  const agents: ScriptedModelOptions['agents'] = {
    root: {
      steps: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
      report: [{ text: 'so far' }],
      summary: [{ text: 'short' }, { text: 'shorter' }],
    },
  }

  test('goes on after a summary has replaced everything', async () => {
    const model = createScriptedModel({ name: 's', agents })
    const { turn, words, messages } = talk(model)
    await turn()
    await turn()
    const summary = await words('summary')
    expect(textOf(summary)).toBe('short [scripted root: summary 1, after step 2]')
    messages.splice(1, messages.length, { role: 'user', content: `Summary: ${textOf(summary)}` })
    expect(textOf(await words('summary'))).toBe('shorter [scripted root: summary 2, after step 2]')
    expect(textOf(await turn())).toBe('three')
    expect(textOf(await words('report'))).toBe('so far')
    model.assertAllUsed()
  })

  test('a summary before the first step', async () => {
    const model = createScriptedModel({ name: 's', agents })
    const { turn, words, messages } = talk(model)
    messages.push({ role: 'user', content: textOf(await words('summary')) })
    expect(textOf(await turn())).toBe('one')
  })
})

describe('a script in YAML', () => {
  test('is read', async () => {
    const reading = await readScript(
      'fix.yaml',
      `
window: 8000
agents:
  root:
    - expect: Fix the bug
      text: I will look.
      calls:
        - read_file: { path: src/a.txt }
        - tool: read_file
          raw_args: '{"path": '
    - branches:
        - when: { contains: interrupted }
          steps:
            - text: Again.
        - steps: []
  "*":
    steps:
      - fail: { code: overloaded, retry_after_ms: 10 }
      - text: Done.
        delay_ms: 1
    report:
      - text: Nothing.
`,
    )
    if (!reading.ok) throw new Error(reading.message)
    expect(reading.model.name).toBe('scripted/fix.yaml')
    expect(reading.model.window).toBe(8000)
    expect(reading.model.unused()).toEqual(['root step 1', 'root step 2', '* step 1', '* step 2', '* report step 1'])
  })

  test.each([
    ['agents: [', 'a.yaml:1: '],
    ['agents:\n  root:\n    - text: x\n      colour: red\n', 'a.yaml:3: agents.root[0]: Unrecognized key: "colour"'],
    [
      'agents:\n  root:\n    - text: x\n    - calls:\n        - a: {}\n          b: {}\n',
      'a.yaml:5: agents.root[1].calls[0]: one tool for each call',
    ],
    [
      'agents:\n  root:\n    - expect: {}\n      text: x\n',
      'a.yaml:3: agents.root[0].expect: say what to look for: contains, matches, excludes or like',
    ],
    [
      'agents:\n  root:\n    - text: x\n      expect: { matches: "(" }\n',
      'a.yaml:4: agents.root[0].expect.matches: not a regular expression',
    ],
    [
      'agents:\n  root:\n    - text: 5\n',
      'a.yaml:3: agents.root[0].text: Invalid input: expected string, received number',
    ],
    ['agents:\n  root:\n    - fail: { code: broken }\n', 'a.yaml:3: agents.root[0].fail.code: Invalid option'],
    [
      'agents:\n  root:\n    steps: []\n    report:\n      - calls: [{ a: {} }]\n',
      'a.yaml:5: agents.root.report[0].calls: no tools can be called here',
    ],
    ['steps: []', 'a.yaml:1: '],
  ])('that is wrong is said with file and line: %j', async (text, expected) => {
    const reading = await readScript('a.yaml', text)
    expect(reading.ok ? '' : reading.message).toContain(expected)
  })
})
