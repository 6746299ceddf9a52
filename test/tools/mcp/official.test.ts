import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, node, officialServer, stateOf } from './connect.js'
import { EVERYTHING } from './everything.js'
import { startEverythingHttp } from './everything-http.js'

const NAMES = EVERYTHING.map(({ tool }) => `mcp__everything__${tool}`)

describe('server-everything', () => {
  it('has every tool called over stdio, side by side, through one process', async () => {
    const { connections, call } = await connect({ everything: node(officialServer('everything'), 'stdio') })
    expect(stateOf(connections, 'everything')).toMatchObject({ state: 'ready', message: null, tools: NAMES })
    const answers = await Promise.all(EVERYTHING.map(({ tool, args }) => call(`mcp__everything__${tool}`, args)))
    expect(answers.map(({ status }) => status)).toEqual(EVERYTHING.map(() => 'ok'))
    for (const [i, { answer }] of EVERYTHING.entries()) expect(answers[i]?.content).toMatch(answer)
  })

  it('has every tool called over streamable HTTP', async () => {
    const { url, port } = await startEverythingHttp()
    const { connections, call } = await connect({ everything: { url, headers: { 'x-test': 'yes' } } })
    expect(stateOf(connections, 'everything')).toMatchObject({ state: 'ready', message: null, tools: NAMES })
    const answers = await Promise.all(EVERYTHING.map(({ tool, args }) => call(`mcp__everything__${tool}`, args)))
    expect(answers.map(({ status }) => status)).toEqual(EVERYTHING.map(() => 'ok'))
    for (const [i, { answer }] of EVERYTHING.entries()) expect(answers[i]?.content).toMatch(answer)

    const denied = await call('mcp__everything__echo', { message: 'a' }, { network: 'none' })
    expect(denied).toMatchObject({ type: 'tool.refused', content: 'Not allowed: this agent has no network.' })
    const tool = connections.tools.find(({ name }) => name === 'mcp__everything__echo')
    const planned = await tool?.plan({ message: 'a' }, {} as never)
    expect(planned).toEqual({
      ok: true,
      plan: {
        summary: 'everything: echo {"message":"a"}',
        detail: 'echo of the MCP server everything, with {\n  "message": "a"\n}',
        paths: [],
        address: `127.0.0.1:${port}/mcp`,
      },
    })
  })

  it('passes progress on', async () => {
    const { call } = await connect({ everything: node(officialServer('everything'), 'stdio') })
    const progress: string[] = []
    const args = { duration: 0.3, steps: 3 }
    await call('mcp__everything__trigger-long-running-operation', args, { onProgress: (text) => progress.push(text) })
    expect(progress).toEqual(['1 of 3\n', '2 of 3\n', '3 of 3\n'])
  })

  it('gets arguments that are wrong in the way that our own tools do: mended or explained, never sent', async () => {
    const { call } = await connect({ everything: node(officialServer('everything'), 'stdio') })
    const mended = await call('mcp__everything__get-sum', '```json\n{"a":"2","b":40,}\n```')
    expect(mended).toMatchObject({ status: 'ok', content: 'The sum of 2 and 40 is 42.' })
    expect(mended.events[0]?.data.mended).toEqual(['code fence removed', 'trailing comma removed', 'a: "2" read as 2'])
    expect(await call('mcp__everything__get-sum', { a: 'two' })).toMatchObject({
      type: 'tool.refused',
      content: [
        'b is missing',
        'a: expected number, got "two"',
        'Expected: mcp__everything__get-sum(a: number, b: number)',
      ].join('\n'),
    })
    expect(await call('mcp__everything__get-annotated-message', { messageType: 'loud' })).toMatchObject({
      content: expect.stringMatching(/^messageType: expected one of "error", "success", "debug", got "loud"\n/),
    })
  })

  it('is cancelled without waiting for it, and goes on', async () => {
    const { call } = await connect({ everything: node(officialServer('everything'), 'stdio') })
    const abort = new AbortController()
    const started = call(
      'mcp__everything__trigger-long-running-operation',
      { duration: 600, steps: 6000 },
      { signal: abort.signal, onProgress: () => abort.abort() },
    )
    expect(await started).toMatchObject({ status: 'cancelled' })
    expect(await call('mcp__everything__echo', { message: 'still there' })).toMatchObject({
      content: 'Echo: still there',
    })
  })

  it('is reached again over HTTP after it was started anew', async () => {
    const first = await startEverythingHttp()
    const { call } = await connect({ everything: { url: first.url } })
    expect((await call('mcp__everything__echo', { message: 'one' })).status).toBe('ok')
    await first.stop()
    const gone = await call('mcp__everything__echo', { message: 'two' })
    // Which of the two depends on whether the end of the connection that was kept open has been seen yet.
    const said = expect.stringMatching(/everything cannot be reached|the connection to everything ended/)
    expect(gone).toMatchObject({ status: 'error', content: said })
    await startEverythingHttp({ port: first.port })
    expect(await call('mcp__everything__echo', { message: 'three' })).toMatchObject({
      status: 'ok',
      content: 'Echo: three',
    })
  })

  it('ends during a call over HTTP: said long before the timeout of the call', async () => {
    const server = await startEverythingHttp()
    const { call } = await connect({ everything: { url: server.url, timeout_ms: 600_000 } })
    const stopped = { promise: Promise.resolve() }
    const answer = await call(
      'mcp__everything__trigger-long-running-operation',
      { duration: 600, steps: 6000 },
      {
        onProgress: () => {
          stopped.promise = server.stop()
        },
      },
    )
    await stopped.promise
    expect(answer.status).toBe('error')
    expect(answer.content).toMatch(/ended during the call; whether it took effect is not known/)
  })
})

