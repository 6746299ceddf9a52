import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import {
  type AgentMemory,
  createModels,
  createRetinue,
  type Part,
  type RunOptions,
  type Settings,
  type StoredEvent,
} from '../../src/index.js'
import { createScriptedModel, readScript, recordScript, scriptOf, writeScript } from '../../src/models/index.js'
import { expectedText } from '../../src/models/scripted/expected.js'
import { createMemoryStore } from '../../src/store/index.js'
import { modelsOf } from '../../src/testing/index.js'
import { type Asked, type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { makeProject, tree } from '../support/project.js'
import { ask, options } from './lab.js'
import '../support/seed.js'

const TASK = 'Mend the greeting\nand say “done” – 日本'
const FILES = {
  'hello.txt': 'hello nobody\n',
  'src/a.ts': 'export const a = 1\n',
  'big.txt': 'line of words\n'.repeat(900),
}

/** Reads side by side, a write, an edit, commands whose output never is the same, a commit, errors, a retry. */
const STEPS: LoopbackStep[] = [
  {
    reasoning: 'First I look.\n\n- at files',
    text: 'Looking around.',
    calls: [
      { name: 'list_dir', args: {} },
      { name: 'read_file', args: { path: 'hello.txt' } },
      { name: 'read_file', args: '{ "path" : "src/a.ts" }' },
    ],
    usage: { input_tokens: 1000, output_tokens: 20, cached_tokens: 400, reasoning_tokens: 10 },
  },
  {
    calls: [{ name: 'edit_file', args: { path: 'hello.txt', old_text: 'nobody', new_text: 'world: "yes"\n# no' } }],
    fault: { kind: 'status', status: 503, headers: { 'retry-after': '0' }, times: 2 },
  },
  { calls: [{ name: 'read_file', args: { path: 'missing.txt' } }] },
  { calls: [{ name: 'no_such_tool', args: {} }] },
  { calls: [{ name: 'read_file', args: '{"path": "hel' }] },
  {
    text: 'Counting.',
    calls: [
      { name: 'run_command', args: { command: 'wc -w < hello.txt; date; date +%s%N | sha1sum; pwd; exit 3' } },
      { name: 'write_file', args: { path: 'out/b.txt', content: '  odd: |\n\ttext\r\n\u2028' } },
    ],
  },
  { calls: [{ name: 'git_commit', args: { message: 'Greet', paths: ['hello.txt', 'out/b.txt'] } }] },
  {
    calls: [
      { name: 'git_log', args: {} },
      { name: 'read_file', args: { path: 'big.txt' } },
    ],
  },
  { text: 'Done: hello.txt greets.\n', usage: { input_tokens: 3000, output_tokens: 40 } },
]

type Ran = { cwd: string; run_id: string; outcome: string; reason: string | null; text: string; events: StoredEvent[] }

async function run(
  models: ReturnType<typeof createModels>,
  more: Partial<RunOptions> = {},
  files = FILES,
  settings: Settings = {},
): Promise<Ran> {
  const cwd = makeProject(files, { git: true })
  const retinue = await createRetinue({
    cwd,
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models,
    settings: { mode: 'dangerous', ...settings },
  })
  onTestFinished(() => retinue.close())
  const { run_id, outcome, reason, text } = await retinue.run({ task: TASK, ...more }).result()
  return { cwd, run_id, outcome, reason, text, events: await retinue.events(run_id) }
}

async function runOnLoopback(
  steps: readonly LoopbackStep[] | ((asked: Asked) => LoopbackStep),
  more: Partial<RunOptions> = {},
  settings: Settings = {},
) {
  const server = await startLoopback({ protocol: 'chat', steps })
  onTestFinished(() => server.close())
  const providers = { it: { type: 'openai-compatible' as const, base_url: server.url, api_key_env: 'KEY' } }
  return run(
    createModels({ env: { KEY: 'k' }, providers, discover: false }),
    { model: 'it/m', ...more },
    FILES,
    settings,
  )
}

/** Writes the script to a file beside no project, and plays it in a fresh copy of the folder. */
async function play(
  recorded: Ran,
  more: Partial<RunOptions> = {},
  files = FILES,
  settings: Settings = {},
): Promise<Ran> {
  const file = join(makeProject({}), 'script.yaml')
  writeFileSync(file, await recordScript(recorded.events))
  const readText = async (path: string) => (await import('node:fs/promises')).readFile(path, 'utf8')
  return run(
    createModels({ env: {}, readText, discover: false }),
    { model: `scripted/${file}`, ...more },
    files,
    settings,
  )
}

/** What happened, without ids, times, digests and who it was. */
function essence({ cwd, events }: Ran): unknown[] {
  const plain = (text: string) =>
    text
      .replaceAll(cwd, '<here>')
      .replace(/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/g, '<digest>')
      .replace(/\w{3} \w{3} +\d+ [\d:]+ \w+ \d{4}|\d{4}-\d\d-\d\d[\d: +T-]*/g, '<time>')
      .replace(/\b\d+\.\d+s\b/g, '<time>')
      .replace(/ ?\[scripted root: summary [^\]]+\]/g, '')
  const partOf = (part: Part) => {
    if (part.type !== 'tool_call') return { type: part.type, text: plain(part.text) }
    return { call_id: part.call_id, tool: part.tool, args: read(part.args) }
  }
  return events.flatMap((event): unknown[] => {
    const { type, data } = event
    switch (type) {
      case 'model.requested':
        return [[type, data.purpose, data.attempt, data.messages]]
      case 'model.responded': {
        const parts = data.parts.map(partOf).filter((part) => !('text' in part) || part.text !== '')
        return [[type, data.purpose, parts, data.finish_reason, data.usage, data.usage_source]]
      }
      case 'model.failed':
        return [[type, data.code, data.message, data.retry_after_ms]]
      case 'tool.called':
        return [[type, data.call_id, data.tool, data.args, data.mended, data.effect, data.decision, data.paths]]
      case 'tool.refused':
        return [[type, data.call_id, data.tool, data.code, data.content]]
      case 'tool.finished':
        return [[type, data.call_id, data.tool, data.status, plain(data.content), data.files_read, data.files_changed]]
      case 'context.masked':
        return [[type, data.call_ids]]
      case 'context.summarized':
        return [[type, plain(data.summary), data.replaced_messages]]
      case 'budget.exceeded':
        return [[type, data.limit, data.allowed]]
      case 'run.closed':
        return [[type, data.outcome, data.reason, data.text]]
      default:
        return [[type]]
    }
  })
}

