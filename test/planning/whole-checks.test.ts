import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Rule } from '../../src/domain/index.js'
import type { Trees } from '../../src/host/index.js'
import { createHost, type Host, type Run } from '../../src/index.js'
import { createScriptedModel } from '../../src/testing/index.js'
import { retinueIn } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { filesIn } from '../support/merge-files.js'
import { comeTo, everything, planOf, STEP, scene } from '../support/plan-attacks.js'
import { PLAN_SETTINGS } from '../support/plan-flow.js'
import { git, makeProject } from '../support/project.js'
import { sampled } from '../support/sampled.js'
import { describeSandboxed } from '../support/sandbox.js'
import { withTree } from '../support/tree-work.js'
import { eventsOf, runOf, workIn } from '../support/workspace-work.js'

const YES = { approve: 'yes' } as const
const TIMEOUT_MS = 120_000
const DONE = { text: 'Done.' }
const WRITES = [{ calls: [{ write_file: { path: 'mine/b.txt', content: 'b\n' } }] }, DONE]

describeSandboxed('a check of the whole', () => {
  const checked = async (checks: string[], files: Record<string, string> = {}) => {
    const there = await scene({ a1: WRITES }, {}, files)
    const came = await comeTo(there.retinue.executePlan(planOf({ checks, repair_rounds: 0 }), YES))
    const found = came.outcome.checks.map(({ passed }) => passed)
    return { ...came, found, before: there.before, after: everything(there.cwd) }
  }

  it.each(
    sampled(
      [
        ['a new file', 'echo junk > junk.txt'],
        ['a new file where a step writes', 'echo junk > mine/junk.txt'],
        ['files in new folders', 'mkdir -p a/b && echo junk > a/b/junk.txt && echo junk > a/junk.txt'],
        ['a tracked file', 'echo junk >> secret.txt'],
        ['the file that a step wrote', 'echo junk >> mine/b.txt'],
        ['nothing but takes a file away', 'rm secret.txt'],
        ['a file in the place of a folder', 'rm -r theirs && echo junk > theirs'],
        ['a repository of its own', 'git init --quiet made && echo junk > made/junk.txt'],
        ['a pipe', 'mkfifo pipe'],
        ['a link', 'ln -s secret.txt link'],
        ['and fails', 'echo junk > junk.txt && false'],
      ],
      3,
    ),
  )('that writes %s leaves nothing of it', { timeout: TIMEOUT_MS }, async (_, command) => {
    const { result, found, before, after } = await checked([command])
    const passes = !command.endsWith('false')
    expect(found).toEqual([passes])
    expect(result.landing).toMatchObject({
      state: passes ? 'landed' : 'kept',
      files: [{ path: 'mine/b.txt' }],
    })
    expect(after).toEqual(passes ? { ...before, 'mine/b.txt': 'b\n' } : before)
  })

  it('sees what will land, and nothing that the one before it left', { timeout: TIMEOUT_MS }, async () => {
    const checks = [
      'echo made > made.txt && echo neat > mine/b.txt',
      'test -e made.txt',
      'grep -q neat mine/b.txt',
      'grep -qx b mine/b.txt',
    ]
    const { found, outcome, before, after } = await checked(checks)
    expect(found).toEqual([true, false, false, true])
    expect(outcome.status).toBe('failed')
    expect(after).toEqual(before)
  })

  it('may leave what git ignores for the next', { timeout: TIMEOUT_MS }, async () => {
    const checks = ['echo made > made.ignored', 'test -e made.ignored']
    const { found, before, after } = await checked(checks, { '.gitignore': '*.ignored\n' })
    expect(found).toEqual([true, true])
    expect(after).toEqual({ ...before, 'mine/b.txt': 'b\n' })
  })

  it('says in the log what it looked at: the work of all steps', { timeout: TIMEOUT_MS }, async () => {
    const { log, result } = await checked(['echo junk > junk.txt', 'true'])
    const commit = result.landing?.commit
    expect(dataOf(log, 'plan.check_started').map((data) => data.commit)).toEqual([commit, commit])
  })
})

