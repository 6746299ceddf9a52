import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRetinue } from '../../src/index.js'
import { toldTo } from '../seeds/family.js'
import { makeProject } from '../support/project.js'

type Call = Record<string, object>

/**
 * What a sub-agent of a project's agent file is told about its one call, where the person has everything done unasked.
 * `said` is null where there is no such sub-agent. `own`: lines of the person's own configuration.
 */
async function tried(header: string, call: Call, own = '') {
  const agents = {
    root: [{ calls: [{ spawn_agent: { task: 'x', profile: 'victim' } }] }, { text: 'Done.' }],
    a1: [{ calls: [call] }, { text: 'Done.' }],
  }
  const cwd = makeProject(
    {
      'script.yaml': JSON.stringify({ agents }),
      '.claude/agents/victim.md': `---\ndescription: d\n${header}\n---\nBody.\n`,
      '.env': 'SECRET=1\n',
    },
    { git: true },
  )
  const config = `model: scripted/script.yaml\nmode: dangerous\n${own}`
  const home = makeProject({ '.config/retinue/config.yaml': config })
  const retinue = await openRetinue({ cwd, env: { HOME: home, PATH: process.env.PATH } })
  onTestFinished(() => retinue.close())
  const { run_id } = await retinue.run({ task: 'Try it' }).result()
  const spawned = (await retinue.agents(run_id)).some(({ agent_id }) => agent_id === 'a1')
  const said = spawned ? ((await toldTo(retinue, run_id, 'a1')).at(-1)?.content ?? '') : null
  const { profiles } = await retinue.control().agents()
  return { cwd, said, fault: profiles.find(({ name }) => name === 'victim')?.fault }
}

const WRITE = { write_file: { path: 'new.txt', content: 'x' } }

describe('what an agent file refuses elsewhere is not done here', () => {
  it.each<[string, Call]>([
    ['disallowedTools: Edit', WRITE],
    ['disallowedTools: MultiEdit', WRITE],
    ['disallowedTools: WebFetch(domain:evil.invalid)', { web_fetch: { url: 'https://evil.invalid:8443/' } }],
    ['disallowedTools: WebFetch(domain:Evil.invalid)', { web_fetch: { url: 'https://evil.invalid/x' } }],
    ['permission: {webfetch: {"https://Evil.invalid/*": deny}}', { web_fetch: { url: 'https://evil.invalid/x' } }],
  ])('%s', async (header, call) => {
    const free = await tried('color: red', call)
    expect(free.said).not.toMatch(/^Not allowed/)
    const held = await tried(header, call)
    expect(held.said).toMatch(/^Not allowed/)
    expect(existsSync(join(held.cwd, 'new.txt'))).toBe(false)
  })

  it.each<[string, Call]>([
    ['disallowedTools: ["Bash(git push*--force*)"]', { run_command: { command: 'git push --force' } }],
    ['disallowedTools: ["Bash(*--no-verify*)"]', { run_command: { command: 'git commit --no-verify' } }],
    ['permission: {bash: {"*/etc/*": deny}}', { run_command: { command: 'cat /etc/passwd' } }],
    ['disallowedTools: ["Read([.]env)"]', { read_file: { path: '.env' } }],
    ['excluded_paths: [.env]', { read_file: { path: '.env' } }],
    ['bash: false', { run_command: { command: 'true' } }],
    ['hooks: {pre_tool_use: [{command: ./check.sh}]}', WRITE],
  ])('or the agent is not spawned, where it cannot be held: %s', async (header, call) => {
    const { said, fault } = await tried(header, call)
    expect([said, fault]).toEqual([null, expect.stringMatching(/^\.claude\/agents\/victim\.md:3: /)])
  })

  it('nor is a share of a window filled, where the person has fixed how many tokens', async () => {
    const own = 'delegation: { budget: { context_tokens: 8000 } }\n'
    expect((await tried('context_share: 40', WRITE)).said).not.toBeNull()
    const { said, fault } = await tried('context_share: 40', WRITE, own)
    expect([said, fault]).toEqual([null, expect.stringContaining('where your file has 8000 context_tokens')])
  })

  it('nor is one sub-agent had by two keys that name different ones', async () => {
    const call = { spawn_agent: { task: 'x', profile: 'reviewer' } }
    const free = await tried('tools: Read, Agent(reviewer)', call)
    expect(free.said).not.toMatch(/^Not allowed/)
    const held = await tried('may_spawn: []\ntools: Read, Agent(reviewer)', call)
    expect(held.said).toMatch(/^Not allowed/)
  })
})
