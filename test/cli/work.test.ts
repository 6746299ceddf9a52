import { describe, expect, it } from 'vitest'
import { agentTail } from '../../src/cli/show/agent.js'
import { card } from '../../src/cli/show/card.js'
import { type Dossier, openDossier } from '../../src/cli/show/dossier.js'
import { landingOf as landingIn, landingLines } from '../../src/cli/show/landing.js'
import { treeLines } from '../../src/cli/show/tree.js'
import { paintFor } from '../../src/cli/style.js'
import { doingWords } from '../../src/cli/tree/words.js'
import { RunView } from '../../src/cli/view.js'
import { emptyTree, growTree, type Landing, type TreeAgent } from '../../src/index.js'
import { reportOf } from '../../src/report.js'
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
      '✓ command check passed: npm test 5 ms',
      '✗ command check after the merge failed: npm test 5 ms',
      '    not ok',
      `branch      ${BRANCH}, from bbbbbbbbbb`,
      'commits     cccccccccc Mend the gutter (Retinue a1)',
      'files       modified gutter.md',
      'merged      no',
      `kept        on ${BRANCH}, in ${PATH}`,
      'left out    dist/a.js: git ignores it, so that no commit has it',
      '',
      'Report',
      'I did it.',
    ])
  })

  it('has no line that a file name could have made', () => {
    const files = [{ path: 'x\nmerged      as 1234567890', kind: 'added' as const }]
    const result = resultOf({ receipt: receiptOf({ files }) })
    const shown = agentTail({ ...dossier, gates: [], result }, 'r', plain)
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

  it('says in its tree what is kept, and who waits to write', () => {
    const { run } = failedAfterMerge()
    run.create('root', 'a2').start()
    run.add('a2', 'agent.workspace_awaited', { behind: ['a1'] })
    const shown = treeLines(run.events, { now: run.now(), interrupted: false }, plain)
    expect(shown[1]).toMatch(new RegExp(`a1 Task of a1 +gate_failed, kept on ${BRANCH} `))
    expect(shown[2]).toMatch(/a2 Task of a2 +waits to write until a1 closed /)
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
  run.add('a1', 'agent.subagent_waiting_for_merge', { ...sub, result: resultOf() })
  run.add('root', 'agent.merge_started', { ...sub, before: 'x', after: 'y', kind: 'merge' })
  said.push(words())
  run.add('root', 'agent.gate_started', { ...sub, gate: 0, kind: 'command', what: 'npm test', after_merge: true })
  said.push(words())
  expect(said).toEqual(['waits to write until a0 closed', 'is merged', 'is checked after the merge: npm test'])
  const failed = failedAfterMerge().run.events.reduce(growTree, emptyTree()).agents.get('a1') as TreeAgent
  expect(doingWords(failed)).toBe(`gate_failed: npm test failed · kept on ${BRANCH}`)
})

describe('the end of a run on a terminal', () => {
  const ending = (landing: Landing) => {
    let written = ''
    const out = {
      write(text: string) {
        written += text
        return true
      },
    }
    new RunView(out as never, {}).ending({ ...resultOf({ landing }), run_id: 'r', session_id: 's' })
    return written.split('\n').slice(1, -1)
  }

  it('says what landed', () => {
    expect(ending(landingOf())).toEqual([
      '  2 files brought into the folder, uncommitted: gutter.md, slates.md (added)',
    ])
  })

  it('says where it is kept, why, and the one command that brings it in', () => {
    const kept = { state: 'kept', branch: 'retinue/r/integration', reason: 'the folder changed' } as const
    expect(ending(landingOf(kept))).toEqual([
      '  2 files kept on retinue/r/integration, not in the folder: the folder changed',
      '  bring them in with: retinue apply r',
    ])
  })
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