describe('server-filesystem', () => {
  it('reads and writes what it was given', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'retinue-fs-')))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'a.txt'), 'inside\n')
    // Roots that a client names take the place of the folders it was started with, so the workspace is what it sees.
    const { call, root, connections } = await connect({ files: node(officialServer('filesystem'), folder) })
    await writeFile(join(root, 'b.txt'), 'in the workspace\n')
    expect(stateOf(connections, 'files')).toMatchObject({ state: 'ready', message: null })
    const written = await call('mcp__files__write_file', { path: join(root, 'c.txt'), content: 'new' })
    expect(written.status).toBe('ok')
    expect(await readFile(join(root, 'c.txt'), 'utf8')).toBe('new')
    expect((await call('mcp__files__read_text_file', { path: join(root, 'b.txt') })).content).toBe('in the workspace\n')
    const outside = await call('mcp__files__read_text_file', { path: '/etc/hostname' })
    expect(outside).toMatchObject({ status: 'error', content: expect.stringContaining('Access denied') })
  })
})

describe('server-memory', () => {
  it('keeps what it is told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'retinue-memory-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const memory = {
      ...node(officialServer('memory')),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what a person writes into the settings.
      env: { MEMORY_FILE_PATH: '${MEMORY_FOLDER}/memory.json' },
    }
    const { call } = await connect({ memory }, { env: { MEMORY_FOLDER: folder } })
    const entities = [{ name: 'owl', entityType: 'bird', observations: ['flies at night'] }]
    expect((await call('mcp__memory__create_entities', { entities })).status).toBe('ok')
    expect((await call('mcp__memory__search_nodes', { query: 'night' })).content).toContain('flies at night')
    expect(await readFile(join(folder, 'memory.json'), 'utf8')).toContain('owl')
  })
})

it('servers are connected to side by side, and one that fails costs only its own tools', async () => {
  const { connections } = await connect({
    everything: node(officialServer('everything'), 'stdio'),
    memory: node(officialServer('memory')),
    missing: { command: 'no-such-program-anywhere' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what a person writes into the settings.
    unset: { url: 'http://127.0.0.1:1/${NO_SUCH_VARIABLE}' },
    off: { command: 'true', enabled: false },
    away: { url: 'http://127.0.0.1:1/mcp' },
  })
  expect(connections.servers.map(({ name, state, message }) => [name, state, message])).toEqual([
    ['everything', 'ready', null],
    ['memory', 'ready', null],
    ['missing', 'failed', '"no-such-program-anywhere" is not a program on this machine'],
    ['unset', 'failed', 'its settings need what the environment does not have: NO_SUCH_VARIABLE'],
    ['off', 'disabled', null],
    ['away', 'failed', expect.stringMatching(/^it could not be connected to: .*/)],
  ])
  expect(connections.tools.map(({ server }) => server)).toContain('memory')
})

it('a server that nobody trusted is not started', async () => {
  const { connections } = await connect({ a: node(officialServer('memory')) }, { trusted: false })
  expect(connections).toMatchObject({
    tools: [],
    servers: [{ name: 'a', state: 'untrusted', message: expect.stringContaining('retinue mcp trust a') }],
  })
})
