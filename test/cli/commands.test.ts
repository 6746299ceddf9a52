import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { ended, lines, retinue, start } from '../support/cli.js'
import { running } from '../support/processes.js'
import { makeProject, tree } from '../support/project.js'
import { runOf } from '../support/workspace-work.js'

const script = (steps: string) => `agents:\n  root:\n${steps.replace(/^/gm, '    ')}\n`
const HELLO = script('- calls:\n    - read_file: { path: a.txt }\n- text: "It says hello."')
const MODEL = ['--model', 'scripted/s.yaml']

function project(steps = HELLO, files: Record<string, string> = {}): string {
  return makeProject({ 's.yaml': steps, 'a.txt': 'hello\n', ...files })
}

describe('retinue "task"', () => {
  it('prints the answer on stdout and what it does on stderr', async () => {
    const cwd = project()
    const { code, stdout, stderr } = await retinue(['What does a.txt say?', ...MODEL], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It says hello.\n' })
    expect(stderr).toContain('→ read_file read a.txt')
    expect(stderr).toContain('completed · 2 turns · 1 tool call ·')
    expect(stderr).not.toContain('\u001b[')
  })

  it('with -p prints the answer and nothing else', async () => {
    const ended = await retinue(['-p', 'What?', ...MODEL], { cwd: project() })
    expect(ended).toEqual({ code: 0, signal: null, stdout: 'It says hello.\n', stderr: '' })
  })

  it('with --output-format json prints one result', async () => {
    const { stdout, stderr } = await retinue(['What?', '--output-format', 'json', ...MODEL], { cwd: project() })
    expect(stderr).toBe('')
    expect(lines(stdout)).toMatchObject([
      { type: 'result', outcome: 'completed', text: 'It says hello.', tool_calls: 1 },
    ])
  })

  it('with --output-format stream-json prints the events themselves and ends with the result', async () => {
    const cwd = project()
    const { stdout } = await retinue(['What?', '--output-format', 'stream-json', ...MODEL], { cwd })
    const out = lines(stdout) as (StoredEvent & { outcome?: string })[]
    const events = out.slice(0, -1)
    expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => i + 1))
    expect(out.at(-1)).toMatchObject({ type: 'result', outcome: 'completed' })
    const { run_id } = events[0] as StoredEvent
    expect(lines((await retinue(['show', run_id, '--json'], { cwd })).stdout)).toEqual(events)
  })

  it('takes the task from stdin, alone or in its place', async () => {
    const cwd = project(script('- expect: { contains: "from a pipe" }\n  text: Yes.'))
    expect((await retinue(['-p', ...MODEL], { cwd, input: 'from a pipe' })).stdout).toBe('Yes.\n')
    expect((await retinue(['-p', ...MODEL, 'this comes', '-'], { cwd, input: 'from a pipe' })).stdout).toBe('Yes.\n')
  })

  it('goes on with the last session with -c, and with the session of a run with -r', async () => {
    const cwd = project(script('- text: One.\n- expect: second\n  text: Two.\n- expect: third\n  text: Three.'))
    await retinue(['-p', 'first', ...MODEL], { cwd })
    expect((await retinue(['-p', '-c', 'second', ...MODEL], { cwd })).stdout).toBe('Two.\n')
    const run_id = (await runOf(cwd)) as string
    expect((await retinue(['-p', '-r', run_id.slice(0, 6), 'third', ...MODEL], { cwd })).stdout).toBe('Three.\n')
  })

  it('keeps its database out of git, by itself', async () => {
    const cwd = makeProject({ 's.yaml': HELLO, 'a.txt': 'hello\n' }, { git: true })
    await retinue(['-p', 'What?', ...MODEL], { cwd })
    expect(existsSync(join(cwd, '.retinue/retinue.db'))).toBe(true)
    expect((await retinue(['-p', 'x', ...MODEL], { cwd })).code).toBe(0)
    const { execFileSync } = await import('node:child_process')
    expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).toBe('')
  })
})

