import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/index.js'
import { ended, lines, retinue, start } from '../support/cli.js'
import { GOAL, planOfNotes, planProject, savedIn, scriptedEditor } from '../support/plan-project.js'
import { tree } from '../support/project.js'
import { runOf } from '../support/workspace-work.js'

const model = (name: string) => ['--model', `scripted/${name}.yaml`, '--mode', 'auto']
const NOTES = { 'one.txt': 'one.txt\n', 'two.txt': 'two.txt\n', 'three.txt': 'three.txt\n' }

describe('a plan for a goal, where nobody can be asked', () => {
  it('is made and saved, and nothing of it is carried out', async () => {
    const cwd = planProject()
    const before = tree(cwd)
    const made = await retinue(['plan', GOAL, '--no-research', ...model('goal')], { cwd })
    expect(made).toMatchObject({ code: 0 })
    const [run_id = ''] = savedIn(cwd)
    const saved = readFileSync(join(cwd, '.retinue', 'plans', `${run_id}.yaml`), 'utf8')
    expect(made.stdout).toBe(saved)
    expect(made.stderr).toContain(`Plan: ${GOAL}\n3 steps, at most 2 side by side\n\nFirst, side by side:\n`)
    expect(made.stderr).toContain('writes three.txt · after 1 and 2')
    expect(made.stderr).toContain(`Carry it out with: retinue plan run ${run_id} `)
    expect(tree(cwd)).toEqual(before)

    const listed = lines((await retinue(['plan', 'list', '--json'], { cwd })).stdout)
    const saved_at = expect.any(Number)
    const state = 'not carried out'
    expect(listed).toEqual([{ run_id, goal: GOAL, steps: 3, state, carried_out_by: null, saved_at }])
    expect((await retinue(['plan', 'list'], { cwd })).stdout).toMatch(
      new RegExp(`^${run_id}  not carried out +${GOAL} +3 steps, just now\n$`),
    )
    const shown = await retinue(['plan', 'show', run_id, ...model('run')], { cwd })
    expect(shown.stdout).toContain(`not carried out · run ${run_id}`)
    expect(shown.stdout).toContain('First, side by side:')

    const carried = await retinue(['plan', 'run', run_id.slice(0, -1), '-p', ...model('run')], { cwd })
    expect(carried).toMatchObject({ code: 0 })
    expect(carried.stdout).toContain(GOAL)
    expect(tree(cwd)).toEqual({ ...before, ...NOTES })
  })

  it('is the result alone with -p, and an object with --output-format json', async () => {
    const cwd = planProject()
    const quiet = await retinue(['plan', GOAL, '--no-research', '-p', ...model('goal')], { cwd })
    const [run_id = ''] = savedIn(cwd)
    expect(quiet.stderr).toBe(
      `The plan is saved in .retinue/plans/${run_id}.yaml; nothing of it is carried out.\n` +
        `Carry it out with: retinue plan run ${run_id}   (retinue plan edit ${run_id} changes it first)\n`,
    )
    const json = await retinue(['plan', GOAL, '--output-format', 'json', ...model('research')], { cwd })
    const [result] = lines(json.stdout) as [{ plan_outcome: { status: string; steps: { id: string }[] } }]
    expect(result).toMatchObject({ type: 'result', plan_outcome: { status: 'made', plan: { goal: GOAL } } })
    expect(result.plan_outcome.steps.map(({ id }) => id)).toEqual(['research-1', 'plan-1'])
    const stream = await retinue(['plan', GOAL, '--output-format', 'stream-json', ...model('research')], { cwd })
    expect(lines(stream.stdout).at(-1)).toMatchObject({ type: 'result', plan_outcome: { status: 'made' } })
  })

  it('is a goal that was not reached with --plan, and ends with 1', async () => {
    const cwd = planProject()
    const made = await retinue([GOAL, '--plan', '--no-research', '-p', ...model('goal')], { cwd })
    expect(made).toMatchObject({ code: 1 })
    expect(made.stderr).toContain('nothing of it is carried out')
    expect(existsSync(join(cwd, 'one.txt'))).toBe(false)
  })

  it('is carried out with --yes, and the report is the answer', async () => {
    const cwd = planProject()
    const before = tree(cwd)
    const done = await retinue([GOAL, '--plan', '--yes', ...model('research')], { cwd })
    expect(done).toMatchObject({ code: 0 })
    expect(tree(cwd)).toEqual({ ...before, ...NOTES })
    const [run_id = ''] = savedIn(cwd)
    const { stdout: report } = await retinue(['plan', 'show', run_id, '--report'], { cwd })
    expect(report.trimEnd()).toBe(done.stdout.trimEnd())
    expect(report).toBe(readFileSync(join(cwd, '.retinue', 'reports', run_id, 'plan.md'), 'utf8').replace(/\n*$/, '\n'))
    const said = done.stderr.split('\n')
    expect(said).toContain('▸ 1 step: research-1 What there is that the goal has to do with')
    expect(said).toContain('▸ a plan by the planner with 3 steps')
    expect(said).toContainEqual(expect.stringMatching(/^↳ a\d step 1 Write the first note \(scripted\/.*\)$/))
    expect(said).toContain('✓ step 3 completed · 5 of 5 steps completed')
    expect(said).toContainEqual(expect.stringMatching(/^✓ check of the whole passed: test -f one\.txt · /))
    expect(said).toContainEqual(expect.stringMatching(/^completed · /))
    expect(done.stderr).not.toContain('execute_plan')

    const { stdout: shown } = await retinue(['plan', 'show', run_id], { cwd })
    expect(shown).toMatch(/^✓ step 3 Write the third note {2,}completed {2}a\d, 1 call, /m)
    const { stdout: show } = await retinue(['show', run_id], { cwd })
    expect(show).toContain('plan completed\n✓ research-1 researcher: ')
    expect((await retinue(['runs'], { cwd })).stdout).toMatch(new RegExp(`^${run_id}  completed +plan: ${GOAL}`))
  })
})

