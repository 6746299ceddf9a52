import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { GOAL, planOfNotes, planProject, savedIn } from '../support/plan-project.js'
import { tree } from '../support/project.js'
import { eventsOf } from '../support/workspace-work.js'

const NOTES = { 'one.txt': 'one.txt\n', 'two.txt': 'two.txt\n', 'three.txt': 'three.txt\n' }
const MAKE = ['plan', GOAL, '--no-research', '--model', 'scripted/goal.yaml']
const READING = JSON.stringify({ version: 1, goal: GOAL, steps: [{ description: 'Look around.', owns: [] }] })

/** Makes a plan, and gives the model the answers of those who carry it out, because it is the model of the later run. */
async function made(cwd: string, ...options: string[]): Promise<{ run_id: string; stderr: string }> {
  const { code, stderr } = await retinue([...MAKE, ...options], { cwd })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  copyFileSync(join(cwd, 'run.yaml'), join(cwd, 'goal.yaml'))
  return { run_id: savedIn(cwd)[0] as string, stderr }
}

/** The words of a command that was printed for a person. */
function printed(text: string): string[] {
  const [, words = ''] = /Carry it out with: retinue (plan run \S+)/.exec(text) ?? []
  return words.split(' ')
}

describe('a plan that was made for later', () => {
  it('is carried out by the command that was printed, with the options of the run that made it', async () => {
    const cwd = planProject()
    const { run_id, stderr } = await made(cwd, '--mode', 'auto', '--max-turns', '7', '--no-land')
    expect(await retinue(['plan', 'check', run_id], { cwd })).toMatchObject({ code: 0 })
    const { stdout: shown } = await retinue(['plan', 'show', run_id], { cwd })
    expect(shown).toContain('First, side by side:')
    expect(printed(shown)).toEqual(printed(stderr))
    const done = await retinue([...printed(stderr), '--output-format', 'json', '--max-tool-calls', '9'], { cwd })
    expect(done).toMatchObject({ code: 0 })
    const [{ run_id: later }] = lines(done.stdout) as [{ run_id: string }]
    const [a1] = await contracts(cwd, later)
    expect(a1).toMatchObject({
      model: { provider: 'scripted', model: 'goal.yaml' },
      permissions: { mode: 'auto' },
      execution: { budget: { turns: 7, tool_calls: 9 } },
    })
    // Not in the folder, as the run that made the plan was told.
    expect(existsSync(join(cwd, 'one.txt'))).toBe(false)
    expect(done.stderr).toContain(`retinue apply ${later}`)

    const listed = lines((await retinue(['plan', 'list', '--json'], { cwd })).stdout)
    expect(listed).toContainEqual(
      expect.objectContaining({ run_id, state: 'carried out', carried_out_by: { run_id: later, state: 'completed' } }),
    )
    expect((await retinue(['plan', 'list'], { cwd })).stdout).toMatch(
      new RegExp(`^${run_id}  carried out .*, by run ${later}: completed$`, 'm'),
    )
  })

  it('is looked at in plan mode where it was made in plan mode, and has its faults shown', async () => {
    const cwd = planProject({ 'goal.yaml': `agents:\n  a1:\n    - text: '${READING}'\n` })
    const { run_id } = await made(cwd, '--mode', 'plan')
    const file = join('.retinue', 'plans', `${run_id}.yaml`)
    expect(await retinue(['plan', 'check', run_id], { cwd })).toMatchObject({ stdout: `${file}: sound, 1 step\n` })
    writeFileSync(join(cwd, file), planOfNotes())
    const checked = await retinue(['plan', 'check', run_id], { cwd })
    expect(checked).toMatchObject({ code: 42, stdout: expect.stringContaining('in plan mode') })
    const { stdout: shown } = await retinue(['plan', 'show', run_id], { cwd })
    const faults = `It cannot be carried out as it is:\n${checked.stdout}`
    expect(shown).toContain(`${faults}Change it with: retinue plan edit ${run_id}\n`)
    const auto = await retinue(['plan', 'check', run_id, '--mode', 'auto'], { cwd })
    expect(auto).toMatchObject({ code: 0, stdout: `${file}: sound, 3 steps\n` })
    expect(await retinue(['plan', 'run', run_id, '-p', '--mode', 'auto'], { cwd })).toMatchObject({ code: 0 })
    expect(tree(cwd)).toMatchObject(NOTES)
  })
})

describe('a plan for programs', () => {
  it('that has faults, or steps that nobody approves, is refused with an object on stdout', async () => {
    const cwd = planProject({
      'bad.yaml': 'version: 1\ngoal: Notes\nsteps:\n  - description: Write one.\n    agent: nobody\n',
      'asks.yaml': planOfNotes({}, { needs_approval: true }),
    })
    for (const format of ['json', 'stream-json']) {
      const options = ['--output-format', format, '--mode', 'auto', '--model', 'scripted/run.yaml']
      const bad = await retinue(['plan', 'run', 'bad.yaml', ...options], { cwd })
      expect(bad).toMatchObject({ code: 42, stderr: expect.stringContaining('bad.yaml:5: steps[0].agent: ') })
      expect(lines(bad.stdout)).toEqual([
        {
          ...{ type: 'error', code: 'input', message: 'the plan has 1 fault' },
          faults: [{ path: 'steps[0].agent', line: 5, message: expect.any(String) }],
        },
      ])
      const asks = await retinue(['plan', 'run', 'asks.yaml', ...options], { cwd })
      expect(asks).toMatchObject({ code: 42 })
      expect(lines(asks.stdout)).toEqual([
        {
          ...{ type: 'error', code: 'input' },
          message:
            'step 3 (Write the third note) needs approval and nobody can be asked: say --yes to approve. Nothing was begun',
          faults: [
            {
              path: 'steps[2].needs_approval',
              message: 'needs approval, and nobody can be asked: say --yes to approve',
            },
          ],
        },
      ])
    }
  })

  it('that is only made says where it is saved', async () => {
    const cwd = planProject()
    for (const format of ['json', 'stream-json']) {
      const { stdout } = await retinue([...MAKE, '--mode', 'auto', '--output-format', format], { cwd })
      const { run_id, plan_file } = lines(stdout).at(-1) as { run_id: string; plan_file: string }
      expect(plan_file).toBe(join(cwd, '.retinue', 'plans', `${run_id}.yaml`))
      expect(readFileSync(plan_file, 'utf8')).toContain(GOAL)
    }
  })

  it('whose result is kept says so on stderr, whatever is on stdout', async () => {
    const cwd = planProject()
    const options = ['--no-land', '--mode', 'auto', '--model', 'scripted/run.yaml']
    for (const quiet of [['-p'], ['--output-format', 'json'], ['--output-format', 'stream-json']]) {
      const { code, stderr } = await retinue(['plan', 'run', 'plan.yaml', ...quiet, ...options], { cwd })
      expect(code).toBe(0)
      expect(stderr).toMatch(/^retinue: .*\nretinue: .*retinue apply \w+/)
    }
  })
})

/** Of the sub-agents of a run. */
async function contracts(cwd: string, run_id: string): Promise<unknown[]> {
  const events = await eventsOf(cwd, run_id)
  return events.flatMap(({ type, data }) => (type === 'agent.subagent_created' ? [data.contract] : []))
}
