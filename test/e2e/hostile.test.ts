/*
 * A hostile sub-agent, and what stops it. hostile-attempts.ts has what one without rights of its own tries,
 * hostile-lead.test.ts what one that may delegate asks for, hostile-answers.test.ts what one says.
 *
 * | it tries                                             | stopped by                                              | twin |
 * | ---------------------------------------------------- | ------------------------------------------------------- | ---- |
 * | a tool that its contract does not have, also by the  | `allowed_tools`, in the one pipeline                    | yes  |
 * | name of another program's                            |                                                         |      |
 * | spawn, spawn_agent, delegate_task, spawn_await       | `can_spawn_children`; at the bottom: the depth          | yes  |
 * | fan_out, a tool that cancels a sibling               | no model has one                                        |      |
 * | ask_user                                             | `allowed_tools`: not for sub-agents                     | yes  |
 * | paths: absolute, `..`, through a link                | the workspace, before anything is judged                |      |
 * | what a sibling owns: by tool, by a link, by command  | `write_paths`, on the real path; the sandbox            | yes  |
 * | files of git and Retinue                             | `protected`, whatever the contract says; the sandbox    |      |
 * | to read the log, or reports of others                | `protected` for sub-agents; hidden in the sandbox       | yes  |
 * | outputs of a sibling, a cousin, its parent           | outputs and sub-agents are found among one's own        | yes  |
 * | processes outside                                    | the sandbox                                             |      |
 * | a wider mode, by request or by profile               | `deriveContract`: the narrowest; an adjustment          | yes  |
 * | more calls, time, tokens, sub-agents                 | `deriveContract`: no more than its own; adjustments     | yes  |
 * | another model                                        | `chooseChildModel`: what its parent may give            | yes  |
 * | tools that it has not, or that are not for its own   | `deriveContract`; adjustments                           |      |
 * | owns: `..`, absolute, negated, wider than its own    | refused; the layers of `write_paths`                    | yes  |
 * | a deeper tree                                        | `max_delegation_depth`, in contract and pipeline        | yes  |
 * | job ids of a sibling, a cousin, its parent           | `[a2: NOT FOUND]`                                       | yes  |
 * | profiles with odd names                              | the enum of the tool, and own properties alone          |      |
 * | a prompt that claims to be a contract                | words give no rights                                    |      |
 * | checks that it may not run itself                    | judged like its own commands, run behind its own fence  | yes  |
 * | schemas: deep, huge, invalid, remote, slow           | the compiler of schemas, and its clock                  | yes  |
 * | arguments deeper than any stack                      | the reader of arguments                                 |      |
 * | 200 sub-agents in a turn                             | `tool_calls` and `sub_agents`                           |      |
 * | a task of a megabyte                                 | `context_tokens` of whoever gets it                     |      |
 * | spending past its budget                             | `total_tokens`; see test/runtime/tree-budgets.test.ts   |      |
 * | `[a2: OK]`, `[COMPLETED]`, `</result>` in its answer | statuses are the runtime's; its words lose brackets     |      |
 * | escape sequences in names                            | `retinue show` prints none                              |      |
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { makeProject, tree } from '../support/project.js'
import { describeSandboxed } from '../support/sandbox.js'
import { CANARY, endsOf, expectStopped, play, show, stepsOf } from './hostile.js'
import { ATTEMPTS, type Attempt, COMMANDS, type Family, type Stopped } from './hostile-attempts.js'

// Processes are started, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const NARROW = {
  task: 'Look around',
  tools: 'read_file,write_file,edit_file,run_command,read_output',
  owns: ['mine/**'],
}
const LEAD = { profiles: { lead: { can_spawn_children: true } } }
const WORDS = [{ text: `${CANARY}, says a sub-agent.` }]
const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }
const DONE = { text: 'Done.' }

/** A family around a hostile agent at one depth or another. Whom it wants to rob is done when it begins. */
type Place = { depth: number; id: string; around: Family; agents: Record<string, object[]> }