describe('a plan in a file', () => {
  it('is run as in CI: naming it is the yes to it', async () => {
    const cwd = planProject()
    const before = tree(cwd)
    const done = await retinue(['plan', 'run', 'plan.yaml', '-p', ...model('run')], { cwd })
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(tree(cwd)).toEqual({ ...before, ...NOTES })
    const json = await retinue(['plan', 'run', '-', '--output-format', 'json', '--no-land', ...model('run')], {
      ...{ cwd, input: planOfNotes() },
    })
    expect(lines(json.stdout)).toMatchObject([{ type: 'result', plan_outcome: { status: 'completed' } }])
  })

  it('is refused before anything is done where a step needs approval, unless --yes', async () => {
    const cwd = planProject({ 'asks.yaml': planOfNotes({}, { needs_approval: true }) })
    const refused = await retinue(['plan', 'run', 'asks.yaml', ...model('run')], { cwd })
    expect(refused).toMatchObject({
      ...{ code: 42, stdout: '' },
      stderr:
        'retinue: step 3 (Write the third note) needs approval and nobody can be asked: say --yes to approve. Nothing was begun\n',
    })
    expect((await retinue(['runs', '--json'], { cwd })).stdout).toBe('')
    const done = await retinue(['plan', 'run', 'asks.yaml', '--yes', '-p', ...model('run')], { cwd })
    expect(done).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, 'three.txt'))).toBe(true)
  })

  it('has its faults said with their lines, by every command that reads it', async () => {
    const bad = `version: 1\ngoal: Two notes\nsteps:\n  - description: Write one.\n    depends_on: [3]\n  - description: Write two.\n    agent: nobody\n`
    const cwd = planProject({ 'bad.yaml': bad })
    const checked = await retinue(['plan', 'check', 'bad.yaml'], { cwd })
    expect(checked).toMatchObject({ code: 42, stderr: '' })
    const faults = checked.stdout.trimEnd().split('\n')
    expect(faults.every((fault) => /^bad\.yaml:\d+: steps\[\d\]\.\S+: ./.test(fault))).toBe(true)
    expect(faults[0]).toMatch(/^bad\.yaml:5: steps\[0\]\.depends_on/)
    for (const command of ['run', 'show']) {
      const refused = await retinue(['plan', command, 'bad.yaml'], { cwd })
      expect(refused).toMatchObject({ code: 42, stdout: '' })
      const head = `retinue: the plan has ${faults.length === 1 ? '1 fault' : `${faults.length} faults`}`
      expect(refused.stderr).toBe(`${head}\n${checked.stdout}`)
    }
    expect(lines((await retinue(['plan', 'check', 'bad.yaml', '--json'], { cwd })).stdout)).toEqual([
      { ok: false, faults: expect.arrayContaining([expect.objectContaining({ line: 5 })]) },
    ])
    expect(await retinue(['plan', 'check', 'plan.yaml', ...model('run')], { cwd })).toMatchObject({
      ...{ code: 0, stdout: 'plan.yaml: sound, 3 steps\n' },
    })
    expect((await retinue(['plan', 'show', 'plan.yaml', ...model('run')], { cwd })).stdout).toContain(
      'First, side by side:',
    )
    expect(
      lines((await retinue(['plan', 'show', 'plan.yaml', '--json', ...model('run')], { cwd })).stdout),
    ).toMatchObject([{ ok: true, plan: { goal: GOAL }, preview: { goal: GOAL } }])
  })
})

