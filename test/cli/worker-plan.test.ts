import { expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { GOAL, planProject, savedIn, scriptedEditor } from '../support/plan-project.js'
import { sharedPostgres } from '../support/postgres.js'
import { tree } from '../support/project.js'
import { DOWN, ENTER, openTerminal } from '../support/terminal.js'
import { workerProcess } from '../support/worker-process.js'

const NOTES = { 'one.txt': 'one.txt\n', 'two.txt': 'two.txt\n', 'three.txt': 'three.txt\n' }
const CARRY_OUT = DOWN + DOWN + ENTER
const EDIT = DOWN + ENTER
const ESCAPE = '\u001b'

/** A person at a terminal, a database, and a worker that carries out what they want. */
async function planning(more: Record<string, string> = {}) {
  const store = await (await sharedPostgres()).database()
  const cwd = planProject()
  await workerProcess(cwd, store)
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos', ...more }
  const at = (...args: string[]) => openTerminal([...args, '--mode', 'auto'], cwd, { env, rows: 60 })
  const goal = () => at('plan', GOAL, '--no-research', '--model', 'scripted/goal.yaml')
  return { cwd, env, goal, at }
}

it('a plan that workers carry out is shown to whoever sits at the terminal, and carried out after a yes', async () => {
  const { cwd, goal } = await planning()
  const before = tree(cwd)
  const terminal = goal()
  await terminal.shows('Esc leaves it')
  const preview = terminal.screen()
  expect(preview).toContain(`Plan: ${GOAL}\n3 steps, at most 2 side by side`)
  expect(preview).toContain('  3 Write the third note\n    writes three.txt · after 1 and 2')
  expect(preview).not.toContain('waits for a person')
  expect(tree(cwd)).toEqual(before)
  terminal.type(CARRY_OUT)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toMatch(/^4 of 4 steps completed · 4 sub-agents: 4 done · /m)
  expect(tree(cwd)).toEqual({ ...before, ...NOTES })
})

it('it is edited there, and what was edited is what the workers carry out', async () => {
  const { cwd, env, goal } = await planning()
  const EDITOR = scriptedEditor(cwd, `sed -i 's/title: Write the first note/title: Write it first/' "$1"`)
  Object.assign(env, { EDITOR })
  const terminal = goal()
  await terminal.shows('Esc leaves it')
  terminal.type(EDIT)
  await terminal.shows('The plan as you changed it is saved in')
  await terminal.until(
    () => terminal.visible().at(-1)?.includes('Esc leaves it') ?? false,
    () => 'the question again',
  )
  terminal.type(CARRY_OUT)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toMatch(/✓ a2 step 1 Write it first/)
  const [run_id = ''] = savedIn(cwd)
  const log = lines((await retinue(['show', run_id, '--json'], { cwd, env })).stdout) as {
    type: string
    data: { by: string; plan?: { steps: { title: string }[] } }
  }[]
  const said = log.filter(({ type }) => type === 'plan.proposed' || type === 'plan.approval_answered')
  expect(said.map(({ type, data }) => [type, data.by, data.plan?.steps[0]?.title])).toEqual([
    ['plan.proposed', 'planner', 'Write the first note'],
    ['plan.proposed', 'person', 'Write it first'],
    ['plan.approval_answered', 'person', undefined],
  ])
})

it('it is left with Esc, stays saved, and is carried out later', async () => {
  const { cwd, goal, at } = await planning()
  const terminal = goal()
  await terminal.shows('Esc leaves it')
  terminal.type(ESCAPE)
  expect(await terminal.ended).toBe(0)
  const [run_id = ''] = savedIn(cwd)
  expect(terminal.screen()).toContain(`Carry it out with: retinue plan run ${run_id} `)
  expect(terminal.screen()).toMatch(/^not carried out · /m)
  const later = at('plan', 'run', run_id, '--model', 'scripted/run.yaml')
  await later.shows('Esc leaves it')
  later.type(CARRY_OUT)
  expect(await later.ended).toBe(0)
  expect(tree(cwd)).toMatchObject(NOTES)
})

it('--detach gives a plan away: one that is made waits for a yes, a file that is named with -p is carried out', async () => {
  const { cwd, env } = await planning()
  const say = (...args: string[]) => retinue([...args, '--mode', 'auto'], { cwd, env })
  const before = tree(cwd)
  const made = await say('plan', GOAL, '--no-research', '--detach', '--model', 'scripted/goal.yaml')
  const id = made.stdout.trim()
  expect(made).toMatchObject({
    code: 0,
    stderr: `The workers have it. Watch it: retinue watch ${id}\nWhat it asks: retinue answer ${id}\n`,
  })
  await expect
    .poll(async () => lines((await retinue(['answer', id, '--json'], { cwd, env })).stdout), { timeout: 60_000 })
    .toMatchObject([{ kind: 'approval', step: null }])
  expect((await retinue(['answer', id], { cwd, env })).stdout).toContain(`see it: retinue plan show ${id}\n`)
  const shown = (await retinue(['plan', 'show', id], { cwd, env })).stdout
  expect(shown).toContain('  3 Write the third note\n    writes three.txt · after 1 and 2')
  expect(shown).toContain(`It waits for a yes: retinue answer ${id} --allow | --deny\n`)
  const listed = (await retinue(['runs'], { cwd, env })).stdout
  expect(listed).toContain(`${id}  waits for you `)
  expect(listed).toContain('A run that waits for you asks something: retinue answer <run>\n')
  expect(lines((await retinue(['runs', '--json'], { cwd, env })).stdout)).toMatchObject([{ run_id: id, asks: 1 }])
  expect((await retinue(['show', id], { cwd, env })).stdout).toMatch(
    new RegExp(`^waits for you · .*\n.*\nIt asks something: retinue answer ${id}\n`, 'm'),
  )
  expect((await retinue(['answer', id, '--deny'], { cwd, env })).code).toBe(0)
  expect((await retinue(['watch', id], { cwd, env })).code).toBe(130)
  expect(tree(cwd)).toEqual(before)

  const carried = await say('plan', 'run', 'plan.yaml', '--detach', '-p', '--model', 'scripted/run.yaml')
  expect([carried.code, carried.stderr]).toEqual([0, ''])
  expect((await retinue(['watch', carried.stdout.trim()], { cwd, env })).code).toBe(0)
  expect(tree(cwd)).toEqual({ ...before, ...NOTES })

  const recording = await say('plan', 'run', 'plan.yaml', '--detach', '--record', 'r.yaml')
  expect([recording.code, recording.stderr]).toEqual([
    42,
    'retinue: --record is for whoever waits for the run: leave it out with --detach\n',
  ])
})