/** A machine on which no tree with junk in it can be put back. */
function stubborn(): Host {
  const real = createHost()
  const trees: Host['trees'] = async (folder) => {
    const opened = await real.trees(folder)
    if (!opened.ok) return opened
    const add: Trees['add'] = async (...wanted) => {
      const added = await opened.trees.add(...wanted)
      if (!added.ok) return added
      const { tree } = added
      const fault = { ok: false, code: 'failed', message: 'the disk is full' } as const
      const reset: typeof tree.reset = async (...to) =>
        existsSync(join(tree.root, 'junk.txt')) ? fault : tree.reset(...to)
      return { ...added, tree: { ...tree, reset } }
    }
    return { ok: true, trees: { ...opened.trees, add } }
  }
  return { ...real, trees }
}

describeSandboxed('a check of the whole whose tree cannot be put back', () => {
  it('ends the run, which keeps the work and nothing else', { timeout: TIMEOUT_MS }, async () => {
    const cwd = makeProject({ 'mine/a.txt': 'mine\n' }, { git: true })
    const before = filesIn(cwd, ['.git', '.retinue'])
    const model = createScriptedModel({ name: 'test', agents: { a1: WRITES } })
    const retinue = await retinueIn(cwd, model, { host: stubborn(), settings: { mode: 'auto' } })
    const plan = planOf({ checks: ['echo junk > junk.txt', 'true'], completion_criteria: ['It is right'] })
    const { result, outcome, log } = await comeTo(retinue.executePlan(plan, YES))
    const commit = dataOf(log, 'plan.check_started')[0]?.commit
    const why = `its worktree cannot be put back to ${commit}: the disk is full`
    expect(result).toMatchObject({ outcome: 'error', cause: 'worktree', reason: why })
    expect(outcome).toMatchObject({ status: 'failed', reason: why, checks: [] })
    expect(result.landing).toMatchObject({ state: 'kept', commit, files: [{ path: 'mine/b.txt' }] })
    expect(git(cwd, 'diff', '--name-only', 'HEAD', result.landing?.branch as string)).toBe('mine/b.txt\n')
    expect(filesIn(cwd, ['.git', '.retinue'])).toEqual(before)
  })
})

describeSandboxed('a plan that nobody may write for', () => {
  const rules: Rule[] = [{ decision: 'allow', tool: 'run_command', pattern: 'touch *' }]
  const READS = planOf({ steps: [{ ...STEP, owns: [] }], checks: ['touch junk.txt'] })

  it('is not carried out where its checks are commands, whatever a rule allows', { timeout: TIMEOUT_MS }, async () => {
    const { retinue, cwd, before } = await scene({ a1: [DONE] }, { mode: 'plan', rules })
    const run = retinue.executePlan(READS, YES)
    await expect(run.result()).rejects.toThrow('plan mode changes nothing')
    expect(await retinue.checkPlan(READS)).toMatchObject({ ok: false, faults: [{ path: 'checks[0]' }] })
    expect(everything(cwd)).toEqual(before)
  })

  it('is, in the mode that it is not in, carried out with the same rules', { timeout: TIMEOUT_MS }, async () => {
    const { retinue, cwd, before } = await scene({ a1: [DONE] }, { mode: 'normal', rules })
    const { outcome } = await comeTo(retinue.executePlan(READS, YES))
    expect(outcome).toMatchObject({ status: 'completed', checks: [{ passed: true }] })
    expect(everything(cwd)).toEqual(before)
  })

  it('is not made with such checks by a planner either', { timeout: TIMEOUT_MS }, async () => {
    const text = JSON.stringify(READS)
    const { retinue } = await scene({ a1: [{ text }], a2: [{ text }], a3: [{ text }] }, { mode: 'plan', rules })
    const { outcome } = await comeTo(retinue.planForGoal('Do it', { execute: true, ...YES }))
    expect(outcome).toMatchObject({ status: 'failed', checks: [] })
    expect(outcome.reason).toContain('plan mode changes nothing')
  })
})