describe('what makes no sense', () => {
  it('is said, and ends with 42', async () => {
    const cwd = planProject()
    const said = async (...args: string[]) => {
      const { code, stderr } = await retinue(args, { cwd })
      return `${code} ${stderr.trimEnd()}`
    }
    expect(await said('plan')).toBe('42 retinue: Say what the goal is: retinue plan "goal"')
    expect(await said('plan', '--research', 'Mend it')).toBe(
      '42 retinue: Say what the goal is: retinue plan "goal"; --research took "Mend it" as its question, so put the goal before it',
    )
    expect(await said('plan', 'lsit')).toBe(
      '42 retinue: "lsit" looks like "plan list". If it is a goal, say it in more words.',
    )
    expect(await said('paln', 'mend')).toContain('"paln" looks like "plan"')
    expect(await said('Mend it', '--yes')).toBe('42 retinue: --yes is for plans: add --plan, or leave it out')
    expect(await said('Mend it', '--no-research', '--yes')).toBe(
      '42 retinue: --yes and --research is for plans: add --plan, or leave it out',
    )
    expect(await said('Mend it', '--plan', '--agent', 'executor')).toBe(
      '42 retinue: Each step of a plan has an agent of its own: leave out --agent',
    )
    for (const command of ['run', 'show', 'edit', 'check'])
      expect(await said('plan', command, 'nowhere')).toBe(
        '42 retinue: There is neither a file nor a run "nowhere": retinue plan list shows the plans that are saved',
      )
    expect(await said('plan', 'edit', '-')).toBe(
      '42 retinue: What comes on stdin cannot be edited: name a file or a run',
    )
    expect(await said('plan', 'show', 'plan.yaml', '--report')).toBe(
      '42 retinue: plan.yaml is a file: the report is of a run of it',
    )
    for (const args of [
      ['plan', 'plan.yaml'],
      ['plan', 'make', 'plan.yaml'],
      ['plan.yaml', '--plan'],
    ])
      expect(await said(...args)).toBe(
        '42 retinue: plan.yaml is a file and no goal: did you mean: retinue plan run plan.yaml',
      )
    for (const command of ['run', 'show', 'edit', 'check'])
      expect(await said('plan', command, '.git')).toBe('42 retinue: .git is a folder: name a plan file in it, or a run')
    expect((await retinue(['plan', 'list', '--json'], { cwd })).stdout).toBe('[]\n')
    expect(await said('plan', 'run', 'plan.yaml', '--agent', 'x')).toMatch(/^2 error: unknown option '--agent'/)
    expect((await retinue(['plan', 'list'], { cwd })).stdout).toBe(
      `No plans in ${cwd} yet. Make one: retinue plan "goal"\n`,
    )
  })

  it('is also a run that is about no plan', async () => {
    const cwd = planProject({ 'plain.yaml': 'agents:\n  root:\n    - text: Hello.\n' })
    await retinue(['Say hello', '-p', ...model('plain')], { cwd })
    const run_id = (await runOf(cwd)) as string
    const shown = await retinue(['plan', 'show', run_id], { cwd })
    expect(shown).toMatchObject({
      ...{ code: 42, stderr: `retinue: Run ${run_id} is not about a plan. See it with: retinue show ${run_id}\n` },
    })
    expect(await retinue(['plan', 'run', run_id], { cwd })).toMatchObject({ code: 42 })
  })
})

