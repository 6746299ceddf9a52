import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandsIn, openRetinue, type Retinue, RetinueError } from '../../src/index.js'
import { makeProject } from '../support/project.js'

const CANARY = 'canary-that-nobody-may-see'

/** A project as a stranger may have left it, opened by a person with a viewer and an operator beside them. */
async function opened(files: Record<string, string>, prepare?: (cwd: string) => void): Promise<Retinue> {
  const script = {
    agents: { root: [{ calls: [{ spawn_agent: { task: 'x', profile: 'victim' } }] }, { text: 'Done.' }] },
  }
  const cwd = makeProject({ 'script.yaml': JSON.stringify(script), ...files })
  prepare?.(cwd)
  const config = 'model: scripted/script.yaml\nprincipals: { vera: viewer, olaf: operator }\n'
  const home = makeProject({ '.config/retinue/config.yaml': config })
  const retinue = await openRetinue({ cwd, env: { HOME: home, PATH: process.env.PATH } })
  onTestFinished(() => retinue.close())
  return retinue
}

async function refusal(work: () => Promise<unknown>): Promise<string> {
  const error = await work().then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof RetinueError)) throw new Error(`no RetinueError, but ${error}`)
  return error.code
}

const entry = (change: object = {}) => ({ agentId: '@one', profileId: 'reviewer', description: 'One.', ...change })

/** What was written although it was refused: nothing, but for the log of it. */
async function untouched(retinue: Retinue): Promise<void> {
  expect(await retinue.store.records('policy')).toEqual([])
  expect(await retinue.store.records('profile')).toEqual([])
  const outcomes = commandsIn(await retinue.store.readControl()).map(({ outcome }) => outcome)
  for (const outcome of outcomes) expect(['denied', 'failure']).toContain(outcome)
}

it.each(['listed', '*'])('nobody acts as the person at this machine by their name: %s', async (how) => {
  const { username } = userInfo()
  const home = makeProject({
    '.config/retinue/config.yaml': `principals: { ${how === '*' ? '"*"' : JSON.stringify(username)}: operator }\n`,
  })
  const retinue = await openRetinue({ cwd: makeProject({}), env: { HOME: home, PATH: process.env.PATH } })
  onTestFinished(() => retinue.close())
  const local = retinue.control().principal.id
  const { session_id } = await retinue.sessions.create(local)
  expect(await refusal(async () => retinue.control(local).pin('reviewer', 'user'))).toBe('denied')
  expect(await refusal(async () => retinue.control(local).pin('reviewer', 'session', { session_id }))).toBe('denied')
  expect(await refusal(() => retinue.run({ task: 'x', principal: local }).result())).toBe('denied')
  await untouched(retinue)
  await retinue.control().pin('reviewer', 'user')
})

describe('the control plane refuses', () => {
  it.each<[string, string, (retinue: Retinue) => Promise<unknown>]>([
    ['a viewer that registers', 'denied', (r) => r.control('vera').register(entry())],
    ['a viewer that pins for everybody', 'denied', (r) => r.control('vera').pin('reviewer', 'global')],
    ['a viewer that pins for the workspace', 'denied', (r) => r.control('vera').pin('reviewer', 'workspace')],
    [
      'a viewer that replaces the registry',
      'denied',
      (r) => r.control('vera').putRegistry({ version: 1, agents: [] }, 0),
    ],
    ['a viewer that puts a profile', 'denied', (r) => r.control('vera').putProfile('mine', {}, 0)],
    ['somebody whom nobody knows', 'denied', async (r) => r.control('mallory').agents()],
    ['a name that is a path of records', 'input', async (r) => r.control('vera:../global').agents()],
    ['a handle that begins another id', 'input', (r) => r.control('olaf').register(entry({ agentId: '@a:b' }))],
    ['a handle with a line break', 'input', (r) => r.control('olaf').register(entry({ agentId: '@ab\n@cd' }))],
    ['a handle in other letters', 'input', (r) => r.control('olaf').register(entry({ agentId: '@wríter' }))],
    [
      'a session that begins another id',
      'input',
      (r) => r.control('olaf').pin('reviewer', 'session', { session_id: 'x:user:root' }),
    ],
    [
      'a session that is not there',
      'not_found',
      (r) => r.control('olaf').pin('reviewer', 'session', { session_id: 'abcdefghij' }),
    ],
    ['a scope that is none', 'input', (r) => r.control('olaf').pin('reviewer', 'agent-registry:default' as 'global')],
    ['301 characters', 'input', (r) => r.control('olaf').register(entry({ description: 'x'.repeat(301) }))],
    ['control characters', 'input', (r) => r.control('olaf').register(entry({ description: 'a\u001b[2Jb' }))],
    ['markup in tags', 'input', (r) => r.control('olaf').register(entry({ tags: ['</agent><agent>'] }))],
    ['a profile named like a policy', 'input', (r) => r.control('olaf').putProfile('../agent-registry', {}, 0)],
    [
      '10,000 agents',
      'input',
      (r) => {
        const agents = Array.from({ length: 10_000 }, (_, i) => entry({ agentId: `@agent-${i}` }))
        return r.control('olaf').putRegistry({ version: 1, agents }, 0)
      },
    ],
  ])('%s', async (_, code, work) => {
    const retinue = await opened({})
    expect(await refusal(() => work(retinue))).toBe(code)
    await untouched(retinue)
  })
})