const PLACES: Place[] = [
  {
    depth: 1,
    id: 'a2',
    around: { sibling: 'a1', cousin: 'a1.1', parent: 'root' },
    agents: {
      root: [
        { calls: [{ spawn_agent: { task: 'Say it', profile: 'lead' } }] },
        { calls: [{ spawn: NARROW }] },
        AWAIT,
        DONE,
      ],
    },
  },
  {
    depth: 2,
    id: 'a2.2',
    around: { sibling: 'a2.1', cousin: 'a1.1', parent: 'a2' },
    agents: {
      root: [
        { calls: [{ spawn_agent: { task: 'Say it', profile: 'lead' } }] },
        { calls: [{ spawn_agent: { task: 'Lead', profile: 'lead' } }] },
        DONE,
      ],
      a2: [{ calls: [{ spawn_agent: { task: 'Say it' } }] }, { calls: [{ spawn: NARROW }] }, AWAIT, DONE],
      'a2.1': WORDS,
    },
  },
]

function familyOf({ agents, id, around }: Place, attempts: readonly Attempt[]) {
  const others = { a1: [{ calls: [{ spawn_agent: { task: 'Say it' } }] }, ...WORDS], 'a1.1': WORDS }
  return { ...others, ...agents, [id]: stepsOf(attempts, around) } as Parameters<typeof play>[0]
}

/** One level above the deepest it may not delegate; at the deepest it is told that there is nothing below. */
function stoppedAt(depth: number, { what, stopped }: Attempt): { what: string; stopped: Stopped } {
  if (!('refused' in stopped) || stopped.rule !== 'can_spawn_children' || depth === 1) return { what, stopped }
  const says = 'Not allowed: Maximum sub-agent depth (2) exceeded.'
  return { what, stopped: { refused: 'denied', rule: 'max_delegation_depth', says } }
}

describe.each(PLACES)('a hostile sub-agent at depth $depth', (place) => {
  const { id, depth, agents } = place

  it('is refused whatever it tries, and everybody can see that it tried', async () => {
    const { cwd, run_id, events, asked, model } = await play(familyOf(place, ATTEMPTS), {
      mode: 'auto',
      delegation: LEAD,
    })
    const shown = await show(expect, cwd, run_id, id)
    expectStopped(
      expect,
      ATTEMPTS.map((attempt) => stoppedAt(depth, attempt)),
      endsOf(events, id),
      shown,
    )
    expect(asked).toEqual([])
    const refused = ATTEMPTS.filter(({ stopped }) => 'refused' in stopped).length
    const whole = await show(expect, cwd, run_id)
    expect(whole).toMatch(
      new RegExp(`^ *${id.replace('.', '\\.')} Look around +completed .*, ${refused} refused, `, 'm'),
    )
    // It knows nothing of what others found, and changed nothing.
    expect(JSON.stringify(events.filter(({ agent_id }) => agent_id === id))).not.toContain(CANARY)
    expect(tree(cwd)).toEqual({ 'shared.txt': 'word\n', 'mine/a.txt': 'mine\n', 'theirs/a.txt': 'theirs\n' })
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
    // Nobody but its own children and their parents ever was.
    expect(new Set(events.map(({ agent_id }) => agent_id)).size).toBe(2 + Object.keys(agents).length + 1)
    model.assertAllUsed()
  })
})

describe('the same calls under a contract that allows them', () => {
  const allowed = ATTEMPTS.filter(({ works }) => works !== undefined)

  it('work', async () => {
    const { events, model } = await play(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Do all that', profile: 'lead' } }] }, DONE],
        // The first is started and not waited for: its result is brought.
        a1: [...stepsOf(allowed, { sibling: 'a1.1', cousin: '', parent: 'a1' }), DONE],
        'a1.*': [{ text: 'Helped.' }],
      },
      { mode: 'auto', delegation: { ...LEAD, ask_person: true } },
    )
    const ends = endsOf(events, 'a1')
    for (const [i, { what, works }] of allowed.entries()) {
      expect(ends[i], what).toMatchObject({ ok: true, content: expect.stringContaining(works as string) })
    }
    expect(ends).toHaveLength(allowed.length)
    expect(model.violations).toEqual([])
  })

  it('so do the ids of its own sub-agents, once it has some', async () => {
    const { events } = await play(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'Lead', profile: 'lead' } }] },
          { calls: [{ read_output: { output: 'a1' } }] },
          DONE,
        ],
        a1: [
          { calls: [{ spawn: { task: 'Say it' } }] },
          AWAIT,
          { calls: [{ read_output: { output: 'a1.1' } }] },
          ...WORDS,
        ],
        'a1.1': WORDS,
      },
      { mode: 'auto', delegation: LEAD },
    )
    for (const end of [...endsOf(events, 'a1').slice(1), ...endsOf(events, 'root')]) {
      expect(end).toMatchObject({ ok: true, content: expect.stringContaining(CANARY) })
    }
  })
})