function read(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

describe('a recorded run, played in a copy of the folder,', () => {
  test('makes the same calls, leaves the same files and gives the same answer', async () => {
    const recorded = await runOnLoopback(STEPS)
    expect(recorded.outcome).toBe('completed')
    const types = recorded.events.map(({ type }) => type)
    expect(types.filter((type) => type === 'model.failed')).toHaveLength(2)
    const played = await play(recorded)
    expect([played.outcome, played.reason, played.text]).toEqual(['completed', null, 'Done: hello.txt greets.\n'])
    expect(tree(played.cwd)).toEqual(tree(recorded.cwd))
    expect(essence(played)).toEqual(essence(recorded))
    // What is recorded from the played run is the same script again.
    expect(scriptOf(played.events)).toEqual(scriptOf(recorded.events))
  })

  test('masks, summarizes and reports where the run did', async () => {
    let turn = 0
    const long = ({ body }: Asked): LoopbackStep => {
      const usage = { input_tokens: Math.ceil(JSON.stringify(body).length / 4), output_tokens: 50 }
      if (body.tool_choice === 'none') return { text: `All up to ${turn}.`, usage }
      turn += 1
      const text = `Turn ${turn}. `.repeat(turn % 3 === 0 ? 200 : 1)
      return { text, calls: [{ name: 'read_file', args: { path: 'big.txt', offset: turn, limit: 100 } }], usage }
    }
    const limits = { budget: { context_tokens: 12_000, turns: 40 } }
    const recorded = await runOnLoopback(long, limits)
    expect(recorded.outcome).toBe('budget_exceeded')
    const types = new Set(recorded.events.map(({ type }) => type))
    expect([types.has('context.masked'), types.has('context.summarized')]).toEqual([true, true])
    const played = await play(recorded, { budget: { turns: 40 } })
    expect(essence(played)).toEqual(essence(recorded))
    expect(scriptOf(played.events)).toEqual(scriptOf(recorded.events))
  })

  test('fails as the run failed', async () => {
    const fault = { kind: 'status' as const, status: 401 }
    const recorded = await runOnLoopback([STEPS[0] as LoopbackStep, { fault }])
    expect(recorded.outcome).toBe('error')
    const played = await play(recorded)
    expect(essence(played)).toEqual(essence(recorded))
  })

  test('of a run that was cancelled has what there was', async () => {
    const controller = new AbortController()
    const stalling = (asked: Asked): LoopbackStep => {
      if (asked.turn === 1) controller.abort()
      return asked.turn === 1 ? { fault: { kind: 'stall', after_bytes: 0 } } : (STEPS[0] as LoopbackStep)
    }
    const recorded = await runOnLoopback(stalling, { signal: controller.signal })
    expect(recorded.outcome).toBe('cancelled')
    const played = await play(recorded)
    expect(played.outcome).toBe('error')
    expect(played.reason).toContain('no step after the last, 1; what came:')
  })
})

describe('a recorded run with sub-agents', () => {
  /** One looks, one fails at its first attempt, one answers at once; the root asks for one and is given the others. */
  function family() {
    const asked: Record<string, number> = {}
    return ({ body }: Asked): LoopbackStep => {
      const told = (body.messages as { role: string; content: string }[]).filter(({ role }) => role !== 'system')
      const task = String(told[0]?.content ?? '')
      const who = ['Look', 'Stumble', 'Greet'].find((word) => task.startsWith(word)) ?? 'root'
      asked[who] = (asked[who] ?? 0) + 1
      const turn = told.filter(({ role }) => role === 'assistant').length
      const usage = { input_tokens: 100, output_tokens: 10 }
      if (who === 'Look') {
        if (turn > 0) return { text: 'It greets nobody.', usage }
        return { calls: [{ name: 'read_file', args: { path: 'hello.txt' } }], usage }
      }
      if (who === 'Stumble') {
        if (turn === 0) return { calls: [{ name: 'run_command', args: { command: 'date; pwd' } }], usage }
        return asked[who] === 2 ? { fault: { kind: 'status', status: 503 } } : { text: 'Up again.', usage }
      }
      if (who === 'Greet') return { text: 'Hello.', usage }
      if (turn === 0) {
        const spawned = ['Look at hello.txt', 'Stumble once', 'Greet'].map((task) => ({
          name: 'spawn',
          args: { task },
        }))
        return { calls: spawned, usage }
      }
      if (turn === 1) return { calls: [{ name: 'spawn_await', args: { job_ids: 'a1' } }], usage }
      return { text: turn === 2 ? 'That is all.' : 'That is really all.', usage }
    }
  }

  /** By agent: between them there is no order, nor between calls that are made side by side. */
  const byAgent = (ran: Ran) => {
    const ids = [...new Set(ran.events.map(({ agent_id }) => agent_id))].sort()
    return ids.map((id) => {
      const own = ran.events.filter(({ agent_id, type }) => agent_id === id && type !== 'agent.subagent_closed')
      const calls = essence({ ...ran, events: own.filter(({ type }) => type.startsWith('tool.')) })
      const rest = essence({ ...ran, events: own.filter(({ type }) => !type.startsWith('tool.')) })
      return [id, rest, calls.map((call) => JSON.stringify(call)).sort()]
    })
  }

  test('does the same again, each attempt of each sub-agent and what nobody had asked for', async () => {
    // A call that fails is not made again, so that the attempt fails with it.
    const settings = { max_attempts: 1 }
    const recorded = await runOnLoopback(family(), {}, settings)
    expect([recorded.outcome, recorded.text]).toEqual(['completed', 'That is really all.'])
    const types = recorded.events.map(({ type }) => type)
    expect(types.filter((type) => type === 'agent.subagent_attempt')).toHaveLength(4)
    expect(types).toContain('agent.results_delivered')

    const script = scriptOf(recorded.events)
    expect(Object.keys(script.agents).sort()).toEqual(['a1', 'a2', 'a2#2', 'a3', 'root'])
    const steps = (key: string) =>
      (script.agents[key] as { steps: { expect?: { like: string }; fail?: object }[] }).steps
    expect(steps('a2').map(({ fail }) => fail !== undefined)).toEqual([false, true])
    expect(steps('a2#2').map(({ fail }) => fail !== undefined)).toEqual([false, false])
    // Where and when are not expected to be the same.
    expect(JSON.stringify(script)).not.toContain(recorded.cwd)
    const delivered = steps('root').at(-1)?.expect?.like
    expect(delivered).toContain('Up again.')
    expect(delivered).toMatch(/<\*>/)

    const played = await play(recorded, {}, FILES, settings)
    expect([played.outcome, played.reason, played.text]).toEqual(['completed', null, 'That is really all.'])
    expect(byAgent(played)).toEqual(byAgent(recorded))
    expect(scriptOf(played.events)).toEqual(script)
  })
})

test('a result from the cache is of another run each time', async () => {
  const recorded = await runOnLoopback(({ body }) => {
    const told = (body.messages as { role: string; content: string }[]).filter(({ role }) => role !== 'system')
    const turn = told.filter(({ role }) => role === 'assistant').length
    const usage = { input_tokens: 100, output_tokens: 10 }
    if (told[0]?.content.startsWith('Greet')) return { text: 'Hello.', usage }
    if (turn === 2) return { text: 'Twice.', usage }
    return { calls: [{ name: 'spawn_agent', args: { task: 'Greet', cache: true } }], usage }
  })
  const reused = recorded.events.find(({ type }) => type === 'agent.subagent_reused')
  expect(reused?.data).toMatchObject({ from: { run_id: recorded.run_id, agent_id: 'a1' } })
  const played = await play(recorded)
  expect([played.outcome, played.reason, played.text]).toEqual(['completed', null, 'Twice.'])
  expect(scriptOf(played.events)).toEqual(scriptOf(recorded.events))
})

test('what an interruption made of a call is not expected again', async () => {
  const command = 'test ! -e wait || sleep 60; echo ran'
  const agents = { root: [{ calls: [{ run_command: { command } }] }, { text: 'Done.' }] }
  const cwd = makeProject({ wait: '' })
  const retinue = await createRetinue({
    cwd,
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models: modelsOf(createScriptedModel({ name: 's', agents })),
    settings: { mode: 'dangerous' },
  })
  onTestFinished(() => retinue.close())
  const first = retinue.run({ task: TASK })
  const left = first.result().catch((error: Error) => error)
  for await (const event of first) if (event.type === 'tool.called') break
  first.leave('for a test')
  expect(await left).toBeInstanceOf(Error)
  expect(await retinue.resume(first.run_id).result()).toMatchObject({ outcome: 'completed' })
  const events = await retinue.events(first.run_id)
  const finished = events.find((event) => event.type === 'tool.finished')
  expect(finished?.data.status).toBe('interrupted')
  const recorded = { cwd, events, run_id: first.run_id, outcome: 'completed', reason: null, text: '' }
  expect(await play(recorded)).toMatchObject({ outcome: 'completed', text: 'Done.' })
})

describe('a drift is noticed', () => {
  test('when a file is another', async () => {
    const recorded = await runOnLoopback(STEPS)
    const played = await play(recorded, {}, { ...FILES, 'src/a.ts': 'export const a = 2\n' })
    expect(played.outcome).toBe('error')
    expect(played.reason).toMatch(
      /agent root, step 2: expected line \d+ like ".*export const a = 1" instead of ".*export const a = 2"/,
    )
  })

  test('when the task is another, and when a command ends in another way', async () => {
    const recorded = await runOnLoopback(STEPS)
    expect((await play(recorded, { task: 'Something else' })).reason).toContain(
      'step 1: expected line 1 like "Mend the greeting" instead of "Something else"',
    )
    const script = scriptOf(recorded.events)
    const text = (await writeScript(script)).replace('exit 3', 'exit 4')
    const opened = await readScript('edited', text)
    if (!opened.ok) throw new Error(opened.message)
    const played = await run(modelsOf(opened.model))
    expect(played.reason).toMatch(/expected line \d+ like ".*exit code 3.*" instead of ".*exit code 4/)
  })
})

describe('a script', () => {
  test('is written to be read', async () => {
    const { events, run_id } = await runOnLoopback(STEPS)
    const text = await recordScript(events)
    expect(text.split('\n')[0]).toBe(`# Recorded from run ${run_id} on it/m.`)
    const { window, agents } = parse(text)
    expect(window).toBeGreaterThan(10_000)
    const [first, ...rest] = agents.root.steps
    expect(first).toEqual({
      expect: { like: TASK },
      reasoning: 'First I look.\n\n- at files',
      text: 'Looking around.',
      calls: [{ list_dir: {} }, { read_file: { path: 'hello.txt' } }, { read_file: { path: 'src/a.ts' } }],
      usage: { input_tokens: 1000, output_tokens: 20, cached_tokens: 400, reasoning_tokens: 10 },
    })
    expect(rest.slice(0, 2).map(({ fail }: { fail: { code: string } }) => fail.code)).toEqual([
      'overloaded',
      'overloaded',
    ])
    expect(text).toContain(`raw_args: '{"path": "hel'`)
    const told = rest.map(({ expect: expected }: { expect?: { like: string } }) => expected?.like ?? '')
    expect(told.find((like: string) => like.includes('exit code 3'))).toMatch(
      /^exit code 3\n5\n<\*>\n<\*> {2}-\n<\*>\n/,
    )
    expect(text).not.toContain('/tmp/')
  })

  test('keeps answers in any order, and what they cost', async () => {
    const model = createScriptedModel({
      name: 'mixed',
      agents: {
        root: [
          {
            parts: [
              { text: 'One.' },
              { call: { list_dir: {} } },
              { reasoning: 'Hm.' },
              { text: 'Two.' },
              { call: { tool: 'read_file', raw_args: '{"path": "hello.txt", "limit": 1e400}' } },
              { reasoning: 'Hm!' },
              { call: { tool: 'read_file', raw_args: '{"__proto__":{"path":"a"}}' } },
            ],
            usage: { input_tokens: 900, output_tokens: 100 },
            cost_usd: 0.25,
          },
          { text: 'Done.', finish_reason: 'other', usage: { input_tokens: 1000 }, cost_usd: 0.5 },
        ],
      },
    })
    const recorded = await run(modelsOf(model))
    const script = scriptOf(recorded.events)
    const kinds = (Array.isArray(script.agents.root) ? [] : (script.agents.root?.steps ?? [])).map(
      ({ expect: _, usage: __, ...step }) => step,
    )
    expect(kinds).toMatchObject([
      {
        parts: [
          { text: 'One.' },
          { call: { list_dir: {} } },
          { reasoning: 'Hm.' },
          { text: 'Two.' },
          { call: { tool: 'read_file', raw_args: '{"path": "hello.txt", "limit": 1e400}' } },
          { reasoning: 'Hm!' },
          { call: { tool: 'read_file', raw_args: '{"__proto__":{"path":"a"}}' } },
        ],
      },
      { text: 'Done.', finish_reason: 'other' },
    ])
    expect(essence(await play(recorded))).toEqual(essence(recorded))
  })

  test('has a price when all of its answers have a cost', async () => {
    const usage = { input_tokens: 90, output_tokens: 10 }
    const priced = createScriptedModel({ name: 'p', agents: { root: [{ text: 'Hi.', usage, cost_usd: 0.5 }] } })
    expect(await priced.generate(ask(), options())).toMatchObject({ ok: true, cost_usd: 0.5 })
    const rest = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
    expect(priced.price?.({ input_tokens: 200, output_tokens: 0, ...rest })).toBe(1)
    const mixed = [
      { text: 'Hi.', usage, cost_usd: 0.5 },
      { text: 'Hi.', usage },
    ]
    expect(createScriptedModel({ name: 'm', agents: { root: mixed } }).price).toBe(undefined)
  })

  test('comes back from its text as it was, whatever is in it', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom(
          ' ',
          '\n',
          '\t',
          '\r',
          '-',
          ':',
          '#',
          '|',
          '"',
          "'",
          '\u2028',
          '\u0085',
          '\ufeff',
          '\0',
          'a',
        ),
      }),
    )
    const value = fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
    )
    await fc.assert(
      fc.asyncProperty(text, text, value, async (said, like, args) => {
        const script = { agents: { root: { steps: [{ expect: { like }, text: said, calls: [{ some_tool: args }] }] } } }
        const written = await writeScript(script)
        expect(parse(written)).toEqual(script)
        expect((await readScript('x', written)).ok).toBe(true)
      }),
      { numRuns: 300, examples: [[' \n', ' \n', {}]] },
    )
  })
})