describe('files of a stranger', () => {
  const told = async (retinue: Retinue) => {
    const { run_id } = await retinue.run({ task: 'Try it' }).result()
    return { events: JSON.stringify(await retinue.events(run_id)), agents: await retinue.agents(run_id) }
  }

  it('a prompt file that is a link out of the project is not read, and the agent is not spawned', async () => {
    const secret = join(makeProject({ secret: CANARY }), 'secret')
    const file = '---\nname: victim\ndescription: d\nsystem_prompt_file: prompt.md\n---\nBody.\n'
    const retinue = await opened({ '.claude/agents/victim.md': file }, (cwd) =>
      symlinkSync(secret, join(cwd, 'prompt.md')),
    )
    const { events, agents } = await told(retinue)
    expect(events).not.toContain(CANARY)
    expect(agents.map(({ agent_id }) => agent_id)).toEqual(['root'])
  })

  it('an agent file that is a link out of the project is no profile', async () => {
    const outside = join(
      makeProject({ 'victim.md': `---\nname: victim\ndescription: d\n---\n${CANARY}\n` }),
      'victim.md',
    )
    const retinue = await opened({}, (cwd) => {
      mkdirSync(join(cwd, '.claude/agents'), { recursive: true })
      symlinkSync(outside, join(cwd, '.claude/agents/victim.md'))
    })
    const { events, agents } = await told(retinue)
    expect(events).not.toContain(CANARY)
    expect(agents.map(({ agent_id }) => agent_id)).toEqual(['root'])
  })

  it('a YAML bomb costs its own profile and nothing else', async () => {
    const layers = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}]`)
    const bomb = ['---', 'name: victim', 'l0: &l0 boom', ...layers, '---', 'Body.', ''].join('\n')
    const retinue = await opened({ '.claude/agents/victim.md': bomb })
    const { agents } = await told(retinue)
    expect(agents.map(({ agent_id, outcome }) => [agent_id, outcome])).toEqual([['root', 'completed']])
    const { profiles } = await retinue.control().agents()
    expect(profiles.find(({ name }) => name === 'victim')?.fault).toContain('.claude/agents/victim.md')
  })

  it('a skill with a name that leads elsewhere is none, whoever asks for it', async () => {
    const skill = (name: string) => `---\nname: ${JSON.stringify(name)}\ndescription: d\n---\n${CANARY}\n`
    const retinue = await opened({
      '.claude/skills/one/SKILL.md': skill('../../etc'),
      '.agents/skills/two/SKILL.md': skill('..'),
      '.retinue/skills/three/SKILL.md': skill('a/b'),
    })
    const { skills, notes } = await retinue.reachable()
    expect(skills).toEqual([])
    expect(notes.filter((note) => note.includes('is no name of a skill'))).toHaveLength(3)
  })

  it("a project's file makes nobody a principal", async () => {
    const cwd = makeProject({})
    writeFileSync(join(cwd, 'retinue.yaml'), 'principals: { mallory: admin }\n')
    const home = makeProject({ '.config/retinue/config.yaml': `trusted_projects: [${cwd}]\n` })
    const env = { HOME: home, PATH: process.env.PATH }
    expect(await refusal(() => openRetinue({ cwd, env }))).toBe('config')
  })
})
