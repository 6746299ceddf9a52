import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import type { ScriptedModelOptions } from '../../src/testing/index.js'
import { DONE } from '../seeds/asking.js'
import { family } from '../seeds/family.js'
import { dataOf, runToEnd } from '../support/bench.js'

type Steps = Extract<NonNullable<ScriptedModelOptions['agents']>[string], unknown[]>

const ROOMY = { tool_calls: 300, context_tokens: 100_000, wall_ms: 600_000 }

/** Sub-agents in the order in which they were asked for, and whose result those that were not run have. */
function madeOf(events: StoredEvent[]): (string | { from: string })[] {
  return events.flatMap((event): (string | { from: string })[] => {
    if (event.type === 'agent.subagent_created') return [event.data.sub_agent_id]
    return event.type === 'agent.subagent_reused' ? [{ from: event.data.from.agent_id }] : []
  })
}

/** Asks for the same again and again, each time when the one before is done. */
async function askAgain(
  child: Steps,
  options: { files?: Record<string, string>; args?: Record<string, unknown>; times?: number } = {},
) {
  const { files = {}, args = {}, times = 2 } = options
  const asking = { calls: [{ spawn_agent: { task: 'Count', cache: true, profile: 'kept', ...args } }] }
  const many = (steps: Steps) => Array.from({ length: times }, () => steps).flat()
  const made = await family(
    {
      root: [...many([asking]), DONE],
      ...Object.fromEntries(Array.from({ length: times }, (_, n) => [`a${n + 1}`, child])),
      // Of sub-agents of its own.
      'a*': [{ text: 'Yes.' }],
    },
    {
      files,
      settings: {
        mode: 'dangerous',
        delegation: { budget: ROOMY, profiles: { kept: { can_spawn_children: true, budget: { sub_agents: 2 } } } },
      },
    },
  )
  const { result, events } = await runToEnd(made.retinue)
  expect(result).toMatchObject({ outcome: 'completed', text: 'Done.' })
  for (const { result } of dataOf(events, 'agent.subagent_closed')) expect(result.outcome).toBe('completed')
  return madeOf(events.filter(({ agent_id }) => agent_id === 'root'))
}

describe('the result of a sub-agent with cache', () => {
  it('is used again where it only looked and what it read is what it was', async () => {
    const looked: Steps = [
      { calls: [{ read_file: { path: 'a.txt' } }, { list_dir: {} }, { search_files: { pattern: 'one' } }] },
      { text: 'Nine.' },
    ]
    const schema = { args: { schema: '{"type":"string"}' } }
    expect(await askAgain(looked, { files: { 'a.txt': 'one\n' } })).toEqual(['a1', { from: 'a1' }])
    expect(await askAgain([{ text: '"Nine."' }], schema)).toEqual(['a1', { from: 'a1' }])
  })

  const did: [what: string, child: Steps, args: Record<string, unknown>][] = [
    ['it wrote a file', [{ calls: [{ write_file: { path: 'b.txt', content: 'b\n', overwrite: true } }] }, DONE], {}],
    ['it ran a command', [{ calls: [{ run_command: { command: 'true' } }] }, DONE], {}],
    ['it had a sub-agent of its own', [{ calls: [{ spawn_agent: { task: 'Look' } }] }, DONE], {}],
    ['it is checked by a command', [DONE], { checks: ['true'] }],
  ]

  it.each(did)('is not kept where %s', async (_, child, args) => {
    expect(await askAgain(child, { args })).toEqual(['a1', 'a2'])
  })

  it('is kept with up to 200 files that it read, and not with more', async () => {
    const read = async (count: number) => {
      const names = Array.from({ length: count }, (_, n) => `${n}.txt`)
      const files = Object.fromEntries(names.map((name) => [name, 'x\n']))
      return askAgain([{ calls: names.map((path) => ({ read_file: { path, limit: 1 } })) }, DONE], { files })
    }
    expect(await read(200)).toEqual(['a1', { from: 'a1' }])
    expect(await read(201)).toEqual(['a1', 'a2'])
  })

  it('gives way to a new one when a file that it read has changed or is gone', async () => {
    const asking = { calls: [{ spawn_agent: { task: 'Count', cache: true } }] }
    const reading: Steps = [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Nine.' }]
    const { retinue, cwd } = await family(
      {
        root: Array.from({ length: 5 }, () => [asking, DONE]).flat(),
        a1: reading,
        a3: reading,
        a5: reading,
      },
      { files: { 'a.txt': 'one\n' } },
    )
    let session: { session_id?: string } = {}
    const again = async () => {
      const { result, events } = await runToEnd(retinue, session)
      session = { session_id: result.session_id }
      return madeOf(events)
    }
    expect(await again()).toEqual(['a1'])
    expect(await again()).toEqual([{ from: 'a1' }])
    writeFileSync(join(cwd, 'a.txt'), 'two\n')
    expect(await again()).toEqual(['a3'])
    expect(await again()).toEqual([{ from: 'a3' }])
    rmSync(join(cwd, 'a.txt'))
    expect(await again()).toEqual(['a5'])
  })

  it('is compared with what the run has come to, which reaches the folder at its end', async () => {
    const asking = { calls: [{ spawn_agent: { task: 'Review', cache: true } }] }
    const reading: Steps = [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Seen.' }]
    const mended = { edit_file: { path: 'a.txt', old_text: 'one', new_text: 'two' } }
    const { retinue } = await family(
      {
        root: [asking, asking, { calls: [{ spawn_agent: { task: 'Mend' } }] }, asking, DONE, asking, asking, DONE],
        a1: reading,
        a3: [{ calls: [mended] }, DONE],
        a4: reading,
        a5: reading,
      },
      { files: { 'a.txt': 'one\n' }, settings: { mode: 'auto' } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(madeOf(events)).toEqual(['a1', { from: 'a1' }, 'a3', 'a4'])
    // What was found in what a run had come to is not kept: another may have changed it since it was read.
    const next = await runToEnd(retinue, { session_id: result.session_id })
    expect(madeOf(next.events)).toEqual(['a5', { from: 'a5' }])
  })
})
