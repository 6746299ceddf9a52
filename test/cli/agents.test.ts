import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/store/index.js'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'

const CONFIG = `model: scripted/s.yaml
profiles:
  writer:
    description: Writes docs.
    system_prompt: "You write docs."
principals:
  vera: viewer
  otto: operator
`
const SCRIPT = 'agents:\n  "*":\n    - text: Done.\n'

const project = () => makeProject({ 's.yaml': SCRIPT, '.config/retinue/config.yaml': CONFIG })
/** The configuration of the person: what a project says about principals is not for it to say. */
const at = (cwd: string) => ({ cwd, env: { XDG_CONFIG_HOME: join(cwd, '.config') } })
const agents = (cwd: string, ...args: string[]) => retinue(['agents', ...args], at(cwd))

async function json(cwd: string, ...args: string[]) {
  const { stdout, stderr, code } = await agents(cwd, ...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const WRITER = ['register', '@writer', 'writer', 'Writes docs in plain words.']

describe('retinue agents', () => {
  it('lists the roles, profiles, handles and pins, and says where each comes from', async () => {
    const cwd = project()
    await agents(cwd, ...WRITER, '--tag', 'docs', '--tag', 'words')
    await agents(cwd, 'pin', '@writer', '--workspace')
    const { code, stdout } = await agents(cwd)
    expect(code).toBe(0)
    for (const role of ['researcher', 'planner', 'executor', 'reviewer', 'tester']) expect(stdout).toContain(role)
    expect(stdout).toMatch(/@writer +Writes docs in plain words\. \(profile writer; tags docs, words\)/)
    const view = await json(cwd, 'list')
    expect(view).toMatchObject({
      registry_version: 1,
      agents: [{ agentId: '@writer', profileId: 'writer', tags: ['docs', 'words'], fault: null }],
      pins: [{ scope: 'workspace', profile_id: 'writer', fault: null }],
      in_effect: { scope: 'workspace', profile_id: 'writer' },
    })
    expect((await agents(cwd, 'show', '@writer')).stdout).toContain('You write docs.')
    expect(await json(cwd, 'show', 'writer')).toMatchObject({ profile: { name: 'writer', handles: ['@writer'] } })
  })

  it('registers with what may be forwarded, and takes the handle away again', async () => {
    const cwd = project()
    const forwarded = ['--skills', 'a', '--allowed-skills', 'a,b', '--mcp', '', '--allowed-mcp', 'docs']
    expect(await json(cwd, ...WRITER, ...forwarded)).toEqual({
      version: 1,
      value: {
        version: 1,
        agents: [
          {
            ...{ agentId: '@writer', profileId: 'writer', description: 'Writes docs in plain words.' },
            ...{ defaultForwardSkills: ['a'], allowedForwardSkills: ['a', 'b'] },
            ...{ defaultMcpServers: [], allowedMcpServers: ['docs'] },
          },
        ],
      },
    })
    expect(await agents(cwd, 'unregister', '@writer')).toMatchObject({
      code: 0,
      stdout: '@writer is not registered any more (version 2 of the registry).\n',
    })
    const history = await json(cwd, 'history')
    expect(history.map(({ version }: { version: number }) => version)).toEqual([1, 2])
    expect((await agents(cwd, 'history')).stdout).toMatch(/^ {3}1 .* @writer\n {3}2 .* no agents\n$/)
  })

  it('replaces the registry from a file, if nobody else did meanwhile', async () => {
    const cwd = project()
    await agents(cwd, ...WRITER)
    const { stdout } = await agents(cwd, 'registry')
    const registry = JSON.parse(stdout)
    registry.agents.push({ agentId: '@docs', profileId: 'writer', description: 'The same.' })
    writeFileSync(join(cwd, 'registry.json'), JSON.stringify(registry))
    expect(await agents(cwd, 'registry', '--set', 'registry.json', '--expect', '1')).toMatchObject({
      code: 0,
      stdout: 'The registry has 2 agents now (version 2).\n',
    })
    expect(await agents(cwd, 'registry', '--set', 'registry.json', '--expect', '1')).toMatchObject({ code: 1 })
    writeFileSync(join(cwd, 'registry.json'), '{"version": 1,')
    expect(await agents(cwd, 'registry', '--set', 'registry.json')).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('registry.json: line 1, column 15: this is no JSON'),
    })
    registry.agents[1].profileId = 'wirter'
    const wrong = await retinue(['agents', 'registry', '--set', '-'], { ...at(cwd), input: JSON.stringify(registry) })
    expect(wrong).toMatchObject({ code: 42, stderr: expect.stringContaining('agents[1].profileId') })
    expect(wrong.stderr).toContain('writer')
  })

  it('keeps profiles in the store, which stand before files', async () => {
    const cwd = project()
    writeFileSync(join(cwd, 'p.yaml'), 'description: Another one.\nmode: plan\n')
    expect(await agents(cwd, 'put', 'writer', 'p.yaml')).toMatchObject({
      code: 0,
      stdout: 'The profile writer is in the store (version 1).\n',
    })
    expect(await json(cwd, 'show', 'writer')).toMatchObject({
      profile: { source: { kind: 'store', version: 1 }, profile: { mode: 'plan' }, shadows: [{ kind: 'config' }] },
    })
    expect(await agents(cwd, 'put', 'writer', 'p.yaml', '--expect', '0')).toMatchObject({ code: 1 })
    writeFileSync(join(cwd, 'p.yaml'), 'mode: [\n')
    expect(await agents(cwd, 'put', 'writer', 'p.yaml')).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('p.yaml:'),
    })
    writeFileSync(join(cwd, 'p.yaml'), 'modes: plan\n')
    expect(await agents(cwd, 'put', 'writer', 'p.yaml')).toMatchObject({ code: 42 })
    expect(await agents(cwd, 'put', 'writer', 'gone.yaml')).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('Cannot read gone.yaml'),
    })
    expect((await agents(cwd, 'remove', 'writer')).code).toBe(0)
    expect(await json(cwd, 'show', 'writer')).toMatchObject({ profile: { source: { kind: 'config' } } })
  })

  it('pins where somebody says, and nowhere else', async () => {
    const cwd = project()
    await agents(cwd, ...WRITER)
    expect(await agents(cwd, 'pin', '@writer')).toMatchObject({
      code: 2,
      stderr: 'retinue: Say where it holds: --session <id>, --user, --workspace or --global\n',
    })
    expect(await agents(cwd, 'pin', '@writer', '--user', '--global')).toMatchObject({ code: 2 })
    expect(await agents(cwd, 'pin', '@writer', '--session', 'nowhere')).toMatchObject({ code: 42 })
    expect((await json(cwd, 'list')).pins).toEqual([])
    const { stdout } = await retinue(['-p', 'x', '--output-format', 'json'], at(cwd))
    const { run_id, session_id } = JSON.parse(stdout)
    expect(await agents(cwd, 'pin', 'writer', '--session', run_id)).toMatchObject({
      code: 0,
      stdout: `writer is pinned for the session. Take it back with: retinue agents unpin --session ${run_id}\n`,
    })
    expect((await json(cwd, 'list', '--session', session_id)).in_effect).toMatchObject({
      scope: 'session',
      record_id: `profile-pin:session:${session_id}`,
    })
    expect((await agents(cwd, 'unpin', '--session', session_id)).code).toBe(0)
    expect((await agents(cwd, 'unpin', '--session', session_id)).code).toBe(42)
  })

  it('lets others do what the configuration says, and the control log has all of it', async () => {
    const cwd = project()
    expect(await agents(cwd, ...WRITER, '--as', 'vera')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('operator'),
    })
    expect((await agents(cwd, ...WRITER, '--as', 'otto')).code).toBe(0)
    expect((await agents(cwd, 'pin', '@writer', '--global', '--as', 'vera')).code).toBe(1)
    expect((await agents(cwd, 'pin', '@writer', '--user', '--as', 'vera')).code).toBe(0)
    expect((await agents(cwd, 'list', '--as', 'nobody')).code).toBe(1)
    expect(await agents(cwd, 'pin', 'writer', '--session', 'nope')).toMatchObject({
      ...{ code: 42, stderr: expect.stringContaining('There is no session nope') },
    })
    const { stdout } = await retinue(['audit', '--json'], at(cwd))
    const log = lines(stdout) as { type: string; data: Record<string, string> }[]
    const results = log.filter(({ type }) => type === 'control.command_executed')
    expect(results.map(({ data }) => `${data.principal} ${data.command} ${data.outcome}`)).toEqual([
      'vera agents register denied',
      'otto agents register success',
      'vera agents pin denied',
      'vera agents pin success',
      expect.stringMatching(/ agents pin failure$/),
    ])
    const last = await retinue(['audit', '--last', '2'], at(cwd))
    expect(last.stdout.split('\n')).toHaveLength(3)
    expect(last.stdout).toMatch(/failure .*\(admin\) +agents pin writer --session +There is no session nope/)
  })

  it('shows what was begun and has no result as interrupted', async () => {
    const cwd = project()
    expect((await agents(cwd, ...WRITER)).code).toBe(0)
    const opened = await openSqliteStore({ file: join(cwd, '.retinue', 'retinue.db'), clock: { now: Date.now } })
    if (!opened.ok) throw new Error(opened.message)
    const { store } = opened
    const by = { principal: 'otto', role: 'operator', session_id: null } as const
    const data = { request_id: 'q1', command: 'agents unregister', arguments: '@writer', ...by }
    await store.appendControl([{ type: 'control.command_requested', version: 1, at: Date.now(), data }])
    await store.close()
    const { stdout } = await retinue(['audit', '--last', '2'], at(cwd))
    const [first, second, ...more] = stdout.trimEnd().split('\n')
    expect(first).toMatch(/ success .*agents register @writer/)
    expect(second).toMatch(/ interrupted .*otto \(operator\) +agents unregister @writer +There is no result/)
    expect(more).toEqual([])
    const json = lines((await retinue(['audit', '--json', '--last', '4'], at(cwd))).stdout) as { type: string }[]
    expect(json.map(({ type }) => type.slice(16))).toEqual(['requested', 'executed', 'requested', 'executed'])
  })
})

