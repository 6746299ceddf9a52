import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listServers, type NamedServer, trustServer, untrustServer } from '../../src/control/index.js'
import { createHost } from '../../src/host/index.js'
import { type McpServerSettings, mcpServerSettingsSchema } from '../../src/tools/index.js'
import { makeProject } from '../support/project.js'

type Server = NamedServer<McpServerSettings>

/** As a person writes it. */
const KEY = ['$', '{KEY}'].join('')

/** A project with a `.mcp.json`, and the person's own folder beside it. */
function project(mcp: unknown, configured: Server[] = []) {
  const top = makeProject({
    'home/.keep': '',
    ...(mcp === undefined
      ? {}
      : { 'project/.mcp.json': typeof mcp === 'string' ? mcp : JSON.stringify({ mcpServers: mcp }) }),
    'project/.keep': '',
  })
  const host = createHost()
  const place = {
    project_dir: join(top, 'project'),
    config_home: join(top, 'home'),
    read: host.readText,
    writePrivate: host.writePrivate,
  }
  const list = (project_dir = place.project_dir) =>
    listServers({ ...place, project_dir, configured, schema: mcpServerSettingsSchema })
  const rewrite = (servers: object) =>
    writeFile(join(top, 'project/.mcp.json'), JSON.stringify({ mcpServers: servers }))
  const one = async (name: string) => {
    const found = (await list()).servers.find((server) => server.name === name)
    if (!found) throw new Error(`no server ${name}`)
    return found
  }
  return {
    place,
    list,
    one,
    rewrite,
    file: join(top, 'project/.mcp.json'),
    trust_file: join(top, 'home/retinue/trusted-servers.json'),
  }
}

describe('.mcp.json', () => {
  it('is read with the fields that others use too', async () => {
    const { list, file } = project({
      one: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
      two: { type: 'streamable-http', url: 'https://example.org/mcp', headers: { a: 'b' } },
    })
    expect(await list()).toEqual({
      servers: [
        {
          name: 'one',
          settings: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
          from: 'project',
          file,
          trusted: false,
        },
        {
          name: 'two',
          settings: { type: 'http', url: 'https://example.org/mcp', headers: { a: 'b' } },
          from: 'project',
          file,
          trusted: false,
        },
      ],
      problems: [],
      notes: [],
    })
  })

  it('may be missing', async () => {
    expect(await project(undefined).list()).toEqual({ servers: [], problems: [], notes: [] })
  })

  it('says file and key of what is wrong, and keeps the rest', async () => {
    const { list, file } = project({
      good: { command: 'a', autoApprove: ['x'], timeout: 3 },
      numbers: { command: 'a', args: ['b', 3] },
      nothing: {},
      old: { type: 'sse', url: 'http://a' },
      odd: { type: 'carrier-pigeon', command: 'a' },
      list: [],
      'a name': { command: 'a' },
      good__evil: { command: 'a' },
      good_: { command: 'a' },
    })
    const { servers, problems, notes } = await list()
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(notes).toEqual([`${file}: mcpServers.good: not used here: autoApprove, timeout`])
    expect(problems).toEqual([
      `${file}: mcpServers.numbers.args.1: Invalid input: expected string, received number`,
      `${file}: mcpServers.nothing.command: a server needs a command or a url`,
      `${file}: mcpServers.old.type: "sse": servers that speak only the old SSE are not supported`,
      `${file}: mcpServers.odd.type: "carrier-pigeon": use stdio or http`,
      `${file}: mcpServers.list: must be an object`,
      `${file}: mcpServers.a name: a server name has 1 to 40 letters, digits, dashes and underscores`,
      `${file}: mcpServers.good__evil: a server name does not begin or end with an underscore, nor has two in a row`,
      `${file}: mcpServers.good_: a server name does not begin or end with an underscore, nor has two in a row`,
    ])
  })

  it.each(['{', '[]', '{"servers":{}}', 'null', ''])('that holds %j is a problem, not a crash', async (text) => {
    const { list, file } = project(text)
    const { servers, problems } = await list()
    expect(servers).toEqual([])
    expect(problems).toEqual([expect.stringContaining(`${file}: `)])
  })

  it('gives way to the configuration', async () => {
    const mine: Server = { name: 'one', settings: { command: 'mine' }, from: 'user', file: '/c.yaml' }
    const { servers } = await project({ one: { command: 'theirs' }, two: { command: 'b' } }, [mine]).list()
    expect(servers.map(({ name, settings, trusted }) => [name, settings.command, trusted])).toEqual([
      ['one', 'mine', true],
      ['two', 'b', false],
    ])
  })
})