describe('exit codes', () => {
  const LOOP = script(Array(5).fill('- calls:\n    - read_file: { path: a.txt }').join('\n')).replace(/\n$/, '')
  it.each([
    ['an unknown option', ['x', '--nope'], 2, "unknown option '--nope'"],
    ['a bad value', ['x', '--max-turns', '0'], 2, 'positive whole number'],
    ['a bad mode', ['x', '--mode', 'yolo'], 2, 'Allowed choices are plan, normal, auto, dangerous'],
    ['an empty task', ['  ', ...MODEL], 42, 'The task is empty'],
    ['a slip of a command', ['rums'], 42, 'looks like "runs"'],
    ['a command behind its options', ['--model', 'm', 'cancel', 'abc'], 42, '"cancel" is a command, and its options'],
    ['no such run', ['show', 'zzzz'], 42, 'There is no run "zzzz"'],
    ['no model', ['x'], 41, 'Set one of these'],
    ['two words that are a slip', ['shwo', 'abc'], 42, 'looks like "show"'],
    ['a folder that is not there', ['x', '--cwd', '/nonexistent'], 42, 'Cannot work in /nonexistent'],
    ['a file for a folder', ['x', '--cwd', 'a.txt'], 42, 'not a folder'],
    ['a limit beyond all numbers', ['x', '--max-turns', '1e20'], 2, 'positive whole number'],
    [
      'limits for a run that has its contract',
      ['resume', 'abc', '--max-turns', '3'],
      2,
      "unknown option '--max-turns'",
    ],
    ['a missing key', ['x', '--model', 'openai/gpt-5'], 41, 'OPENAI_API_KEY'],
    ['an unknown provider', ['x', '--model', 'nope/m'], 52, 'nope'],
    ['a script that is not there', ['x', '--model', 'scripted/none.yaml'], 52, 'none.yaml'],
    ['the turn limit', ['x', '--max-turns', '2', ...MODEL], 53, 'The budget of 2 turns is used up'],
    ['another budget', ['x', '--max-tool-calls', '1', ...MODEL], 55, 'The budget of 1 tool call is used up'],
  ])('%s', async (_, args, code, message) => {
    const cwd = makeProject({ 's.yaml': `${LOOP}\n`, 'a.txt': '' })
    const ended = await retinue(args, { cwd })
    expect(ended.stderr).toContain(message)
    expect(ended.code).toBe(code)
    expect(ended.stderr).not.toContain('    at ')
  })

  it('a configuration with mistakes: all of them, with file, line and column', async () => {
    const cwd = project(HELLO, { 'retinue.yaml': 'modle: openai/gpt-5\nbudget:\n  turns: 0\n' })
    const { code, stderr } = await retinue(['x'], { cwd })
    expect(code).toBe(52)
    expect(stderr).toContain('retinue.yaml:1:1')
    expect(stderr).toContain('did you mean "model"')
    expect(stderr).toContain('retinue.yaml:3:')
    expect(stderr).toContain('turns must be positive')
  })

  it('a model that fails', async () => {
    const cwd = project(script('- fail: { code: auth, message: "key refused" }'))
    const { code, stderr, stdout } = await retinue(['-p', 'x', ...MODEL], { cwd })
    expect({ code, stdout, stderr }).toEqual({ code: 41, stdout: '', stderr: 'retinue: error: key refused\n' })
  })
})

describe('an output that nobody reads to the end', () => {
  it('ends the program quietly, and the run can be resumed', async () => {
    const cwd = project()
    const child = start(['x', '--output-format', 'stream-json', ...MODEL], { cwd })
    child.stdin.end()
    child.stdout.destroy()
    const { code, stderr } = await ended(child)
    expect(stderr).not.toContain('at ')
    expect([0, 141]).toContain(code)
  })
})

/** The environment of a person whose own file trusts the project. */
function trusting(cwd: string): { XDG_CONFIG_HOME: string } {
  const config = join(cwd, 'conf/retinue')
  mkdirSync(config, { recursive: true })
  writeFileSync(join(config, 'config.yaml'), `trusted_projects: ["${cwd}"]\n`)
  return { XDG_CONFIG_HOME: join(cwd, 'conf') }
}

