import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRetinue, openServers } from '../../src/index.js'
import { retinue } from '../support/cli.js'
import { type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'
import { BAD_SERVER, officialServer } from '../tools/mcp/connect.js'
import { EVERYTHING } from '../tools/mcp/everything.js'

/** Runs an agent whose model makes these calls, one after the other, and gives what came out of each. */
async function runCalls(
  calls: { name: string; args: Record<string, unknown> }[],
  files: Record<string, string>,
  config: string,
  mode: 'dangerous' | 'normal' = 'dangerous',
) {
  const steps: LoopbackStep[] = [...calls.map((call) => ({ calls: [call] })), { text: 'done' }]
  const server = await startLoopback({ protocol: 'chat', steps })
  onTestFinished(() => server.close())
  const providers = `providers: {it: {type: openai, api: chat, base_url: '${server.url}', api_key_env: KEY}}\n`
  const cwd = makeProject(files)
  const home = makeProject({ 'retinue/config.yaml': `${providers}${config}` })
  const env = { HOME: home, XDG_CONFIG_HOME: home, PATH: process.env.PATH, KEY: 'k' }
  const opened = await openRetinue({ cwd, env })
  onTestFinished(() => opened.close())
  const run = opened.run({ task: 'call them', model: 'it/some-model', mode })
  const ends: { tool: string; type: string; content: string }[] = []
  const first: unknown[] = []
  for await (const { type, data } of run) {
    if (type === 'run.created') first.push(data)
    if (type === 'tool.finished' || type === 'tool.refused') ends.push({ tool: data.tool, type, content: data.content })
  }
  const result = await run.result()
  return { ends, result, first: first[0], offered: server.requests, cwd, env }
}

const everything = `mcp_servers:
  everything: {command: ${process.execPath}, args: [${officialServer('everything')}, stdio]}
`

describe('an agent with MCP servers', () => {
  it('calls every tool of server-everything', { timeout: 60_000 }, async () => {
    const calls = EVERYTHING.map(({ tool, args }) => ({ name: `mcp__everything__${tool}`, args }))
    const { ends, result, first } = await runCalls(calls, {}, everything)
    expect(first).toMatchObject({ mcp_servers: [{ name: 'everything', state: 'ready', tools: EVERYTHING.length }] })
    expect(ends.map(({ tool, type }) => [tool, type])).toEqual(calls.map(({ name }) => [name, 'tool.finished']))
    for (const [i, { answer }] of EVERYTHING.entries()) expect(ends[i]?.content).toMatch(answer)
    expect(result).toMatchObject({ outcome: 'completed', text: 'done' })
  })

  it('is asked about each call, and denied where nobody can be asked', async () => {
    const calls = [{ name: 'mcp__everything__echo', args: { message: 'a' } }]
    const { ends } = await runCalls(calls, {}, everything, 'normal')
    expect(ends).toMatchObject([{ type: 'tool.refused', content: expect.stringContaining('nobody to ask') }])
  })

  it("does not get servers of a project's file before a person trusted them", async () => {
    const calls = [{ name: 'mcp__bad__ok', args: {} }]
    const mcp = JSON.stringify({ mcpServers: { bad: { command: process.execPath, args: [BAD_SERVER, 'plain'] } } })
    const { ends, first, cwd, env } = await runCalls(calls, { '.mcp.json': mcp }, '')
    expect(first).toMatchObject({ mcp_servers: [{ name: 'bad', state: 'untrusted', tools: 0 }] })
    expect(ends).toMatchObject([{ type: 'tool.refused', content: expect.stringContaining('There is no tool') }])

    const servers = await openServers({ cwd, env })
    expect(await servers.trust('bad')).toBe(true)
    const again = await openServers({ cwd, env })
    expect(again.servers).toMatchObject([{ name: 'bad', trusted: true }])
  })

  it('is told when a server ends, and goes on', async () => {
    const names = ['crash', 'ok', 'crash', 'ok'].map((tool) => ({ name: `mcp__bad__${tool}`, args: {} }))
    const bad = `mcp_servers: {bad: {command: ${process.execPath}, args: [${BAD_SERVER}, plain]}}\n`
    const { ends, result } = await runCalls(names, {}, bad)
    expect(ends.map(({ content }) => content)).toEqual([
      expect.stringContaining('ended during the call; whether it took effect is not known'),
      'fine',
      expect.stringContaining('ended during the call'),
      expect.stringContaining('has ended again and is not started any more'),
    ])
    expect(result.outcome).toBe('completed')
  })
})

describe('retinue mcp', () => {
  const mcp = (args: string[]) =>
    JSON.stringify({ mcpServers: { bad: { command: process.execPath, args: [BAD_SERVER, ...args], env: { A: 'b' } } } })

  it('lists, trusts, starts and forgets', { timeout: 60_000 }, async () => {
    const cwd = makeProject({ '.mcp.json': mcp(['plain']) })
    const env = { XDG_CONFIG_HOME: join(cwd, 'config') }
    const run = (...args: string[]) => retinue(['mcp', ...args], { cwd, env })

    const listed = await run('list')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(listed.stdout).toContain(`A=b ${process.execPath} ${BAD_SERVER} plain`)
    expect(listed.stdout).toMatch(/^bad +untrusted +project /)
    expect(await run('tools')).toMatchObject({ code: 1, stdout: expect.stringContaining('retinue mcp trust bad') })

    expect(await run('trust', 'bad')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('may start from now on'),
    })
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({
      servers: [{ name: 'bad', state: 'trusted', from: 'project', file: join(cwd, '.mcp.json') }],
    })
    const tools = await run('tools', 'bad')
    expect(tools.code).toBe(0)
    expect(tools.stdout).toContain('bad 1.2.3: ready, 16 tools\n')
    expect(tools.stdout).toContain('\n  mcp__bad__ok\n')
    const json = JSON.parse((await run('tools', '--json')).stdout)
    expect(json.tools).toContainEqual({
      name: 'mcp__bad__ok',
      server: 'bad',
      effect: 'external',
      parameters: { type: 'object', properties: {} },
    })

    await writeFile(join(cwd, '.mcp.json'), mcp(['plain', 'more']))
    expect((await run('list')).stdout).toMatch(/^bad +untrusted /)
    await writeFile(join(cwd, '.mcp.json'), mcp(['plain']))
    expect((await run('list')).stdout).toMatch(/^bad +trusted /)
    expect(await run('untrust', 'bad')).toMatchObject({ code: 0 })
    expect((await run('list')).stdout).toMatch(/^bad +untrusted /)
    expect(await readFile(join(cwd, 'config/retinue/trusted-servers.json'), 'utf8')).not.toContain('bad')
  })

  it('says what is wrong', async () => {
    const cwd = makeProject({ '.mcp.json': '{"mcpServers":{"x":{"command":3}}}' })
    const broken = await retinue(['mcp', 'list'], { cwd })
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('.mcp.json: mcpServers.x.command: ') })
    const unknown = await retinue(['mcp', 'trust', 'y'], { cwd })
    expect(unknown).toMatchObject({ code: 42, stderr: 'retinue: There is no server "y" here. There are none.\n' })
    const empty = await retinue(['mcp', 'list'], { cwd: makeProject({}) })
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining('No MCP servers here.') })
  })
})
