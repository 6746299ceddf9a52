import { describe, expect, it } from 'vitest'
import { eventLine } from '../../src/cli/event-lines.js'
import { agentTail } from '../../src/cli/show/agent.js'
import { card } from '../../src/cli/show/card.js'
import { landingOf as landingIn, landingLines } from '../../src/cli/show/landing.js'
import { treeLines } from '../../src/cli/show/tree.js'
import { paintFor } from '../../src/cli/style.js'
import { RunView } from '../../src/cli/view.js'
import {
  type AgentResult,
  type Dossier,
  doingWords,
  emptyTree,
  growTree,
  type Landing,
  type Outcome,
  openDossier,
  type StoredEvent,
  type TreeAgent,
} from '../../src/index.js'
import { reportOf } from '../../src/library/runs/report.js'
import { eventsOfRun, landingOf, receiptOf, resultOf } from '../support/tree-events.js'

const plain = paintFor({}, {})
const BRANCH = 'retinue/r/a1'
const PATH = '.retinue/worktrees/r/a1'
const BASE = 'b'.repeat(40)
const sub = { sub_agent_id: 'a1', step_idx: 0 }
const gate = { ...sub, gate: 0, kind: 'command', what: 'npm test', output: null, duration_ms: 5 } as const

/** A sub-agent that wrote, was merged and failed its check then. */
function failedAfterMerge() {
  const run = eventsOfRun()
  run.root()
  const a1 = run.create('root', 'a1')
  a1.start()
  const included = [{ path: 'node_modules', how: 'linked' as const }]
  run.add('a1', 'agent.worktree_created', { branch: BRANCH, path: PATH, base: BASE, included, notes: ['no lib'] })
  run.add('a1', 'agent.setup_started', { command: 'npm ci' })
  run.add('a1', 'agent.setup_finished', {
    command: 'npm ci',
    passed: true,
    detail: 'added 3',
    output: null,
    duration_ms: 9,
  })
  run.add('a1', 'agent.subagent_waiting_for_merge', { ...sub, result: resultOf() })
  run.add('root', 'agent.gate_checked', { ...gate, passed: true, detail: '' })
  run.add('root', 'agent.merge_started', { ...sub, before: 'x', after: 'y', kind: 'merge' })
  run.add('root', 'agent.gate_checked', { ...gate, passed: false, detail: 'not ok', after_merge: true })
  const receipt = receiptOf({ kept: { branch: BRANCH, path: PATH }, left_out: ['dist/a.js'] })
  const result = resultOf({ outcome: 'gate_failed', reason: 'npm test failed', text: 'I did it.', receipt })
  a1.close('failed', result)
  return { run, result }
}

describe('show <run> <agent>', () => {
  const { run } = failedAfterMerge()
  const dossier = openDossier(run.events, 'a1') as Dossier

  it('has the worktree, what it has of the folder, and what it lacks', () => {
    const shown = card(dossier, plain)
    expect(shown).toContain(`worktree    ${PATH}, on ${BRANCH} from bbbbbbbbbb`)
    expect(shown).toContain('has         node_modules, linked from your folder')
    expect(shown).toContain('note        no lib')
  })

  it('has the receipt: checks with their stage, commits, files, and where the work is', () => {
    expect(agentTail(dossier, 'r', plain)).toEqual([
      '✓ setup passed: npm ci 9 ms',
      '    added 3',
      '✓ command check passed: npm test 5 ms',
      '✗ command check after the merge failed: npm test 5 ms',
      '    not ok',
      `branch      ${BRANCH}, from bbbbbbbbbb`,
      'commits     cccccccccc Mend the gutter (Retinue a1)',
      'files       modified gutter.md',
      'merged      no',
      `kept        on ${BRANCH}, in ${PATH}`,
      `left out    dist/a.js: git ignores it, so that no commit has it; it is in ${PATH}`,
      '',
      'Report',
      'I did it.',
    ])
  })

  it('has no line that a file name could have made', () => {
    const files = [{ path: 'x\nmerged      as 1234567890', kind: 'added' as const }]
    const result = resultOf({ receipt: receiptOf({ files }) })
    const shown = agentTail({ ...dossier, setups: [], gates: [], result }, 'r', plain)
    expect(shown.filter((line) => line.startsWith('merged'))).toEqual(['merged      no'])
  })

  it('names the files of a check of paths', () => {
    const contract = structuredClone(dossier.contract) as NonNullable<Dossier['contract']>
    contract.step.checks = [{ kind: 'paths', exist: ['docs/*.md'], unchanged: ['src/**'] }]
    const shown = card({ ...dossier, contract }, plain).join('\n')
    expect(shown).toContain('check       docs/*.md is there\n            src/** is not changed')
  })
})