test('what is expected is exact, but for where, when and what was hidden', () => {
  const result = (call_id: string, tool: string, content: string) => ({
    call_id,
    wire_id: call_id,
    tool,
    content,
    is_error: false,
  })
  const told = '/home/me/p/a.ts 3 s ago, 2026-01-02 03:04:05, 1a2b3c4d5e, 17 files'
  const results = ['read_file', 'run_command', 'git_log'].map((tool, n) => result(`c${n}`, tool, told))
  const messages = [
    { role: 'user' as const, content: 'Go' },
    { role: 'tool' as const, results },
  ]
  const memory = { messages, masked: ['c2'] } as unknown as AgentMemory
  expect(expectedText(memory, '/home/me/p', new Set())).toBe(
    `${told.replace('/home/me/p', '<*>')}\n<*>/a.ts <*> ago, <*>, <*>, 17 files\n<*>`,
  )
  expect(expectedText(memory, '/home/me/p', new Set(['c0', 'c1']))).toBe('<*>\n<*>\n<*>')
})

describe('like', () => {
  test.each([
    ['abc', 'abc', true],
    ['abc', 'ab', false],
    ['abc', 'a<*>c', true],
    ['ac', 'a<*>c', true],
    ['aXcYc', 'a<*>c', true],
    ['aba', 'ab<*>ba', false],
    ['a1b2c', 'a<*>b<*>c', true],
    ['a1c2b', 'a<*>b<*>c', false],
    ['', '<*>', true],
    ['a <*> b', 'a <*> b', true],
    ['a.c', 'a.c', true],
    ['abc', 'a.c', false],
  ])('%j is like %j: %s', async (told, like, fits) => {
    const model = createScriptedModel({ name: 'l', agents: { root: [{ expect: { like }, text: 'Yes.' }] } })
    expect((await model.generate(ask([{ role: 'user', content: told }]), options())).ok).toBe(fits)
  })
})