describe('configuration', () => {
  it('is taken from the project, under the user’s', async () => {
    const cwd = project(HELLO, { 'retinue.yaml': 'model: scripted/s.yaml\nbudget:\n  turns: 1\n' })
    expect((await retinue(['x', '--output-format', 'json'], { cwd })).code).toBe(52)
    const env = trusting(cwd)
    const ended = await retinue(['x', '--output-format', 'json'], { cwd, env })
    expect(ended.code).toBe(53)
    const [run] = lines((await retinue(['runs', '--json'], { cwd, env })).stdout) as { run_id: string }[]
    const shown = await retinue(['show', run?.run_id as string], { cwd, env })
    expect(shown.stdout).toContain('scripted/s.yaml (chosen by project)')
    expect(shown.stdout).toContain('budget: 1 turn,')
  })

  it('from a stranger’s project cannot widen what the person allows', async () => {
    const cwd = project(HELLO, { 'retinue.yaml': 'mode: dangerous\n' })
    expect(await retinue(['x', ...MODEL], { cwd })).toMatchObject({
      code: 52,
      stderr: expect.stringContaining('retinue.yaml:1:'),
    })
    expect((await retinue(['-p', 'x', ...MODEL], { cwd, env: trusting(cwd) })).code).toBe(0)
  })

  it('starts with a file that init writes, which is valid and changes nothing', async () => {
    const cwd = project()
    expect((await retinue(['init'], { cwd })).code).toBe(0)
    expect(readFileSync(join(cwd, 'retinue.yaml'), 'utf8')).toContain('model:')
    expect((await retinue(['-p', 'x', ...MODEL], { cwd })).code).toBe(0)
    expect(await retinue(['init'], { cwd })).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('nothing was changed'),
    })
  })
})

