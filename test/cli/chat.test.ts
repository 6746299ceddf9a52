import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chatCommands } from '../../src/cli/chat/commands/table.js'
import { createChatCompleter } from '../../src/cli/chat/completing.js'
import { addressed } from '../../src/cli/chat/handles.js'
import type { Room } from '../../src/cli/chat/room.js'
import { createRetinue, isCommandLine } from '../../src/index.js'
import { ended, lines, retinue, start } from '../support/cli.js'
import { makeProject } from '../support/project.js'

const SCRIPT = `agents:
  root:
    - &turn
      branches:
        - when: { contains: "Wait long" }
          steps: [{ text: "I begin.", calls: [{ list_dir: {} }] }, { delay_ms: 60000, text: "Late." }]
        - when: { contains: "Break" }
          steps: [{ fail: { code: bad_request, message: "that was too much" } }]
        - when: { contains: "Write a note" }
          steps: [{ calls: [{ write_file: { path: note.txt, content: "x" } }] }, { text: "Tried." }]
        - steps: [{ text: "An answer." }]
    - *turn
    - *turn
    - *turn
  "a*":
    - text: "Words of the sub-agent."
`
const CONFIG = 'model: scripted/s.yaml\nprincipals:\n  vera: viewer\n  otto: operator\n'

type Said = { code: number | null; stdout: string; stderr: string; blocks: string[] }
const at = (cwd: string) => ({ cwd, env: { XDG_CONFIG_HOME: join(cwd, '.config') } })
const project = (files: Record<string, string> = {}) =>
  makeProject({ 's.yaml': SCRIPT, '.config/retinue/config.yaml': CONFIG, ...files })

async function say(cwd: string, input: string[], ...args: string[]): Promise<Said> {
  const { code, stdout, stderr } = await retinue(['chat', ...args], { ...at(cwd), input: `${input.join('\n')}\n` })
  return { code, stdout, stderr, blocks: stdout.trimEnd().split('\n') }
}

const audit = async (cwd: string) =>
  (lines((await retinue(['audit', '--json'], at(cwd))).stdout) as { type: string; data: Record<string, string> }[])
    .filter(({ type }) => type === 'control.command_executed')
    .map(({ data }) => data)
const runs = async (cwd: string) =>
  lines((await retinue(['runs', '--json'], at(cwd))).stdout) as Record<string, string>[]

describe('what is said in a chat', () => {
  it.each([
    ['/help', true],
    ['/agents pin @writer', true],
    ['/nonsense', true],
    ['/etc/hosts says what?', false],
    ['/ what', false],
    [' /help', false],
    ['//comment', false],
    ['see /help', false],
  ])('%j is a command: %s', (line, is) => expect(isCommandLine(line)).toBe(is))

  it.each([
    ['@writer make it shorter', { handle: '@writer', word: '@writer', text: 'make it shorter' }],
    ['  @writer\nmake it\nshorter', { handle: '@writer', word: '@writer', text: 'make it\nshorter' }],
    ['@writer', { handle: '@writer', word: '@writer', text: '' }],
    ['ask @writer', null],
    ['@src/a.ts what is that', null],
    ['@Writer x', { handle: '@writer', word: '@Writer', text: 'x' }],
    ['@a x', null],
  ])('%j is for %j', (message, to) => expect(addressed(message)).toEqual(to))
})

it('completes every command that /help lists, and no others', async () => {
  const retinue = await createRetinue({ cwd: project(), env: {} })
  onTestFinished(() => retinue.close())
  const room = { retinue, control: retinue.control(), tasks: { ids: ['t1'] } } as unknown as Room
  const commands = chatCommands(room, new AbortController().signal)
  const complete = createChatCompleter(room, commands)
  const choices = async (text: string) =>
    (await complete(text, text.length)).choices.map((choice) => choice.text.trim())
  const { data } = await retinue.control().execute('/help', {}, commands)
  const names = (data as { name: string }[]).map(({ name }) => `/${name}`)
  const completed = [...(await choices('/')), ...(await choices('/agents ')).map((name) => `/agents ${name}`)]
  expect(completed.sort()).toEqual(names.sort())
  expect(await choices('/stop ')).toEqual(['t1', 'all'])
  expect(await choices('/agents pin x --')).toEqual(['--session', '--user', '--workspace', '--global'])
  expect(await choices('see s')).toEqual(['s.yaml'])
})