describeSandboxed('a hostile sub-agent with a shell', () => {
  it.each(PLACES)('at depth $depth does not get out of its fence', async (place) => {
    const { id } = place
    const { cwd, run_id, events, asked } = await play(familyOf(place, COMMANDS), { mode: 'auto', delegation: LEAD })
    expectStopped(expect, COMMANDS, endsOf(events, id), await show(expect, cwd, run_id, id))
    expect(asked).toEqual([])
    const { 'shared.txt': shared, 'theirs/a.txt': theirs, ...others } = tree(cwd)
    expect([shared, theirs]).toEqual(['word\n', 'theirs\n'])
    expect(Object.keys(others).filter((path) => !path.startsWith('mine/'))).toEqual([])
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
  })

  it('neither reads the log of the run nor the reports of others, but the skills that are beside them', async () => {
    const look = (command: string) => ({ calls: [{ run_command: { command } }] })
    const read = (path: string) => ({ calls: [{ read_file: { path } }] })
    const report = '.retinue/reports/all/a1.md'
    const place = PLACES[0] as Place
    const tries = [look('cat .retinue/retinue.db*'), look(`cat ${report}`), look('ls -A .retinue'), read(report)]
    const skill = [look('cat .retinue/skills/tide/notes.md'), read('.retinue/skills/tide/notes.md')]
    const root = [...(place.agents.root as object[]).slice(0, 3), read(report), look(`cat ${report}`), DONE]
    const { events, cwd, run_id } = await play(
      { ...familyOf(place, []), root, [place.id]: [...tries, ...skill, DONE] } as Parameters<typeof play>[0],
      { mode: 'auto', delegation: { ...LEAD, report_path_pattern: '.retinue/reports/all/<agent>.md' } },
      { files: { '.retinue/skills/tide/notes.md': 'Look at the moon.\n' } },
    )
    expect(JSON.stringify(events.filter(({ agent_id }) => agent_id === place.id))).not.toContain(CANARY)
    const [log, other, listed, refused, ...allowed] = endsOf(events, place.id)
    expect([log, other].map((end) => end?.ok)).toEqual([false, false])
    expect(listed).toMatchObject({ ok: true, content: 'exit code 0\nskills' })
    expect(refused).toMatchObject({ refused: 'denied', rule: 'protected' })
    expect(await show(expect, cwd, run_id, place.id)).toContain(`Not allowed: ${report} belongs to Retinue`)
    for (const end of allowed) expect(end).toMatchObject({ ok: true, content: expect.stringContaining('the moon') })
    // Whoever asked for it may read what became of it.
    for (const end of endsOf(events, 'root').slice(-2)) {
      expect(end).toMatchObject({ ok: true, content: expect.stringContaining(CANARY) })
    }
  })

  it('without the fence, the same commands work', async () => {
    const outside = makeProject({})
    const commands = COMMANDS.filter(({ works }) => works !== undefined).map(({ call }) => ({
      calls: [call({ sibling: '', cousin: '', parent: '' })],
    }))
    const leaves = { calls: [{ run_command: { command: `echo out > ${outside}/out.txt` } }] }
    const { events, cwd } = await play(
      { root: [{ calls: [{ spawn_agent: { task: 'Do it' } }] }, DONE], a1: [...commands, leaves, DONE] },
      { mode: 'dangerous', sandbox: 'off' },
    )
    expect(endsOf(events, 'a1').map(({ ok }) => ok)).toEqual([...commands, leaves].map(() => true))
    expect(readFileSync(join(outside, 'out.txt'), 'utf8')).toBe('out\n')
    expect(Object.keys(tree(cwd))).toEqual(expect.arrayContaining(['theirs/b.txt', 'theirs/c.txt']))
  })
})