/** Leaves things in the tree and does not end, the first time that it is made. */
const CHECK = `import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
if (!existsSync('been.ignored')) {
  writeFileSync('been.ignored', '')
  appendFileSync('mine/a.txt', 'junk')
  writeFileSync('mine/junk.txt', 'junk')
  writeFileSync('junk.txt', 'junk')
  setInterval(() => {}, 1000)
}
`
const FILES = { 'mine/a.txt': 'mine\n', '.gitignore': '*.ignored\n.retinue/\n', 'check.mjs': CHECK }
const PLAN = planOf({ checks: ['node check.mjs'] })
const SCRIPT = { agents: { a1: [{ text: JSON.stringify(PLAN) }], a2: WRITES } }

describeSandboxed('a check of the whole that did not come to its end', () => {
  const project = () => {
    const cwd = makeProject({ ...FILES, 'script.yaml': JSON.stringify(SCRIPT) }, { git: true })
    return { cwd, before: filesIn(cwd, ['.git', '.retinue']) }
  }
  const now = (cwd: string) => filesIn(cwd, ['.git', '.retinue'])
  const untilJunk = (cwd: string) =>
    vi.waitFor(
      () => {
        const all = readdirSync(join(cwd, '.retinue/worktrees'), { recursive: true }) as string[]
        const left = all.filter((path) => /(?<!mine\/)junk\.txt$/.test(path))
        expect(left).toHaveLength(1)
      },
      { timeout: 60_000, interval: 20 },
    )

  const WORK = { goal: { text: 'Do it', options: { execute: true, ...YES } }, person: null, settings: PLAN_SETTINGS }

  /** Begun in a process that is killed while the check is at work. */
  const killed = async () => {
    const { cwd, before } = project()
    const working = workIn(cwd, null, { file: '.retinue/kill' }, WORK)
    await untilJunk(cwd)
    writeFileSync(join(cwd, '.retinue/kill'), 'now')
    expect((await working).result).toBe(null)
    const run_id = (await runOf(cwd)) as string
    expect((await eventsOf(cwd, run_id)).at(-1)?.type).toBe('plan.check_started')
    return { cwd, before, run_id }
  }

  it('killed with its process, is made again on what it looked at, and leaves nothing', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { cwd, before, run_id } = await killed()
    const { result } = await workIn(cwd, run_id, null, WORK)
    expect(result).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
    expect(now(cwd)).toEqual({ ...before, 'mine/b.txt': 'b\n' })
    const commits = dataOf(await eventsOf(cwd, run_id), 'plan.check_started').map(({ commit }) => commit)
    expect(commits).toHaveLength(2)
    expect(new Set(commits)).toEqual(new Set([result?.landing?.commit]))
  })

  it('killed with its process, leaves nothing on the branch of a run that is cancelled then', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { cwd, before, run_id } = await killed()
    const landing = await withTree(cwd, async (retinue) => {
      await retinue.cancel(run_id, 'person', 'enough')
      return (await retinue.result(run_id))?.landing
    })
    expect(landing).toMatchObject({ state: 'kept', files: [{ path: 'mine/b.txt' }] })
    expect(git(cwd, 'diff', '--name-only', 'HEAD', landing?.branch as string)).toBe('mine/b.txt\n')
    expect(now(cwd)).toEqual(before)
  })

  const begun = async (stop: (run: Run) => unknown) => {
    const { retinue, cwd, before } = await scene({ a1: WRITES }, {}, FILES)
    const run = retinue.executePlan(PLAN, YES)
    const result = run.result().catch((error: unknown) => error)
    await untilJunk(cwd)
    await stop(run)
    return { retinue, cwd, before, run_id: run.run_id, result: await result }
  }

  it('cancelled, leaves nothing on the branch', { timeout: TIMEOUT_MS }, async () => {
    const { cwd, before, result } = await begun((run) => run.cancel('enough'))
    expect(result).toMatchObject({ landing: { state: 'kept', files: [{ path: 'mine/b.txt' }] } })
    expect(everything(cwd)).toEqual(before)
  })

  it('in a process that has let go of the run, is nobody to touch the tree any more', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { retinue, cwd, before, run_id, result } = await begun((run) => run.leave('the lease is lost'))
    expect(result).toBeInstanceOf(Error)
    // It is as the check left it, until somebody goes on with the run.
    await untilJunk(cwd)
    expect(await retinue.resume(run_id).result()).toMatchObject({ outcome: 'completed' })
    expect(everything(cwd)).toEqual({ ...before, 'mine/b.txt': 'b\n' })
  })
})