describe('a plan in an editor', () => {
  it('is saved when it is sound', async () => {
    const cwd = planProject()
    const EDITOR = scriptedEditor(cwd, 'sed -i "s/first note/very first note/" "$1"')
    const edited = await retinue(['plan', 'edit', 'plan.yaml', ...model('run')], { cwd, env: { EDITOR } })
    expect(edited).toMatchObject({ code: 0 })
    expect(edited.stdout).toBe(`Saved ${join(cwd, 'plan.yaml')}. Carry it out with: retinue plan run plan.yaml\n`)
    expect(edited.stderr).toContain('Write the very first note')
    expect(readFileSync(join(cwd, 'plan.yaml'), 'utf8')).toBe(planOfNotes().replace('first note', 'very first note'))
  })

  it('keeps its permissions, and the link that leads to it', async () => {
    const cwd = planProject()
    chmodSync(join(cwd, 'plan.yaml'), 0o640)
    symlinkSync('plan.yaml', join(cwd, 'link.yaml'))
    const EDITOR = scriptedEditor(cwd, 'sed "s/first note/very first note/" "$1" > "$1.new"; cat "$1.new" > "$1"')
    const edited = await retinue(['plan', 'edit', 'link.yaml', ...model('run')], { cwd, env: { EDITOR } })
    expect(edited).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'plan.yaml'), 'utf8')).toContain('very first note')
    expect(statSync(join(cwd, 'plan.yaml')).mode & 0o777).toBe(0o640)
    expect(lstatSync(join(cwd, 'link.yaml')).isSymbolicLink()).toBe(true)
  })

  it('is saved with a warning when it is sound but cannot be carried out here and now', async () => {
    const cwd = planProject()
    const EDITOR = scriptedEditor(cwd, 'sed -i "s/test -f one.txt/rm -rf one.txt/" "$1"')
    const edited = await retinue(['plan', 'edit', 'plan.yaml'], { cwd, env: { EDITOR } })
    expect(edited).toMatchObject({ code: 0, stderr: expect.stringMatching(/^plan\.yaml:\d+: checks\[0\]/m) })
    expect(edited.stdout).toBe(
      `Saved ${join(cwd, 'plan.yaml')}. It cannot be carried out as things are here: why is said above\n`,
    )
    expect(readFileSync(join(cwd, 'plan.yaml'), 'utf8')).toContain('rm -rf one.txt')
  })

  it('is as it was when it has faults and nobody can mend them, and what was written is kept beside it', async () => {
    const cwd = planProject()
    const EDITOR = scriptedEditor(cwd, 'sed -i "s/one.txt\\"$/..\\/one.txt\\"/" "$1"')
    for (const name of ['plan.edited.yaml', 'plan.edited-2.yaml']) {
      const edited = await retinue(['plan', 'edit', 'plan.yaml', ...model('run')], { cwd, env: { EDITOR } })
      expect(edited).toMatchObject({ code: 42, stdout: '' })
      const [fault, said] = edited.stderr.trimEnd().split('\n')
      expect(fault).toMatch(/^plan\.yaml:\d+: steps\[0\]\.owns/)
      expect(said).toBe(
        `retinue: plan.yaml is as it was, because what you wrote has faults; what you wrote is in ${join(cwd, name)}`,
      )
      expect(readFileSync(join(cwd, name), 'utf8')).toContain('../one.txt')
      expect(readFileSync(join(cwd, 'plan.yaml'), 'utf8')).toBe(planOfNotes())
    }
  })

  it('is as it was when somebody else was faster, when nothing was changed and when there is no editor', async () => {
    const cwd = planProject()
    const file = join(cwd, 'plan.yaml')
    const other = planOfNotes({ assumptions: ['Somebody was faster'] })
    writeFileSync(join(cwd, '.git', 'other'), other)
    const EDITOR = scriptedEditor(cwd, `cp ${join(cwd, '.git', 'other')} ${file}; sed -i "s/first/fifth/" "$1"`)
    const lost = await retinue(['plan', 'edit', 'plan.yaml', ...model('run')], { cwd, env: { EDITOR } })
    expect(lost).toMatchObject({ code: 42 })
    expect(lost.stderr).toContain('because somebody else has changed it meanwhile')
    expect(readFileSync(file, 'utf8')).toBe(other)
    expect(readFileSync(join(cwd, 'plan.edited.yaml'), 'utf8')).toContain('fifth')
    expect(await retinue(['plan', 'edit', 'plan.yaml'], { cwd, env: { EDITOR: 'true' } })).toMatchObject({
      ...{ code: 0, stdout: '', stderr: 'The plan is as it was.\n' },
    })
    const none = await retinue(['plan', 'edit', 'plan.yaml'], { cwd })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no editor: set VISUAL or EDITOR') })
  })
})