describe('show <run>', () => {
  it('says what landed, and from where to where', () => {
    const { run } = failedAfterMerge()
    expect(landingIn(run.events)).toBeNull()
    run.add('root', 'run.landed', landingOf())
    expect(landingLines(landingIn(run.events) as Landing, 'r')).toEqual([
      '2 files brought into the folder, uncommitted: gutter.md, slates.md (added)',
      'from bbbbbbbbbb to cccccccccc',
    ])
  })

  it('says what no commit has, whether or not anything landed, and whether it is still there', () => {
    const left_out = ['dist/a.js', '.env.local']
    const where = '.retinue/worktrees/r/integration'
    const said = `not in the folder: 2 files that git ignores: dist/a.js, .env.local, in ${where}`
    const landed = landingOf({ left_out })
    expect(landingLines(landed, 'r')[1]).toBe(said)
    expect(landingLines(landingOf({ files: [], left_out }), 'r')).toEqual([said])
    const gone = landingLines(landed, 'r', { branch: false, folder: false })
    expect(gone[1]).toBe(`${said}, which is not there any more`)
  })

  it('says in its tree what is kept, and who waits to write', () => {
    const { run } = failedAfterMerge()
    run.create('root', 'a2').start()
    run.add('a2', 'agent.workspace_awaited', { behind: ['a1'] })
    const shown = treeLines(run.events, { now: run.now(), interrupted: false }, plain)
    expect(shown[1]).toMatch(
      new RegExp(`a1 Task of a1 +gate_failed, kept on ${BRANCH}, left out 1 file that git ignores `),
    )
    expect(shown[2]).toMatch(/a2 Task of a2 +waits to write until a1 closed /)
    run.add('a2', 'agent.worktree_created', { branch: 'b', path: 'p', base: BASE, included: [], notes: [] })
    run.add('a2', 'agent.setup_started', { command: 'npm ci' })
    const ready = treeLines(run.events, { now: run.now(), interrupted: false }, plain)
    expect(ready[2]).toMatch(/a2 Task of a2 +setting up its worktree: npm ci /)
    const stopped = treeLines(run.events, { now: run.now(), interrupted: true }, plain)
    expect(stopped[2]).toMatch(/a2 Task of a2 +interrupted /)
  })
})

it('the live tree has the same words', () => {
  const run = eventsOfRun()
  run.root()
  run.create('root', 'a1').start()
  const words = () => doingWords(run.events.reduce(growTree, emptyTree()).agents.get('a1') as TreeAgent)
  run.add('a1', 'agent.workspace_awaited', { behind: ['a0'] })
  const said = [words()]
  const setup = { command: 'npm ci', detail: 'no room', output: null, duration_ms: 9 }
  run.add('a1', 'agent.worktree_created', { branch: BRANCH, path: PATH, base: BASE, included: [], notes: [] })
  run.add('a1', 'agent.setup_started', { command: 'npm ci' })
  said.push(words())
  run.add('a1', 'agent.setup_finished', { ...setup, passed: false })
  said.push(words())
  run.add('a1', 'agent.subagent_waiting_for_merge', { ...sub, result: resultOf() })
  run.add('root', 'agent.merge_started', { ...sub, before: 'x', after: 'y', kind: 'merge' })
  said.push(words())
  run.add('root', 'agent.gate_started', { ...sub, gate: 0, kind: 'command', what: 'npm test', after_merge: true })
  said.push(words())
  expect(said).toEqual([
    'waits to write until a0 closed',
    'setting up its worktree: npm ci',
    '',
    'is merged',
    'is checked after the merge: npm test',
  ])
  const failed = failedAfterMerge().run.events.reduce(growTree, emptyTree()).agents.get('a1') as TreeAgent
  const ignored = 'left out 1 file that git ignores'
  expect(doingWords(failed)).toBe(`gate_failed: npm test failed · kept on ${BRANCH} · ${ignored}`)
  expect(doingWords({ ...failed, outcome: 'completed', final_status: 'completed', kept_on: null })).toBe(ignored)
})