describe('trust', () => {
  it('is for exactly what was looked at', async () => {
    const written = { command: 'a', args: ['1', '2'], env: { K: KEY } }
    const { place, one, rewrite } = project({ x: written })
    expect((await one('x')).trusted).toBe(false)
    expect(await trustServer(await one('x'), place)).toEqual({ ok: true, changed: true })
    expect((await one('x')).trusted).toBe(true)
    expect(await trustServer(await one('x'), place)).toEqual({ ok: true, changed: false })
    const others = [
      { ...written, command: 'b' },
      { ...written, args: ['1'] },
      { ...written, args: ['12'] },
      { ...written, env: { K: 'other' } },
      { ...written, env: { K: KEY, L: '' } },
      { ...written, cwd: 'sub' },
      { url: 'http://a' },
    ]
    for (const other of others) {
      await rewrite({ x: other })
      expect((await one('x')).trusted).toBe(false)
    }
    await rewrite({ x: { env: { K: KEY }, args: ['1', '2'], command: 'a' } })
    expect((await one('x')).trusted).toBe(true)
    await rewrite({ y: written })
    expect((await one('y')).trusted).toBe(false)
  })

  it('is for addresses with their headers too', async () => {
    const { place, one, rewrite } = project({ x: { url: 'http://a', headers: { k: 'v' } } })
    await trustServer(await one('x'), place)
    expect((await one('x')).trusted).toBe(true)
    await rewrite({ x: { url: 'http://a', headers: { k: 'w' } } })
    expect((await one('x')).trusted).toBe(false)
  })

  it('is for one folder', async () => {
    const { place, one, list } = project({ x: { command: 'a' } })
    await trustServer(await one('x'), place)
    const copy = join(place.project_dir, 'copy')
    await mkdir(copy)
    await writeFile(join(copy, '.mcp.json'), JSON.stringify({ mcpServers: { x: { command: 'a' } } }))
    expect((await list(copy)).servers).toMatchObject([{ name: 'x', trusted: false }])
  })

  it('can be taken back', async () => {
    const { place, one } = project({ x: { command: 'a' } })
    await trustServer(await one('x'), place)
    expect(await untrustServer('x', place)).toEqual({ ok: true, changed: true })
    expect((await one('x')).trusted).toBe(false)
    expect(await untrustServer('x', place)).toEqual({ ok: true, changed: false })
  })

  it("is needed for servers of the project's configuration, and not for the person's own", async () => {
    const servers: Server[] = (['user', 'project'] as const).map((from) => ({
      name: from,
      settings: { command: 'a' },
      from,
      file: '/x.yaml',
    }))
    const { list } = project(undefined, servers)
    expect((await list()).servers.map(({ name, trusted }) => [name, trusted])).toEqual([
      ['project', false],
      ['user', true],
    ])
  })

  it('is kept in a file that only the person can read', async () => {
    const { place, one, trust_file } = project({ x: { command: 'a' } })
    await trustServer(await one('x'), place)
    expect((await stat(trust_file)).mode & 0o777).toBe(0o600)
    await chmod(trust_file, 0o644)
    await untrustServer('x', place)
    expect((await stat(trust_file)).mode & 0o777).toBe(0o600)
  })

  it.each(['{', '[]', '{"version":2,"servers":[]}', '{"version":1,"servers":[{"digest":1}]}'])(
    'in a file that holds %j is nobody, and it is said',
    async (text) => {
      const { place, one, list, trust_file } = project({ x: { command: 'a' } })
      const server = await one('x')
      await trustServer(server, place)
      await writeFile(trust_file, text)
      const { servers, problems } = await list()
      expect(servers).toMatchObject([{ trusted: false }])
      expect(problems).toEqual([expect.stringMatching(/trusted-servers\.json is damaged, so no server of a project/)])
      expect(await trustServer(server, place)).toMatchObject({ ok: false })
      expect(await readFile(trust_file, 'utf8')).toBe(text)
    },
  )

  it('that cannot be written is said', async () => {
    const { place, one } = project({ x: { command: 'a' } })
    await writeFile(join(place.config_home, 'retinue'), 'a file where a folder should be')
    expect(await trustServer(await one('x'), place)).toMatchObject({ ok: false })
  })
})