describe('retinue chat without a terminal', () => {
  it('answers line by line, on stdout, in one conversation that commands are no part of', async () => {
    const cwd = project()
    const { code, stdout, stderr } = await say(cwd, [
      'Good morning',
      '/agents register @writer | executor | Writes.',
      '@writer Write the docs',
      '/mode',
      'What did they say?',
    ])
    expect(stdout).toBe(
      [
        ...['An answer.', '@writer is registered for the profile executor.', 'Words of the sub-agent.'],
        ...['Mode: normal. There are plan, normal, auto, dangerous.', 'An answer.', ''],
      ].join('\n'),
    )
    expect(code).toBe(0)
    expect(stderr).toContain('↳ a1 executor: Write the docs')
    const [last, , first] = await runs(cwd)
    expect(last?.session_id).toBe(first?.session_id)
    const requests = lines((await retinue(['replay', last?.run_id as string, '--json'], at(cwd))).stdout)
    const sent = JSON.stringify(requests)
    for (const part of ['Good morning', 'Write the docs', 'Words of the sub-agent.', 'What did they say?'])
      expect(sent).toContain(part)
    for (const part of ['/mode', '/agents', 'is registered']) expect(sent).not.toContain(part)
    expect((await audit(cwd)).map(({ command, outcome }) => `${command} ${outcome}`)).toEqual([
      'agents register success',
      'mode success',
    ])
  })

  it('works in the background, waits for it, and says what came of it', async () => {
    const cwd = project()
    const { stdout, code } = await say(cwd, [
      '/agents register @writer | executor | Writes.',
      '/spawn Look around',
      '/spawn @writer Look there',
      '/await t1 t2',
      '/tasks',
      '/cost',
    ])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^t1 works in the background \(run \w+\)/m)
    expect(stdout).toMatch(/^t2 @writer works in the background/m)
    expect(stdout).toMatch(/^✓ t2 completed: Words of the sub-agent\. · /m)
    expect(stdout).toMatch(/^t1 completed\nAn answer\.\nt2 completed\nWords of the sub-agent\.$/m)
    expect(stdout).toMatch(/^t1 {3}completed {2}Look around · An answer\./m)
    expect(stdout).toMatch(/^t1 +[\d,]+ tokens .*Look around\nt2 +[\d,]+ tokens .*Look there\nall +[\d,]+ tokens/m)
    // Each has a session of its own: what they do is no part of the conversation.
    const [two, one] = await runs(cwd)
    expect(new Set([two?.session_id, one?.session_id]).size).toBe(2)
    const listed = await say(cwd, ['/tasks'], '--continue')
    expect(listed.stdout).toMatch(/^t1 {3}completed .*\nt2 {3}completed /)
  })

  it('shows why an answer failed, goes on, and says with its exit code that one did', async () => {
    const cwd = project()
    const { code, stdout, stderr } = await say(cwd, ['Break', 'Good morning'])
    expect(stderr).toContain('that was too much')
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'An answer.\n' })
  })

  it('asks nobody: what would ask is denied', async () => {
    const cwd = project()
    const { stdout } = await say(cwd, ['Write a note'])
    expect(stdout).toBe('Tried.\n')
  })

  it('refuses what makes no sense, each with what is right', async () => {
    const refused: [string, string][] = [
      [
        '/spawn',
        'Say what is to be done.\nUsage:   /spawn [@handle] <task>\nExample: /spawn @writer Document the options',
      ],
      ['/stop', 'Say which: t1, or all.\nUsage:   /stop <t1 ...|all>\nExample: /stop t1'],
      ['/plan', 'Say what is to be planned.\nUsage:   /plan <goal>\nExample: /plan Move the tests to vitest'],
      ['/tasks now', 'It takes nothing after its name.\nUsage:   /tasks\nExample: /tasks'],
      ['/mode a b', 'b is one too many.\nUsage:   /mode [plan|normal|auto|dangerous]\nExample: /mode auto'],
      ['/mode autp', 'There is no mode "autp" (did you mean auto?). There are plan, normal, auto, dangerous.'],
      ['/stop t7', 'There is no task "t7" in this session. Nothing was begun in the background: /spawn [@handle] task'],
      [
        '/await t7',
        'There is no task "t7" in this session. Nothing was begun in the background: /spawn [@handle] task',
      ],
      ['/resume nowhere', 'There is no run "nowhere" in this store'],
      ['/show nowhere', 'There is no run "nowhere" in this store'],
      ['/spwan x', 'There is no command "/spwan": did you mean /spawn? See /help.'],
      [
        '@nobody x',
        'There is no agent @nobody. Nothing was sent. There are @executor, @planner, @researcher, @reviewer, @tester.',
      ],
    ]
    const cwd = project()
    const { code, stdout } = await say(
      cwd,
      refused.map(([line]) => line),
    )
    expect(stdout).toBe(refused.map(([, said]) => `✗ ${said}\n`).join(''))
    expect(code).toBe(1)
    expect(await runs(cwd)).toEqual([])
  })

  it('keeps model and mode for the session, and refuses what there is not', async () => {
    const cwd = project({ 'other.yaml': 'agents:\n  root:\n    - text: From another.\n' })
    const first = await say(cwd, ['/model scripted/other.yaml', '/mode auto', 'Good morning', '/model nope'])
    expect(first.blocks).toEqual([
      'From now on in this session: scripted/other.yaml',
      'From now on in this session: auto mode, until you leave: normal mode is what is configured',
      'From another.',
      expect.stringContaining('✗ "nope" is not a model name'),
    ])
    const again = await say(cwd, ['/model', '/mode'], '--continue')
    expect(again.stdout).toContain('Model: scripted/other.yaml.')
    // What was wider than what is configured is not so for ever; what is narrower stays.
    expect(again.stdout).toContain('Mode: normal.')
    await say(cwd, ['/mode plan'], '--continue')
    expect((await say(cwd, ['/mode'], '--continue')).stdout).toContain('Mode: plan.')
    expect((await say(cwd, ['/clear', '/mode'], '--continue')).stdout).toContain('Mode: normal.')
    const fresh = await say(cwd, ['/mode'])
    expect(fresh.stdout).toContain('Mode: normal.')
  })

  it('begins a new session with /clear, and says how to get back', async () => {
    const cwd = project()
    const { stdout } = await say(cwd, ['Good morning', '/clear', 'Good evening'])
    const [, session] = /Back to the one before: retinue chat --resume (\w+)/.exec(stdout) ?? []
    const [second, first] = await runs(cwd)
    expect(first?.session_id).toBe(session)
    expect(second?.session_id).not.toBe(session)
    await say(cwd, ['Good night'], '--resume', first?.run_id as string)
    expect((await runs(cwd))[0]).toMatchObject({ session_id: session, task: 'Good night' })
    expect(await say(cwd, ['x'], '--resume', 'nowhere')).toMatchObject({ code: 42 })
    expect(await say(project(), ['x'], '--continue')).toMatchObject({ code: 42 })
  })

  it('lets a viewer look and pin, and an operator work', async () => {
    const cwd = project()
    const { code, stdout } = await say(
      cwd,
      ['/tasks', '/agents pin planner', 'Good morning', '/spawn x', '/mode auto', '/agents pin planner --global'],
      ...['--as', 'vera'],
    )
    expect(code).toBe(1)
    expect(stdout).toContain('pinned')
    expect(stdout).toContain('✗ vera is a viewer: making agents work needs the role operator')
    expect(
      (await audit(cwd)).map(({ command, outcome, principal }) => [principal, command, outcome].join(' ')),
    ).toEqual([
      ...['vera tasks success', 'vera agents pin success', 'vera spawn denied', 'vera mode denied'],
      'vera agents pin denied',
    ])
    expect(await runs(cwd)).toEqual([])
    expect(await say(cwd, ['Good morning'], '--as', 'otto')).toMatchObject({ code: 0, stdout: 'An answer.\n' })
  })

  it('plans with one message in plan mode, and the next is as before', async () => {
    const cwd = project()
    expect((await say(cwd, ['/plan Move it', 'Good morning'])).stdout).toBe('An answer.\nAn answer.\n')
    const modes = await Promise.all(
      (await runs(cwd)).map(async ({ run_id }) => {
        const events = lines((await retinue(['show', run_id as string, '--json'], at(cwd))).stdout) as {
          type: string
          data: { contract?: { permissions: { mode: string } } }
        }[]
        return events.find(({ type }) => type === 'agent.started')?.data.contract?.permissions.mode
      }),
    )
    expect(modes).toEqual(['normal', 'plan'])
  })

  it('has the profile that is pinned for its session, also in the background', async () => {
    const cwd = project()
    const { code } = await say(cwd, [
      '/agents pin planner',
      'Good morning',
      '/spawn Look',
      '/agents unpin',
      'Good evening',
    ])
    expect(code).toBe(0)
    const profiles = await Promise.all(
      (await runs(cwd)).map(async ({ run_id, task }) => {
        const events = lines((await retinue(['show', run_id as string, '--json'], at(cwd))).stdout) as {
          type: string
          data: { contract?: { agent: { profile_id: string | null } } }
        }[]
        const started = events.find(({ type }) => type === 'agent.started')?.data.contract
        return [task, started?.agent.profile_id]
      }),
    )
    expect(Object.fromEntries(profiles)).toEqual({ 'Good morning': 'planner', Look: 'planner', 'Good evening': null })
  })

  it('is stopped by SIGTERM with what is at work left, and /resume and /stop take it up', async () => {
    const cwd = project()
    const child = start(['chat'], at(cwd))
    const end = ended(child)
    child.stdin.write('Wait long\n')
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => chunk.includes('list_dir') && resolve())
    })
    child.kill('SIGTERM')
    const { code, stderr } = await end
    expect(code).toBe(143)
    const [run] = await runs(cwd)
    expect(run?.status).toBe('interrupted')
    expect(stderr).toContain(`go on with: retinue resume ${run?.run_id}`)
    const again = await say(cwd, ['Good morning', `/stop ${run?.run_id}`, '/resume'], '--continue')
    expect(again.blocks).toEqual([
      `✗ The last answer of this session was interrupted: /resume goes on with it, /stop ${run?.run_id} closes it`,
      `${run?.run_id} is closed: cancelled`,
      'Nothing is interrupted.',
    ])
  })
})