describe('the end of a run on a terminal', () => {
  const ending = (landing: Landing, before: readonly StoredEvent[] = [], some: Partial<AgentResult> = {}) => {
    let written = ''
    const out = {
      write(text: string) {
        written += text
        return true
      },
    }
    const view = new RunView(out as never, {}, { past: true })
    for (const event of before) view.event(event)
    view.ending({ ...resultOf({ landing, ...some }), run_id: 'r', session_id: 's', adjustments: [] })
    return written.split('\n').slice(1, -1)
  }

  it('says what landed', () => {
    expect(ending(landingOf())).toEqual([
      '  2 files brought into the folder, uncommitted: gutter.md, slates.md (added)',
    ])
  })

  it('says what git ignores and where it is, of the root and of its sub-agents', () => {
    expect(ending(landingOf({ left_out: ['dist/r.js'] }), failedAfterMerge().run.events).slice(1)).toEqual([
      '  not in the folder: 1 file that git ignores: dist/r.js, in .retinue/worktrees/r/integration',
      `  a1 left out 1 file that git ignores: dist/a.js, in ${PATH}`,
    ])
  })

  it('says that nothing was changed where it completed, and nothing about that otherwise', () => {
    expect(ending(landingOf({ files: [] }))).toEqual(['  nothing was changed'])
    expect(ending(landingOf({ files: [] }), [], { outcome: 'cancelled' })).toEqual([])
  })

  it('names the work that sub-agents kept, and the commands for it', () => {
    const place = { branch: BRANCH, path: PATH }
    const kept = (agent_id: string, outcome: Outcome) => ({ agent_id, outcome, ...place })
    const kept_work = [kept('a1', 'completed'), kept('a2', 'gate_failed'), kept('a3', 'budget_exceeded')]
    expect(ending(landingOf(), [], { kept_work }).slice(1)).toEqual([
      '  a2 failed (gate_failed); its work is kept: retinue diff r a2, retinue apply r a2',
      '  a3 is incomplete (budget_exceeded); its work is kept: retinue diff r a3, retinue apply r a3',
    ])
    const many = Array.from({ length: 9 }, (_, n) => kept(`a${n}`, 'merge_conflict'))
    const last = ending(landingOf(), [], { kept_work: many }).slice(-1)
    expect(last).toEqual(['  and the work of 4 more is kept: retinue worktrees'])
  })

  it('says where it is kept, why, and the one command that brings it in', () => {
    const kept = { state: 'kept', branch: 'retinue/r/integration', reason: 'the folder changed' } as const
    expect(ending(landingOf(kept))).toEqual([
      '  2 files kept on retinue/r/integration, not in the folder: the folder changed',
      '  bring them in with: retinue apply r',
    ])
  })
})

it('a check that begins has a line, unless the tree shows it', () => {
  const run = eventsOfRun()
  const what = { ...sub, gate: 0, kind: 'command', what: 'npm test', after_merge: true } as const
  const event = run.add('root', 'agent.gate_started', what)
  const options = { paint: plain, elsewhere: false, sub_agent: false }
  expect(eventLine(event, options)).toBe('  checks a1 after the merge: npm test')
  expect(eventLine(event, { ...options, in_tree: true })).toBeNull()
})

it('a report has the receipt', () => {
  const { run, result } = failedAfterMerge()
  const { contract } = openDossier(run.events, 'a1') as Dossier
  const child = {
    id: 'a1',
    title: 'T',
    task: 'Do it',
    contract,
    gates: [{ ...gate, passed: false, after_merge: true, detail: 'not ok' }],
  }
  const report = reportOf(child as never, result)
  expect(report).toContain('Check after the merge failed: npm test (not ok)')
  expect(report).toContain(`- branch: ${BRANCH}, from bbbbbbbbbb\n- commits: cccccccccc Mend the gutter (Retinue a1)\n`)
  expect(report).toContain(`- kept: on ${BRANCH}, in ${PATH}`)
})
