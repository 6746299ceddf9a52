import { describe, expect, it } from 'vitest'
import { eventLine } from '../../src/cli/event-lines.js'
import { paintFor } from '../../src/cli/style.js'
import { lines as jsonLines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { eventsOfRun, receiptOf, resultOf } from '../support/tree-events.js'

describe('the lines of a run with sub-agents', () => {
  const shown = (run: ReturnType<typeof eventsOfRun>) =>
    run.events.flatMap((event) => {
      const options = { paint: paintFor({}, {}), elsewhere: false, sub_agent: event.agent_id !== 'root' }
      return eventLine(event, options)?.split('\n') ?? []
    })

  it('say who was made, on what terms, and how it ended', () => {
    const run = eventsOfRun()
    run.root()
    const adjustments = [{ field: 'mode', asked: 'auto', given: 'normal', reason: 'the parent is in normal mode' }]
    const a1 = run.create('root', 'a1', { title: 'Look', profile: 'researcher', adjustments })
    a1.start()
    a1.attempt(2, 'timeout', 'no time left')
    a1.end()
    const a2 = run.create('root', 'a2', { title: 'Mend\nit' })
    const gate = { sub_agent_id: 'a2', step_idx: 1, gate: 0, kind: 'command' as const, what: 'npm test', output: null }
    run.add('root', 'agent.gate_checked', { ...gate, passed: true, detail: '', duration_ms: 12 })
    run.add('root', 'agent.gate_checked', { ...gate, passed: false, detail: 'not ok 1\nmore', duration_ms: 12 })
    a2.close('failed', resultOf({ outcome: 'gate_failed', reason: 'npm test failed', tool_calls: 1, sub_agents: 2 }))
    const a3 = run.create('root', 'a3')
    a3.close('completed', resultOf({ outcome: 'budget_exceeded', reason: 'no calls left' }))
    const reused = { sub_agent_id: 'a4', step_idx: 3, call_id: 'c', index: 0, title: 'Look', cache_key: 'k' }
    const from = { run_id: 'q', agent_id: 'a7' }
    run.add('root', 'agent.subagent_reused', { ...reused, from, result: resultOf() })
    expect(shown(run)).toEqual([
      '↳ a1 researcher: Look (p/m)',
      '! a1: mode from auto to normal: the parent is in normal mode',
      'a1 ! attempt 2 after timeout: no time left',
      '✓ a1 completed · 3 calls · 1.2 s',
      '↳ a2 Mend ⏎ it (p/m)',
      '✓ a2 check passed: npm test · 12 ms',
      '✗ a2 check failed: npm test: not ok 1',
      '✗ a2 failed, gate_failed: npm test failed · 1 call · 2 sub-agents · 1.2 s',
      '↳ a3 Task of a3 (p/m)',
      '! a3 incomplete, budget_exceeded: no calls left · 3 calls · 1.2 s',
      '✓ a4 Look · the result of a7 of run q is used again',
    ])
  })

  it('say where a sub-agent writes, how its work was joined, and where it is otherwise', () => {
    const run = eventsOfRun()
    run.root()
    const a1 = run.create('root', 'a1', { title: 'Mend' })
    a1.start()
    const tree = { branch: 'retinue/r/a1', path: '.retinue/worktrees/r/a1', base: 'b'.repeat(40) }
    run.add('a1', 'agent.workspace_awaited', { behind: ['a0'] })
    run.add('root', 'agent.subagent_admitted', { sub_agent_id: 'a1', step_idx: 0, base: 'b', after: ['a0'] })
    const included = [{ path: 'node_modules', how: 'linked' as const }]
    run.add('a1', 'agent.worktree_created', { ...tree, included, notes: ['submodule lib is empty in worktrees'] })
    const setup = { command: 'npm ci', output: null, duration_ms: 9 }
    run.add('a1', 'agent.setup_started', { command: 'npm ci' })
    run.add('a1', 'agent.setup_finished', { ...setup, passed: true, detail: 'added 3' })
    run.add('a1', 'agent.setup_finished', { ...setup, passed: false, detail: 'no room\nmore' })
    const ends = { sub_agent_id: 'a1', step_idx: 0, before: 'b', after: 'c' }
    const merge = { ...ends, kind: 'fast_forward' as const }
    const gate = { sub_agent_id: 'a1', step_idx: 0, gate: 0, kind: 'command' as const, what: 'npm test', output: null }
    run.add('root', 'agent.merge_started', merge)
    run.add('root', 'agent.gate_checked', {
      ...{ ...gate, after_merge: true, passed: false, detail: 'not ok 1', duration_ms: 12 },
    })
    run.add('root', 'agent.merge_taken_back', { ...ends, reason: 'npm test\nfailed' })
    const kept = { branch: tree.branch, path: tree.path }
    a1.close('failed', resultOf({ outcome: 'gate_failed', reason: 'it failed', receipt: receiptOf({ kept }) }))
    const left_out = ['dist/a.js', 'dist/b.js']
    a1.close('completed', resultOf({ receipt: receiptOf({ left_out }) }))
    run.add('root', 'agent.worktree_merged', { ...merge, sub_agent_id: 'a2', files: receiptOf().files })
    run.add('a3', 'agent.worktree_failed', { message: 'the disk is full' })
    expect(shown(run)).toEqual([
      '↳ a1 Mend (p/m)',
      'a1 ○ waits to write until a0 closed: what they own may overlap',
      'a1 works in .retinue/worktrees/r/a1 from here on, on retinue/r/a1 from bbbbbbbbbb, with node_modules (linked)',
      'a1 ! submodule lib is empty in worktrees',
      'a1 makes its worktree ready: npm ci',
      'a1 ✓ setup passed: npm ci · 9 ms',
      'a1 ✗ setup failed: npm ci: no room',
      '✗ a1 check after the merge failed: npm test: not ok 1',
      '✗ a1 merge taken back: npm test',
      '✗ a1 failed, gate_failed: it failed · 3 calls · 1.2 s',
      '! a1 kept on retinue/r/a1',
      '✓ a1 completed · 3 calls · 1.2 s',
      '! a1 left out 2 files that git ignores: dist/a.js, dist/b.js, left behind in another checkout',
      '✓ a2 merged by fast-forward, 1 file',
      'a3 ✗ no worktree to write in: the disk is full',
    ])
  })

  it('say which process has taken a run up again', () => {
    const run = eventsOfRun()
    run.root()
    const resumed = (owner: string, interrupted_calls: string[]) =>
      run.add('root', 'agent.resumed', {
        ...{ owner, epoch: 2, sandbox: { kind: 'bubblewrap', reason: '' }, notes: [], interrupted_request: null },
        interrupted_calls,
      })
    resumed('vm:7d481f0e-0c55-4d3c-9f6f-000000000000.4026531836:1235:2742689', ['c4'])
    resumed('mac:darwin:77:1763272800', [])
    resumed('a queue', [])
    expect(shown(run)).toEqual([
      '! resumed by process 1235 on vm; 1 call cut short',
      '! resumed by process 77 on mac',
      '! resumed by a queue',
    ])
  })

  it('begin with the id of the sub-agent that does something', () => {
    const run = eventsOfRun()
    run.root()
    run.create('root', 'a1').start()
    run.call('a1', 'c1', 'write_file', 'x.txt')
    run.finish('a1', 'c1', 'write_file', { files_changed: ['x.txt'] })
    run.finish('a1', 'c2', 'run_command', { status: 'error', content: 'exit code 1\nmore' })
    const refused = { call_id: 'c3', tool: 'spawn', summary: 'spawn x', code: 'denied' as const, rule: null }
    run.add('a1', 'tool.refused', { ...refused, content: 'Not allowed' })
    run.finish('root', 'c1', 'run_command', { status: 'error', content: 'exit code 2' })
    expect(shown(run).slice(1)).toEqual([
      'a1 → write_file x.txt',
      'a1 ✓ write_file changed x.txt',
      'a1 ✗ run_command error: exit code 1',
      'a1 ✗ spawn spawn x refused: Not allowed',
      '  ✗ error: exit code 2',
    ])
  })

  it('are all there is without a terminal', async () => {
    const script = `agents:
  root:
    - calls:
        - spawn: { task: "Look around" }
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: "Seen."
  a1:
    - calls:
        - list_dir: {}
    - text: "A file."
`
    const cwd = makeProject({ 's.yaml': script })
    const args = ['Have a look', '--model', 'scripted/s.yaml']
    const ended = await retinue(args, { cwd })
    expect([ended.code, ended.stdout]).toEqual([0, 'Seen.\n'])
    const [run] = jsonLines((await retinue(['runs', '--json'], { cwd })).stdout) as { run_id: string }[]
    const watched = await retinue(['watch', run?.run_id ?? ''], { cwd })
    for (const text of [ended.stderr, watched.stdout]) {
      expect(text).not.toContain('\u001b')
      expect(text).toMatch(/^↳ a1 Look around \(scripted\/s\.yaml\)$/m)
      expect(text).toMatch(/^a1 → list_dir list \.$/m)
      expect(text).toMatch(/^✓ a1 completed · 1 call · /m)
      expect(text).toMatch(/^completed · 5 turns · 3 tool calls · 1 sub-agent · /m)
      expect(text).not.toMatch(/^└|^1 sub-agent:/m)
    }
    const again = await retinue(['resume', run?.run_id ?? ''], { cwd })
    expect(again.stderr).toMatch(/^completed · 5 turns · 3 tool calls · 1 sub-agent · /m)
    expect(again.stderr).not.toContain('list_dir')
  })
})