describe('the agent of a run', () => {
  const task = ['-p', 'Say it', '--output-format', 'json']
  async function profileOf(cwd: string, ...args: string[]) {
    const { stdout, stderr, code } = await retinue([...task, ...args], at(cwd))
    if (code !== 0) throw new Error(stderr)
    const { run_id } = JSON.parse(stdout)
    const events = lines((await retinue(['show', run_id, '--json'], at(cwd))).stdout) as {
      type: string
      data: { contract: { agent: { profile_id: string | null } } }
    }[]
    return events.find(({ type }) => type === 'agent.started')?.data.contract.agent.profile_id
  }

  it('is the one that is named, else the pinned one, and none with --no-agent', async () => {
    const cwd = project()
    expect(await profileOf(cwd)).toBe(null)
    await agents(cwd, ...WRITER)
    expect(await profileOf(cwd, '--agent', '@writer')).toBe('writer')
    await agents(cwd, 'pin', 'planner', '--workspace')
    expect(await profileOf(cwd)).toBe('planner')
    expect(await profileOf(cwd, '--agent', 'writer')).toBe('writer')
    expect(await profileOf(cwd, '--no-agent')).toBe(null)
    expect(await retinue([...task, '--agent', 'wirter'], at(cwd))).toMatchObject({
      code: 42,
      stderr: expect.stringContaining('did you mean writer?'),
    })
  })

  it('that is pinned and gone stops the run, and says how to unpin', async () => {
    const cwd = project()
    writeFileSync(join(cwd, 'p.yaml'), 'description: For now.\n')
    await agents(cwd, 'put', 'passing', 'p.yaml')
    await agents(cwd, 'pin', 'passing', '--user')
    // The record is removed past the control plane, which would refuse: as by another version of it.
    const { openSqliteStore } = await import('../../src/store/index.js')
    const opened = await openSqliteStore({ file: join(cwd, '.retinue/retinue.db'), clock: { now: Date.now } as never })
    if (!opened.ok) throw new Error(opened.message)
    await opened.store.deleteRecord({ type: 'profile', id: 'passing', by: 'test', expected_version: 1 })
    await opened.store.close()
    const { code, stderr } = await retinue(task, at(cwd))
    expect(code).not.toBe(0)
    expect(stderr).toContain('passing')
    expect(stderr).toContain('retinue agents unpin --user')
    expect((await agents(cwd, 'unpin', '--user')).code).toBe(0)
    expect((await retinue(task, at(cwd))).code).toBe(0)
  })
})
