import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createRetinue, type Model, type StoredEvent } from '../../src/index.js'
import { modelsOf } from '../../src/testing/index.js'

type Answer = Awaited<ReturnType<Model['generate']>>

const USAGE = { input_tokens: 900, output_tokens: 20, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

function says(text: string): Answer {
  return { ok: true, model: 'm', parts: [{ type: 'text', text }], finish_reason: 'stop', usage: USAGE, cost_usd: 0.001 }
}

function calls(...list: [tool: string, args: object][]): Answer {
  const parts = list.map(([tool, args], i) => ({
    type: 'tool_call' as const,
    wire_id: `w${i}`,
    tool,
    args: JSON.stringify(args),
  }))
  return { ok: true, model: 'm', parts, finish_reason: 'tool_calls', usage: USAGE, cost_usd: 0.001 }
}

/** A model that answers by who asks and how often it was asked, and counts how many ask at once. */
function modelOf(answer: (agent_id: string, turn: number) => Answer, delay_ms: (agent_id: string) => number) {
  const turns = new Map<string, number>()
  const seen = { at_once: 0, most: 0 }
  const model: Model = {
    name: 'test/m',
    window: null,
    price: () => 0.001,
    async generate(_request, { caller }) {
      const turn = turns.get(caller.agent_id) ?? 0
      turns.set(caller.agent_id, turn + 1)
      seen.at_once += 1
      seen.most = Math.max(seen.most, seen.at_once)
      await sleep(delay_ms(caller.agent_id))
      seen.at_once -= 1
      return answer(caller.agent_id, turn)
    },
  }
  return { model, seen }
}

function collectGarbage(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** Open files, but for the host's small store of pipes for commands to come, which it gives up after a while. */
function handles(): number {
  const names = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd))
    } catch {
      // The one that the list itself was read through.
      return ''
    }
  })
  return names.filter((name) => !name.includes('retinue-pipes-')).length
}

/** The most sub-agents without children of their own that were at work at once, in the order of the log. */
function mostAtWork(events: StoredEvent[], isLeaf: (id: string) => boolean): number {
  let now = 0
  let most = 0
  for (const { type, agent_id } of events) {
    if (!isLeaf(agent_id)) continue
    if (type === 'agent.subagent_started') now += 1
    if (type === 'agent.subagent_waiting_for_merge' || type === 'agent.subagent_failed') now -= 1
    most = Math.max(most, now)
  }
  return most
}

async function project() {
  const cwd = await mkdtemp(join(tmpdir(), 'retinue-scale-'))
  await writeFile(join(cwd, 'a.txt'), 'hello\n')
  return cwd
}

const MANAGERS = 10
const LEAVES = 100
const LIMIT = 50

it('a tree of depth 2 with 1,000 children and a limit of 50 leaves nothing behind', { timeout: 240_000 }, async (t) => {
  const cwd = await project()
  t.onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  const isLeaf = (id: string) => id.includes('.')
  const { model, seen } = modelOf(
    (agent_id, turn) => {
      if (isLeaf(agent_id)) return turn === 0 ? calls(['read_file', { path: 'a.txt' }]) : says(`leaf ${agent_id}`)
      const children = agent_id === 'root' ? MANAGERS : LEAVES
      const profile = agent_id === 'root' ? { profile: 'manager' } : {}
      const spawns = Array.from({ length: children }, (_, i): [string, object] => [
        'spawn',
        { task: `task ${i} of ${agent_id}`, ...profile },
      ])
      if (turn === 0) return calls(...spawns)
      return turn === 1 ? calls(['spawn_await', { job_ids: '*' }]) : says(`${agent_id} is done`)
    },
    () => Math.random() * 4,
  )
  const run = async (retinue: Awaited<ReturnType<typeof createRetinue>>) => {
    const run = retinue.run({ task: 'everything' })
    return { run_id: run.run_id, result: await run.result() }
  }
  const open = () =>
    createRetinue({
      cwd,
      models: modelsOf(model),
      settings: {
        mode: 'auto',
        model: { name: 'test/m', source: 'user' },
        max_concurrent: LIMIT,
        budget: { sub_agents: 2000, total_tokens: 100_000_000, tool_calls: 1000, turns: 1000 },
        delegation: {
          profiles: {
            manager: {
              can_spawn_children: true,
              budget: {
                sub_agents: LEAVES,
                tool_calls: 200,
                context_tokens: 100_000,
                total_tokens: 9_000_000,
                wall_ms: 600_000,
              },
            },
          },
          budget: { total_tokens: 20_000, wall_ms: 600_000 },
        },
      },
    })
  const retinue = await open()
  const before = { memory: collectGarbage(), handles: handles() }
  const { run_id, result } = await run(retinue)
  expect(result).toMatchObject({ outcome: 'completed', sub_agents: MANAGERS + MANAGERS * LEAVES })
  const events = await retinue.events(run_id)
  const closed = events.flatMap((event) => (event.type === 'agent.subagent_closed' ? [event.data] : []))
  expect(closed.length).toBe(MANAGERS + MANAGERS * LEAVES)
  expect(new Set(closed.map(({ sub_agent_id }) => sub_agent_id)).size).toBe(closed.length)
  expect(closed.filter(({ final_status }) => final_status !== 'completed')).toEqual([])
  expect(seen.most).toBeLessThanOrEqual(LIMIT)
  expect(mostAtWork(events, isLeaf)).toBeLessThanOrEqual(LIMIT)
  // A limit that is never reached shows nothing.
  expect(seen.most).toBeGreaterThan(LIMIT / 2)
  const agents = await retinue.agents(run_id)
  expect(agents.filter(({ state }) => state !== 'closed')).toEqual([])
  expect(agents.length).toBe(1 + MANAGERS + MANAGERS * LEAVES)
  events.length = 0
  agents.length = 0
  closed.length = 0
  const after = { memory: collectGarbage(), handles: handles() }
  // One socket of the event loop's own comes and goes.
  expect(after.handles).toBeLessThanOrEqual(before.handles + 1)
  expect(after.memory - before.memory).toBeLessThan(20_000_000)
  // Every slot is free again: as many as the limit can work at once.
  const again = await Promise.all(
    Array.from({ length: 2 }, () => retinue.spawn({ task: 'again', tools: ['read_file'] })),
  )
  expect(again.map(({ success }) => success)).toEqual([true, true])
  await retinue.close()
})