describe('looking at runs', () => {
  it('show gives a condensed timeline, and everything with --full', async () => {
    const cwd = project()
    await retinue(['-p', 'What?', ...MODEL], { cwd })
    const run_id = (await runOf(cwd)) as string
    const { stdout } = await retinue(['show', run_id], { cwd })
    expect(stdout).toContain('tool.called          read_file read a.txt')
    expect(stdout).not.toContain('"call_id"')
    expect((await retinue(['show', run_id, '--full'], { cwd })).stdout).toContain('"call_id": "c1"')
    expect((await retinue(['runs'], { cwd })).stdout).toMatch(new RegExp(`^${run_id}  completed +What\\?`))
  })

  it('makes control characters of files and models visible instead of obeying them', async () => {
    const cwd = project(script('- calls:\n    - read_file: { path: "\\e]0;evil\\a.txt" }\n- text: "\\e[2Jgone"'))
    const { stderr } = await retinue(['x', ...MODEL], { cwd })
    expect(stderr).not.toContain('\u001b]0')
    const run_id = (await runOf(cwd)) as string
    expect((await retinue(['show', run_id], { cwd })).stdout).not.toContain('\u001b')
  })

  it('doctor says what is there and what is missing', async () => {
    const { code, stdout } = await retinue(['doctor'], { cwd: project() })
    expect(code).toBe(1)
    expect(stdout).toMatch(/git +\d/)
    expect(stdout).toContain('ANTHROPIC_API_KEY')
    const ready = await retinue(['doctor', '--json'], { cwd: project(), env: { OPENAI_API_KEY: 'sk-secret-value' } })
    expect(ready.code).toBe(0)
    expect(ready.stdout).not.toContain('sk-secret-value')
  })

  it('demo runs offline, without a key, with three sub-agents, and one of them is refused something', async () => {
    const cwd = project()
    const { code, stdout, stderr } = await retinue(['demo'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('the test passes')
    expect(stderr).toMatch(/a2 .*README\.md.* refused: Not allowed/)
    expect(stderr).toContain('a3 check passed: node --test')
    const folder = /cd (\S+)/.exec(stdout)?.[1] as string
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const files = tree(folder)
    expect(files['src/cart.js']).toContain('let i = 0')
    expect(files['docs/cart.md']).toContain('total(items)')
    expect(files['README.md']).not.toContain('docs/cart.md')

    // What it says to look at is there.
    const commands = [...stdout.matchAll(/^ {2}retinue (.*?) {2,}/gm)].map(([, words]) => (words as string).split(' '))
    expect(commands.map(([name]) => name)).toEqual(['show', 'show', 'replay', 'diff'])
    const [whole, one, replayed, diff] = await Promise.all(
      commands.map((words) => retinue([...words, '--cwd', folder], { cwd })),
    )
    expect(whole?.stdout).toMatch(/^ {2}a2 Document .* completed {2}3 calls, 1 refused/m)
    expect(whole?.stdout).toContain('agent a1: scripted/.retinue/demo.yaml (inherited from its parent), plan mode')
    expect(one?.stdout).toMatch(/^may write {3}\*\*, and of that docs\/\*\*$/m)
    expect(one?.stdout).toMatch(/^ {12}tool calls: 3 of 15$/m)
    expect(one?.stdout).toMatch(/\nReport\ndocs\/cart\.md says .*\nread: src\/cart\.js\nchanged: docs\/cart\.md\n$/)
    expect(replayed?.stdout).toMatch(/^\d+ events of 4 agents, 12 requests rebuilt, every one as it was sent\.\n$/)
    expect(diff?.stdout).toContain('+  for (let i = 0;')
    expect(stderr).toContain('2 files brought into the folder, uncommitted: docs/cart.md (added), src/cart.js')
  }, 60_000)
})

describe('limits on delegation', () => {
  const TWO = `agents:
  root:
    - calls:
        - spawn: { task: One }
        - spawn: { task: Two }
    - branches:
        - when: { contains: "not delegate" }
          steps: [{ text: None. }]
        - when: { matches: "budget of 1 sub-agents? is used up" }
          steps: [{ text: Only one. }, { text: Only one. }]
        - steps: [{ text: Both. }, { text: Both. }]
  "a*":
    - text: Done.
`

  it.each([
    ['none given', [], 'Both.'],
    ['--max-agents', ['--max-agents', '1'], 'Only one.'],
    ['--no-delegation', ['--no-delegation'], 'None.'],
    ['--max-depth 0', ['--max-depth', '0'], 'None.'],
  ])('%s', async (_, flags, answer) => {
    const { code, stdout } = await retinue(['-p', 'x', ...flags, ...MODEL], { cwd: project(TWO) })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` })
  })

  it.each([
    ['one after the other with --max-concurrent 1', ['--max-concurrent', '1'], true],
    ['side by side without', [], false],
  ])('sub-agents work %s', async (_, flags, apart) => {
    const cwd = project(TWO.replace('- text: Done.', '- text: Done.\n      delay_ms: 500'))
    const { stdout } = await retinue(['x', '--output-format', 'stream-json', ...flags, ...MODEL], { cwd })
    const events = lines(stdout) as StoredEvent[]
    const at = (agent: string, type: string) => events.findIndex((e) => e.agent_id === agent && e.type === type)
    expect(at('a2', 'model.requested') > at('a1', 'model.responded')).toBe(apart)
  })

  it.each([
    ['--max-agents', '-1', 'a whole number, 0 or more'],
    ['--max-agents', '1.5', 'a whole number, 0 or more'],
    ['--max-depth', '9', 'a whole number from 0 to 8'],
    ['--max-depth', '', 'a whole number from 0 to 8'],
    ['--max-concurrent', '0', 'a whole number from 1 to 1000'],
    ['--max-concurrent', '1001', 'a whole number from 1 to 1000'],
  ])('%s %j is refused', async (flag, value, said) => {
    const cwd = project()
    const { code, stderr } = await retinue(['-p', 'x', `${flag}=${value}`, ...MODEL], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining(`It must be ${said}.`)])
    expect(existsSync(join(cwd, '.retinue'))).toBe(false)
  })

  it('may be none at all', async () => {
    const cwd = project()
    await retinue(['-p', 'x', '--max-agents', '0', '--max-depth', '8', '--max-concurrent', '1000', ...MODEL], { cwd })
    const run_id = (await runOf(cwd)) as string
    const card = (await retinue(['show', run_id, 'root'], { cwd })).stdout
    expect(card).toMatch(/^ {12}sub-agents: 0 of 0$/m)
  })

  it('are in the contract of the run', async () => {
    const cwd = project()
    await retinue(['-p', 'x', '--max-agents', '7', '--max-depth', '1', '--max-concurrent', '3', ...MODEL], { cwd })
    const run_id = (await runOf(cwd)) as string
    const card = (await retinue(['show', run_id, 'root'], { cwd })).stdout
    expect(card).toMatch(/^delegation {2}1 deep$/m)
    expect(card).toMatch(/^ {12}sub-agents: 0 of 7$/m)
  })

  it('are not for a run that has its contract', async () => {
    const cwd = project(script('- fail: { code: network, retry_after_ms: 30000 }\n- text: Late.'))
    const child = start(['x', '--output-format', 'stream-json', ...MODEL], { cwd })
    child.stdin.end()
    const end = ended(child)
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => chunk.includes('"model.failed"') && resolve())
    })
    child.kill('SIGTERM')
    expect((await end).code).toBe(143)
    const flags = ['--max-agents', '3', '--max-depth', '1', '--no-delegation']
    expect(await retinue(['-c', ...flags], { cwd })).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('leave out --max-agents, --max-depth, --no-delegation, or give a task'),
    })
  })
})

describe('a run in another process', () => {
  /** Of a length that no other process naps for: in a sandbox, a process does not know its own number outside. */
  let naps = 0
  const nap = () => `1000.${process.pid}${naps++}`
  const slow = (length: string) =>
    script(`- calls:\n    - run_command: { command: "sleep ${length} & sleep ${length}" }\n- text: Done.`)

  /** Starts a run whose command sleeps, and resolves when the command is under way. */
  async function sleeping() {
    const length = nap()
    const cwd = project(slow(length))
    const child = start(['x', '--mode', 'dangerous', '--output-format', 'stream-json', ...MODEL], { cwd })
    child.stdin.end()
    const end = ended(child)
    const run_id = await new Promise<string>((resolve, reject) => {
      let seen = ''
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString()
        if (!seen.includes('"tool.called"')) return
        resolve((JSON.parse(seen.split('\n', 1)[0] as string) as StoredEvent).run_id)
      })
      void end.then(({ stderr }) => reject(new Error(stderr)))
    })
    const left = () => running('sleep', length).length
    await expect.poll(left, { timeout: 100_000 }).toBe(2)
    return { cwd, child, end, run_id, left }
  }

  it('can be watched and cancelled, and leaves no process behind', async () => {
    const { cwd, end, run_id, left } = await sleeping()
    const watching = retinue(['watch', run_id], { cwd })
    expect((await retinue(['runs'], { cwd })).stdout).toContain('running')
    const cancelled = await retinue(['cancel', run_id, '--reason', 'enough'], { cwd })
    expect(cancelled).toMatchObject({ code: 0, stdout: `Run ${run_id} is closed: cancelled\n` })
    expect((await end).code).toBe(130)
    expect(await watching).toMatchObject({ code: 130, stdout: expect.stringContaining('enough') })
    expect(left()).toBe(0)
  })

  it('has a sub-agent cancelled, with its process, and goes on without it', async () => {
    const length = nap()
    const cwd = project(`agents:
  root:
    - calls:
        - spawn: { task: Sleep }
        - spawn: { task: Wake }
    - calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: ["[a1: ERROR]", "too slow", "[a2: OK]"] }
      text: Without a1.
  a1:
    - calls:
        - run_command: { command: "sleep ${length}" }
  a2:
    - text: Awake.
`)
    const going = retinue(['-p', 'x', '--mode', 'dangerous', ...MODEL], { cwd })
    const left = () => running('sleep', length).length
    await expect.poll(left, { timeout: 100_000 }).toBe(1)
    const id = (await runOf(cwd)) as string
    expect(await retinue(['cancel', id, 'a3'], { cwd })).toMatchObject({
      code: 42,
      stderr: `retinue: Run ${id} has no agent "a3". It has: root, a1, a2\n`,
    })
    const cancelled = await retinue(['cancel', id, 'a1', '--reason', 'too slow', '--json'], { cwd })
    expect(lines(cancelled.stdout)).toMatchObject([
      { type: 'result', run_id: id, agent_id: 'a1', outcome: 'cancelled' },
    ])
    expect(left()).toBe(0)
    expect(await going).toMatchObject({ code: 0, stdout: 'Without a1.\n' })
    expect((await retinue(['cancel', id, 'a1'], { cwd })).stdout).toBe(
      `Agent a1 of run ${id} was closed already: cancelled\n`,
    )
  }, 60_000)

  it('is cancelled by one Ctrl-C and closed', async () => {
    const { cwd, child, end, run_id, left } = await sleeping()
    child.kill('SIGINT')
    expect((await end).code).toBe(130)
    expect(left()).toBe(0)
    expect((await retinue(['show', run_id], { cwd })).stdout).toContain('run closed, cancelled')
  })

  it('is left by SIGTERM as it is, to be resumed', async () => {
    const { cwd, child, end, run_id, left } = await sleeping()
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 143, stderr: expect.stringContaining(`retinue resume ${run_id}`) })
    expect(left()).toBe(0)
    expect((await retinue(['runs'], { cwd })).stdout).toContain('interrupted')
    expect(await retinue(['resume', run_id, '-p'], { cwd })).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect((await retinue(['show', run_id, '--full'], { cwd })).stdout).toContain('whether it took effect is not known')
  })

  it('that was killed shows as interrupted at once, its command is gone, and cancel closes it', async () => {
    const { cwd, child, end, run_id, left } = await sleeping()
    child.kill('SIGKILL')
    expect((await end).signal).toBe('SIGKILL')
    await expect.poll(left, { timeout: 100_000 }).toBe(0)
    expect((await retinue(['runs'], { cwd })).stdout).toContain('interrupted')
    expect(await retinue(['watch', run_id], { cwd })).toMatchObject({ code: 1 })
    expect(await retinue(['cancel', run_id], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('cancelled'),
    })
    expect((await retinue(['show', run_id], { cwd })).stdout).toContain('tool.finished')
  })

  it('that was killed shows its agents as interrupted, with the time until then', async () => {
    const cwd = project(`agents:
  root:
    - calls: [{ spawn_agent: { task: Wait } }]
  a1:
    - { delay_ms: 600000, text: Late. }
`)
    const child = start(['x', '--output-format', 'stream-json', ...MODEL], { cwd })
    child.stdin.end()
    const end = ended(child)
    let seen = ''
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk
        if (/"a1".*"model\.requested"|"model\.requested".*"a1"/.test(seen)) resolve()
      })
    })
    child.kill('SIGKILL')
    await end
    const { run_id } = JSON.parse(seen.split('\n', 1)[0] ?? '') as { run_id: string }
    const treeOf = async () => {
      const { stdout } = await retinue(['show', run_id], { cwd })
      return stdout.split('\n').filter((line) => /^ *(root|a1) .* tokens, /.test(line))
    }
    const tree = await treeOf()
    expect(tree).toEqual([
      expect.stringMatching(/^root x +interrupted /),
      expect.stringMatching(/^ {2}a1 Wait +interrupted /),
    ])
    // Its clock has stopped.
    expect(await treeOf()).toEqual(tree)
    expect((await retinue(['show', run_id, 'a1'], { cwd })).stdout).toMatch(/^interrupted · run /m)
    expect(await retinue(['show', run_id, 'a1', '--report'], { cwd })).toMatchObject({
      ...{ code: 1, stdout: '', stderr: 'retinue: there is no report of a1: it has not ended\n' },
    })
    const resumed = start(['resume', run_id], { cwd })
    resumed.stdin.end()
    const stopped = ended(resumed)
    await new Promise<void>((resolve) => {
      resumed.stderr.on('data', (chunk: Buffer) => chunk.includes('a1 ! resumed') && resolve())
    })
    resumed.kill('SIGINT')
    expect((await stopped).stderr).toMatch(
      new RegExp(`^! resumed by process ${resumed.pid} on \\S+; 1 call cut short$`, 'm'),
    )
  }, 60_000)

  it('is respected by resume while it is alive', async () => {
    const { cwd, child, end, run_id } = await sleeping()
    expect(await retinue(['resume', run_id], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is being worked on by'),
    })
    child.kill('SIGINT')
    await end
  })
})
