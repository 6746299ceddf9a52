import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { retinue } from '../support/cli.js'
import { GOAL, planOfNotes, planProject, savedIn, scriptedEditor } from '../support/plan-project.js'
import { tree } from '../support/project.js'
import { CTRL_C, DOWN, ENTER, openTerminal } from '../support/terminal.js'

const MODEL = ['--mode', 'auto', '--model']
const NOTES = { 'one.txt': 'one.txt\n', 'two.txt': 'two.txt\n', 'three.txt': 'three.txt\n' }
const CARRY_OUT = DOWN + DOWN + ENTER
const EDIT = DOWN + ENTER

function forGoal(cwd: string, env: Record<string, string> = {}) {
  return asking(openTerminal(['plan', GOAL, '--no-research', ...MODEL, 'scripted/goal.yaml'], cwd, { env, rows: 60 }))
}

/** With a way to wait for a question about a plan. */
function asking(terminal: ReturnType<typeof openTerminal>) {
  const asked = (hint: string) =>
    terminal.until(
      () => terminal.visible().some((line) => line.includes(hint)),
      () => hint,
    )
  return { ...terminal, asked }
}

describe('a plan at a terminal', () => {
  it('is shown whole, and carried out after a yes; the report is the last thing but the figures', async () => {
    const cwd = planProject()
    const before = tree(cwd)
    const terminal = forGoal(cwd)
    await terminal.asked('Esc leaves it')
    const preview = terminal.screen()
    expect(preview).toContain(`Plan: ${GOAL}\n3 steps, at most 2 side by side`)
    expect(preview).toContain('  3 Write the third note\n    writes three.txt · after 1 and 2')
    expect(preview).toContain('? Carry this plan out?')
    expect(tree(cwd)).toEqual(before)
    terminal.type(CARRY_OUT)
    await terminal.shows('  → Carry it out')
    expect(await terminal.ended).toBe(0)
    const screen = terminal.screen()
    expect(screen).toMatch(/^├ ✓ a2 step 1 Write the first note/m)
    expect(screen).toMatch(/^4 of 4 steps completed · 4 sub-agents: 4 done · /m)
    expect(screen.indexOf(`# ${GOAL}`)).toBeGreaterThan(screen.lastIndexOf('4 of 4 steps'))
    expect(screen).toMatch(/completed · .* · retinue show \w+/)
    expect(tree(cwd)).toEqual({ ...before, ...NOTES })
  })

  it('is edited, with a fault first, and what was edited is what is carried out', async () => {
    const cwd = planProject()
    // First without a description, then with a title of its own.
    const EDITOR = scriptedEditor(
      cwd,
      `if [ -e ${cwd}/.git/twice ]; then sed -i 's/agentt: .*/agent: executor/' "$1"
       else touch ${cwd}/.git/twice; sed -i '0,/title: Write the first note/s//title: Write it first\\n    agentt: executor/' "$1"; fi`,
    )
    const terminal = forGoal(cwd, { EDITOR })
    await terminal.asked('Esc leaves it')
    terminal.type(EDIT)
    await terminal.shows('Edit it again')
    expect(terminal.screen()).toMatch(/^plan:\d+: steps\[0\]\.?agentt?: .*|^plan:\d+: steps\[0\].*agentt/m)
    await terminal.asked('Esc leaves it')
    terminal.type(EDIT)
    await terminal.shows('  1 executor: Write it first')
    await terminal.asked('Carry it out')
    await terminal.asked('Esc leaves it')
    terminal.type(CARRY_OUT)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toMatch(/✓ a2 step 1 executor: Write it first/)
    const [run_id = ''] = savedIn(cwd)
    expect(readFileSync(join(cwd, '.retinue', 'plans', `${run_id}.yaml`), 'utf8')).toContain('Write it first')
  })

  it('is left with Esc, stays saved, and says how to go on; an editor that is not there changes nothing', async () => {
    const cwd = planProject()
    const terminal = forGoal(cwd)
    await terminal.asked('Esc leaves it')
    terminal.type(EDIT)
    await terminal.shows('There is no editor: set VISUAL or EDITOR')
    await terminal.until(
      () => terminal.screen().split('? Carry this plan out?').length === 3,
      () => 'the question again',
    )
    await terminal.asked('Esc leaves it')
    terminal.type('\u001b')
    expect(await terminal.ended).toBe(0)
    const [run_id = ''] = savedIn(cwd)
    expect(terminal.screen()).toContain(`Carry it out with: retinue plan run ${run_id} `)
    expect(terminal.screen()).toMatch(/^– root .* not carried out /m)
    expect(terminal.screen()).toMatch(/^not carried out · /m)
    expect(terminal.screen()).not.toContain('cancelled')
    expect((await retinue(['runs'], { cwd })).stdout).toMatch(new RegExp(`^${run_id}  not carried out `))
    expect((await retinue(['show', run_id], { cwd })).stdout).toMatch(/\nnot carried out · run /)
    expect(existsSync(join(cwd, 'one.txt'))).toBe(false)

    const later = asking(openTerminal(['plan', 'run', run_id, ...MODEL, 'scripted/run.yaml'], cwd, { rows: 60 }))
    await later.asked('Esc leaves it')
    later.type(CARRY_OUT)
    expect(await later.ended).toBe(0)
    expect(tree(cwd)).toMatchObject(NOTES)
  })

  it('is saved as it was edited, when it is left after that', async () => {
    for (const leave of [ENTER, CTRL_C]) {
      const cwd = planProject()
      const EDITOR = scriptedEditor(cwd, `sed -i 's/^goal:.*/# Mine\\n&/; s/first note/very first note/' "$1"`)
      const terminal = forGoal(cwd, { EDITOR })
      await terminal.asked('Esc leaves it')
      terminal.type(EDIT)
      await terminal.shows('  1 Write the very first note')
      const [run_id = ''] = savedIn(cwd)
      await terminal.shows(`The plan as you changed it is saved in .retinue/plans/${run_id}.yaml`)
      await terminal.until(
        () => terminal.screen().split('? Carry this plan out?').length === 3,
        () => 'the question again',
      )
      await terminal.asked('Esc leaves it')
      terminal.type(leave)
      expect(await terminal.ended).toBe(leave === ENTER ? 0 : 130)
      expect(terminal.screen()).toContain(`Carry it out with: retinue plan run ${run_id} `)
      const file = join(cwd, '.retinue', 'plans', `${run_id}.yaml`)
      expect(readFileSync(file, 'utf8')).toMatch(/^# Mine\ngoal: /m)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const shown = await retinue(['plan', 'show', run_id], { cwd })
      expect(shown.stdout).toContain('  1 Write the very first note')
    }
  })

  it('is not asked about with --yes', async () => {
    const cwd = planProject({ 'asks.yaml': planOfNotes({}, { needs_approval: true }) })
    const terminal = openTerminal(['plan', 'run', 'asks.yaml', '--yes', ...MODEL, 'scripted/run.yaml'], cwd)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).not.toContain('Carry this plan out?')
    expect(tree(cwd)).toMatchObject(NOTES)
  })

  it('asks again before a step that needs it, and a no with its reason ends that step', async () => {
    const cwd = planProject({ 'asks.yaml': planOfNotes({}, { needs_approval: true }) })
    const script = 'scripted/run.yaml'
    const terminal = asking(openTerminal(['plan', 'run', 'asks.yaml', ...MODEL, script], cwd, { rows: 60 }))
    await terminal.asked('Esc leaves it')
    expect(terminal.screen()).toContain('3 Write the third note (you are asked before it begins)')
    terminal.type(CARRY_OUT)
    await terminal.shows('? Begin step 3: Write the third note?')
    expect(terminal.screen()).toContain('  │ Write three.txt.')
    await terminal.asked('Esc means no')
    terminal.type(DOWN + ENTER)
    await terminal.shows('? Why not?')
    terminal.type(`two are enough${ENTER}`)
    await terminal.shows('  → No: two are enough')
    expect(await terminal.ended).toBe(1)
    expect(terminal.screen()).toMatch(/^└ – step 3 Write the third note +skipped: declined by person: two/m)
    expect(terminal.screen()).toMatch(/^2 of 3 steps completed, 1 skipped · 2 sub-agents/m)
    expect(existsSync(join(cwd, 'three.txt'))).toBe(false)
  })

  it('is cancelled by Ctrl-C while it asks', async () => {
    const cwd = planProject()
    const terminal = forGoal(cwd)
    await terminal.asked('Esc leaves it')
    terminal.type(CTRL_C)
    await terminal.shows('→ not answered')
    expect(await terminal.ended).toBe(130)
    expect(existsSync(join(cwd, 'one.txt'))).toBe(false)
    const [run_id = ''] = savedIn(cwd)
    expect(terminal.screen()).toContain(
      `The plan is saved in .retinue/plans/${run_id}.yaml; nothing of it is carried out.`,
    )
    expect(terminal.screen()).toContain(`Carry it out with: retinue plan run ${run_id} `)
    expect((await retinue(['plan', 'list'], { cwd })).stdout).toMatch(new RegExp(`^${run_id}  cancelled `))
  })

  it('is left alone by Ctrl-C in the editor, which is for the editor', async () => {
    const cwd = planProject()
    const go = join(cwd, '.git', 'go')
    const EDITOR = scriptedEditor(cwd, `trap 'echo heard' INT; echo open; until [ -e ${go} ]; do sleep 0.1; done`)
    const terminal = forGoal(cwd, { EDITOR })
    await terminal.asked('Esc leaves it')
    terminal.type(EDIT)
    await terminal.shows('open')
    terminal.type(CTRL_C)
    await terminal.shows('heard')
    writeFileSync(go, '')
    await terminal.shows('The plan is as it was.')
    await terminal.until(
      () => terminal.screen().split('? Carry this plan out?').length === 3,
      () => 'the question again',
    )
    await terminal.asked('Esc leaves it')
    terminal.type(ENTER)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).not.toContain('cancelling')
  })

  it('is asked about again when its process was gone meanwhile', async () => {
    const cwd = planProject()
    const terminal = forGoal(cwd)
    await terminal.asked('Esc leaves it')
    terminal.signal('SIGKILL')
    await terminal.killed
    const [run_id = ''] = savedIn(cwd)
    const again = asking(openTerminal(['resume', run_id], cwd, { rows: 60 }))
    await again.asked('Esc leaves it')
    again.type(CARRY_OUT)
    expect(await again.ended).toBe(0)
    expect(tree(cwd)).toMatchObject(NOTES)
  })
})

describe('a plan file in an editor, at a terminal', () => {
  it('is edited again until it is sound', async () => {
    const cwd = planProject()
    const EDITOR = scriptedEditor(
      cwd,
      `if grep -q '"goal": ""' "$1"; then sed -i 's/"goal": ""/"goal": "Notes"/' "$1"
       else sed -i 's/"goal": ".*"/"goal": ""/' "$1"; fi`,
    )
    const terminal = openTerminal(['plan', 'edit', 'plan.yaml', ...MODEL, 'scripted/run.yaml'], cwd, {
      env: { EDITOR },
      rows: 60,
    })
    await terminal.shows('? Edit it again?')
    expect(terminal.screen()).toMatch(/^plan\.yaml:3: goal: /m)
    await terminal.asks()
    terminal.type(DOWN + ENTER)
    await terminal.shows('Saved ')
    expect(await terminal.ended).toBe(0)
    expect(readFileSync(join(cwd, 'plan.yaml'), 'utf8')).toBe(planOfNotes().replace(GOAL, 'Notes'))
  })
})
