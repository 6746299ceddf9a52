import { describe, expect, it } from 'vitest'
import type { Settings } from '../../src/index.js'
import { family, requestsOf, toldTo } from './family.js'

const ROLES = ['researcher', 'planner', 'executor', 'reviewer', 'tester'] as const
const AUTO: Settings = { mode: 'auto' }

async function contracts(retinue: Awaited<ReturnType<typeof family>>['retinue'], run_id: string) {
  const agents = await retinue.agents(run_id)
  return Object.fromEntries(agents.map(({ agent_id, context_json }) => [agent_id, JSON.parse(context_json)]))
}

describe('seed 004', () => {
  it('E1: five roles ship, each with its tools, its budget and its right to spawn', async () => {
    const agents = Object.fromEntries(ROLES.map((_, i) => [`a${i + 1}`, [{ text: 'Done.' }]]))
    const { retinue } = await family(agents, { settings: AUTO })
    const tasks = ROLES.map((profile) => ({ task: `Work as ${profile}`, profile }))
    const fan = retinue.fanOut(tasks)
    const results = await fan.results()
    expect(results.map(({ outcome, adjustments }) => ({ outcome, adjustments }))).toEqual(
      ROLES.map(() => ({ outcome: 'completed', adjustments: expect.any(Array) })),
    )
    const by = await contracts(retinue, fan.run_id)
    const facts = ROLES.map((role, i) => {
      const { permissions, execution, workspace } = by[`a${i + 1}`]
      const can = (tool: string) => permissions.allowed_tools.includes(tool)
      return {
        role,
        calls: execution.budget.tool_calls,
        seconds: execution.budget.wall_ms / 1000,
        reads: can('read_file'),
        writes: can('write_file') && workspace.isolation !== 'read_only',
        runs: can('run_command') && permissions.mode !== 'plan',
        web: can('web_fetch'),
        spawns: permissions.can_spawn_children ? permissions.allowed_profiles : [],
      }
    })
    const time = { seconds: 300, reads: true }
    expect(facts).toEqual([
      { role: 'researcher', calls: 15, ...time, writes: false, runs: false, web: true, spawns: [] },
      { role: 'planner', calls: 10, ...time, writes: false, runs: false, web: false, spawns: [] },
      { role: 'executor', calls: 30, ...time, writes: true, runs: true, web: false, spawns: ['reviewer'] },
      { role: 'reviewer', calls: 15, ...time, writes: false, runs: true, web: false, spawns: [] },
      { role: 'tester', calls: 20, ...time, writes: true, runs: true, web: false, spawns: ['reviewer'] },
    ])
    const prompts = await Promise.all(
      ROLES.map(async (_, i) => (await requestsOf(retinue, fan.run_id, `a${i + 1}`))[0]?.system ?? ''),
    )
    expect(new Set(prompts).size).toBe(5)
  })

  it('E2: a reviewer can read and run, and cannot write, by tool or by command', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Review it', profile: 'reviewer' } }] }, { text: 'Reviewed.' }],
        a1: [
          { calls: [{ read_file: { path: 'a.txt' } }] },
          { calls: [{ run_command: { command: 'cat a.txt' } }] },
          { calls: [{ write_file: { path: 'a.txt', content: 'mine' } }] },
          { calls: [{ run_command: { command: 'echo mine > a.txt' } }] },
          { calls: [{ run_command: { command: "node -e \"require('fs').writeFileSync('b.txt', 'x')\"" } }] },
          { text: 'Looks fine.' },
        ],
      },
      { files: { 'a.txt': 'theirs\n' }, settings: AUTO },
    )
    const { run_id } = await retinue.run({ task: 'Have it reviewed' }).result()
    const told = await toldTo(retinue, run_id, 'a1')
    expect(told.map(({ is_error }) => is_error)).toEqual([false, false, true, true, true])
    const { readFileSync, existsSync } = await import('node:fs')
    expect(readFileSync(`${cwd}/a.txt`, 'utf8')).toBe('theirs\n')
    expect(existsSync(`${cwd}/b.txt`)).toBe(false)
  })

  it('E2: a tester writes in test folders and nowhere else; the folders can be configured', async () => {
    const attempts = (paths: string[]) => [
      ...paths.map((path) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })),
      { text: 'Tested.' },
    ]
    const paths = ['test/a.test.js', 'packages/p/__tests__/b.js', 'src/a.js', 'testing/c.js']
    const play = async (settings: Settings) => {
      const { retinue } = await family(
        {
          root: [{ calls: [{ spawn_agent: { task: 'Test it', profile: 'tester' } }] }, { text: 'Tested.' }],
          a1: attempts(paths),
        },
        { files: { 'src/a.js': 'a\n' }, settings: { ...AUTO, ...settings } },
      )
      const { run_id } = await retinue.run({ task: 'Have it tested' }).result()
      return (await toldTo(retinue, run_id, 'a1')).map(({ is_error }) => !is_error)
    }
    expect(await play({})).toEqual([true, true, false, false])
    expect(await play({ delegation: { test_paths: ['testing/**'] } })).toEqual([false, false, false, true])
  })

  it('E1: an executor may spawn reviewers and nobody else', async () => {
    const { retinue } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Do it', profile: 'executor' } }] }, { text: 'Done.' }],
        a1: [
          { calls: [{ spawn_agent: { task: 'Look it up', profile: 'researcher' } }] },
          { calls: [{ spawn_agent: { task: 'Do it for me' } }] },
          { calls: [{ spawn_agent: { task: 'Review it', profile: 'reviewer' } }] },
          { text: 'Done.' },
        ],
        'a1.1': [{ text: 'Fine.' }],
      },
      { settings: AUTO },
    )
    const { run_id } = await retinue.run({ task: 'Have it done' }).result()
    const told = await toldTo(retinue, run_id, 'a1')
    expect(told.map(({ is_error }) => is_error)).toEqual([true, true, false])
    expect(told[0]?.content).toContain('reviewer')
    const [request] = await requestsOf(retinue, run_id, 'a1')
    const spawn = request?.tools.find(({ name }) => name === 'spawn_agent')
    expect(spawn?.parameters).toMatchObject({ properties: { profile: { enum: ['reviewer'] } } })
    expect(request?.system).not.toContain('name="researcher"')
    expect(Object.keys(await contracts(retinue, run_id))).toEqual(['root', 'a1', 'a1.1'])
  })
})