describe('a plan under way', () => {
  it('is seen, paused and gone on with from elsewhere', async () => {
    const cwd = planProject()
    const held = ['plan', 'run', 'plan.yaml', '--model', 'scripted/held.yaml', '--mode', 'dangerous']
    const child = start(held, { cwd })
    const over = ended(child)
    const says = saying(child)
    await says('a3 → run_command')
    const run_id = (await runOf(cwd)) as string
    const { stdout: shown } = await retinue(['plan', 'show', run_id], { cwd })
    expect(shown).toContain(`running · run ${run_id}`)
    expect(shown).toMatch(/^✓ step 2 Write the second note +completed {2}a2, 1 call, .*\n● step 3 .* running +a3$/m)
    const again = await retinue(['plan', 'run', run_id], { cwd })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`retinue watch ${run_id}`) })

    const pausing = retinue(['pause', run_id], { cwd })
    await signalled(cwd, run_id)
    const go = join(cwd, '.retinue', 'worktrees', run_id, 'a3', 'go')
    writeFileSync(go, '')
    await says('a3 ✓ run_command')
    rmSync(go)
    expect(await pausing).toMatchObject({
      ...{ code: 0, stdout: `Run ${run_id} is paused. Go on with: retinue resume ${run_id}\n` },
    })
    expect(await over).toMatchObject({ code: 143, stderr: expect.stringContaining(`retinue resume ${run_id}`) })
    const { stdout: half } = await retinue(['plan', 'show', run_id], { cwd })
    expect(half).toContain(`paused: retinue resume ${run_id} · run ${run_id}`)
    expect((await retinue(['plan', 'list'], { cwd })).stdout).toContain(`${run_id}  paused: retinue resume ${run_id} `)
    expect((await retinue(['watch', run_id], { cwd })).code).toBe(143)
    expect(existsSync(join(cwd, 'one.txt'))).toBe(false)
    expect(await retinue(['plan', 'edit', run_id], { cwd, env: { EDITOR: 'true' } })).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`go on with: retinue resume ${run_id}`) },
    })

    const done = await retinue(['resume', run_id, '-p'], { cwd })
    expect(done).toMatchObject({ code: 0 })
    expect(tree(cwd)).toMatchObject(NOTES)
    expect(await retinue(['pause', run_id], { cwd })).toMatchObject({ stdout: `Run ${run_id} is closed: completed\n` })
  })
})

/** Resolves when somebody has asked the process of a run for something, and that was heard: it is asked for again later. */
async function signalled(cwd: string, run_id: string): Promise<void> {
  const opened = await openSqliteStore({ file: join(cwd, '.retinue', 'retinue.db'), clock: { now: Date.now } })
  if (!opened.ok) throw new Error(opened.message)
  while ((await opened.store.signals({ run_id, after: 0 })).length < 2) await sleep(20)
  await opened.store.close()
}

/** Resolves when a process has said something on stderr. */
function saying(child: ReturnType<typeof start>): (text: string) => Promise<void> {
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return async (text) => {
    while (!said.includes(text)) await once(child.stderr, 'data')
  }
}
