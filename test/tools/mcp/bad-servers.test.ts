import { describe, expect, it } from 'vitest'
import { isAlive } from '../../support/processes.js'
import { badServer } from './connect.js'

/** Long enough for a process to start on a busy machine, and short enough to wait for. */
const SOON = { start_timeout_ms: 4000 }

const UNKNOWN = 'whether it took effect is not known. Look before you repeat it.'

describe.concurrent('a server that', () => {
  it('ends at once is said with its last words', async ({ onTestFinished: finished, expect }) => {
    const { state, connections } = await badServer('crash_at_start', { finished })
    expect(connections.tools).toEqual([])
    expect(state).toMatchObject({
      state: 'failed',
      message: 'it could not be connected to: it ended with exit code 7; its last words: no license found',
    })
  })

  it('never answers the greeting is given up, and nothing of it is left', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { state, pids } = await badServer('hang_at_start', { finished, ...SOON })
    expect(state).toMatchObject({ state: 'failed', message: 'it was not ready after 4 s: it does not answer' })
    expect((await pids()).filter(isAlive)).toEqual([])
  })

  it('never lists its tools is given up', async ({ onTestFinished: finished, expect }) => {
    const { state, pids } = await badServer('hang_at_list', { finished, ...SOON })
    expect(state).toMatchObject({ state: 'failed', message: 'it was not ready after 4 s: it does not answer' })
    expect((await pids()).filter(isAlive)).toEqual([])
  })

  it('ends when it is asked in the new way is greeted in the old way', async ({ onTestFinished: finished, expect }) => {
    const { state, call, heard } = await badServer('dies_when_probed', { finished })
    expect(state).toMatchObject({ state: 'ready', version: '1.2.3', instructions: 'Be careful.' })
    expect(await call('mcp__bad__ok', {})).toMatchObject({ status: 'ok', content: 'fine' })
    expect((await heard()).filter((line) => line === 'start')).toHaveLength(2)
  })

  it('is silent when it is asked in the new way is greeted in the old way', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { state } = await badServer('silent_when_probed', { finished, start_timeout_ms: 12_000 })
    expect(state).toMatchObject({ state: 'ready' })
  })

  it('ends in a call is started again once, and after that its tools say so', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call, heard, pids, connections } = await badServer('plain', { finished })
    const first = await call('mcp__bad__crash', {})
    expect(first).toMatchObject({
      status: 'error',
      content: `the server bad ended during the call; ${UNKNOWN} (it ended with exit code 3)`,
    })
    expect(await call('mcp__bad__ok', {})).toMatchObject({ status: 'ok', content: 'fine' })
    expect((await call('mcp__bad__crash', {})).content).toContain('ended during the call')
    const last = { status: 'error', content: expect.stringContaining('has ended again and is not started any more') }
    expect(await call('mcp__bad__ok', {})).toMatchObject(last)
    expect(await call('mcp__bad__ok', {})).toMatchObject(last)
    expect((await heard()).filter((line) => line === 'start')).toHaveLength(2)
    await connections.close()
    expect((await pids()).filter(isAlive)).toEqual([])
  })

  it('ends while several agents call it is started again for all of them, once', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call, heard } = await badServer('plain', { finished })
    const calls = ['hang', 'hang', 'crash'].map((tool) => call(`mcp__bad__${tool}`, {}))
    for (const { content } of await Promise.all(calls)) expect(content).toContain('ended during the call')
    const again = await Promise.all(['ok', 'ok', 'ok'].map((tool) => call(`mcp__bad__${tool}`, {})))
    expect(again.map(({ content }) => content)).toEqual(['fine', 'fine', 'fine'])
    expect((await heard()).filter((line) => line === 'start')).toHaveLength(2)
  })

  it('never answers a call costs that call its timeout, is told, and goes on', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call, heard } = await badServer('plain', { finished, settings: { timeout_ms: 500 } })
    expect(await call('mcp__bad__hang', {})).toMatchObject({
      status: 'error',
      content: `bad did not answer within 0.5 s and was told to stop; ${UNKNOWN}`,
    })
    expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
    expect(await heard()).toContainEqual(expect.stringMatching(/^notifications\/cancelled \d+$/))
  })

  it('never answers a call is told when the call is cancelled', async ({ onTestFinished: finished, expect }) => {
    const { call, heard } = await badServer('plain', { finished })
    const abort = new AbortController()
    const started = call('mcp__bad__hang', {}, { signal: abort.signal })
    await expect.poll(heard, { timeout: 100_000 }).toContain('tools/call hang')
    abort.abort()
    expect(await started).toMatchObject({ status: 'cancelled', content: 'Cancelled: the server was told to stop.' })
    await expect.poll(heard, { timeout: 100_000 }).toContainEqual(expect.stringMatching(/^notifications\/cancelled/))
    expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
  })

  it('answers to other ids than it was asked with is waited for no longer than the timeout', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call } = await badServer('wrong_ids', { finished, settings: { timeout_ms: 500 } })
    expect((await call('mcp__bad__ok', {})).content).toContain('did not answer within 0.5 s')
  })

  it('writes a line without end is ended', async ({ onTestFinished: finished, expect }) => {
    const { call, pids } = await badServer('plain', { finished, bounds: { max_message_bytes: 4 * 1024 * 1024 } })
    const answer = await call('mcp__bad__endless', {})
    expect(answer).toMatchObject({
      status: 'error',
      content: `the server bad ended during the call; ${UNKNOWN} (it was ended because a message was larger than 4 MB)`,
    })
    expect((await pids()).filter(isAlive)).toEqual([])
  })

  it('begins with what is no message is understood all the same', async ({ onTestFinished: finished, expect }) => {
    const { state, call } = await badServer('noise', { finished })
    expect(state.state).toBe('ready')
    expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
  })

  it('begins with half a line spoils its first answer, and is asked again', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { state, heard } = await badServer('half_a_line', { finished, start_timeout_ms: 15_000 })
    expect(state.state).toBe('ready')
    expect(await heard()).toEqual(expect.arrayContaining(['server/discover', 'initialize', 'tools/list']))
  })

  it('lists pages without end is read to a bound', async ({ onTestFinished: finished, expect }) => {
    const { state } = await badServer('endless_pages', { finished })
    expect(state).toMatchObject({
      state: 'ready',
      message: 'its list of tools has more than 50 pages; the rest was not read',
    })
    expect(state.tools).toHaveLength(50)
  })

  it('ignores SIGTERM is killed, with what it started', async ({ onTestFinished: finished, expect }) => {
    const { connections, pids, heard, call } = await badServer('ignores_sigterm', { finished })
    expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
    expect((await pids()).every(isAlive)).toBe(true)
    await connections.close()
    expect((await pids()).filter(isAlive)).toEqual([])
    expect(await heard()).toContain('sigterm')
  })

  it('is closed during a call ends the call', async ({ onTestFinished: finished, expect }) => {
    const { connections, call, heard } = await badServer('plain', { finished })
    const started = call('mcp__bad__hang', {})
    await expect.poll(heard, { timeout: 100_000 }).toContain('tools/call hang')
    await connections.close()
    expect((await started).status).toBe('error')
    expect((await call('mcp__bad__ok', {})).content).toBe('the connection to bad is closed')
  })
})

describe.concurrent('answers', () => {
  it('of every kind can be read', async ({ onTestFinished: finished, expect }) => {
    const { call } = await badServer('plain', { finished })
    expect((await call('mcp__bad__odd', {})).content.split('\n')).toEqual([
      'words',
      '[image image/png, 12345 bytes]',
      '[audio audio/wav, 10 bytes]',
      '[resource file:///a.txt (text/plain): a]',
      '[resource file:///b.txt]',
      'inside b',
      '[resource file:///c.bin, application/zip, 3 bytes]',
      '[hologram: a kind of content that is not known here]',
    ])
    expect(await call('mcp__bad__error', {})).toMatchObject({ status: 'error', content: 'it went wrong' })
    expect((await call('mcp__bad__wrong', {})).content).toBe('(the answer is empty)')
  })

  it('are held against the schema that was promised, and kept when they do not fit', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { call } = await badServer('plain', { finished })
    expect((await call('mcp__bad__structured', { value: { n: 1 } })).content).toBe('{\n "n": 1\n}')
    expect(await call('mcp__bad__structured', { value: { n: 'x' } })).toMatchObject({
      status: 'ok',
      content: '{\n "n": "x"\n}\n[this answer is not what the server promised: n: expected integer, got "x"]',
    })
    expect((await call('mcp__bad__structured', {})).content).toBe(
      '(the answer is empty)\n[the server promised structured content for this tool and gave none]',
    )
  })

  it('are cut before they are put together', async ({ onTestFinished: finished, expect }) => {
    const limits = { command_output_bytes: 2500, output_chars: 1_000_000 }
    const bounds = { max_string_bytes: 1000 }
    const { call } = await badServer('plain', { finished, limits, bounds })
    const big = await call('mcp__bad__big', { bytes: 5000 })
    expect(big.content).toBe(`${'x'.repeat(1000)}[… 4,000 bytes left out …]`)
    const many = await call('mcp__bad__many', { blocks: 10 })
    const [a, b, c, note] = many.content.split('\n')
    expect([a, b, c].map((line) => line?.length)).toEqual([1000, 1000, 500])
    expect(note).toBe('[… 7,500 characters left out …]')
    expect((await call('mcp__bad__cut', {})).content).toBe('[image image/png, more than 750 bytes]\nthe end')
  })

  it('bring progress with them', async ({ onTestFinished: finished, expect }) => {
    const { call } = await badServer('plain', { finished })
    const progress: string[] = []
    const answer = await call('mcp__bad__progress', {}, { onProgress: (text) => progress.push(text) })
    expect(answer.content).toBe('done')
    expect(progress).toEqual(['1 of 2: step 1\n', '2 of 2: step 2\n'])
  })
})

describe.concurrent('what a server is told', () => {
  it('is the workspace, and that it can ask nobody anything', async ({ onTestFinished: finished, expect }) => {
    const { call, root } = await badServer('plain', { finished })
    expect(JSON.parse((await call('mcp__bad__roots', {})).content)).toEqual({
      roots: [{ uri: `file://${root}`, name: 'workspace' }],
    })
    expect((await call('mcp__bad__ask', {})).content).toContain('"code":-32601')
  })

  it('is an environment without keys, and what the settings add', async ({ onTestFinished: finished, expect }) => {
    process.env.RETINUE_TEST_API_KEY = 'secret'
    const { call } = await badServer('plain', { finished, settings: { env: { ADDED: 'yes' } } })
    const { ADDED, RETINUE_TEST_API_KEY, PATH } = JSON.parse((await call('mcp__bad__env', {})).content)
    expect({ ADDED, RETINUE_TEST_API_KEY, PATH }).toEqual({
      ADDED: 'yes',
      RETINUE_TEST_API_KEY: undefined,
      PATH: process.env.PATH,
    })
  })
})

it('a server that is switched off is not started', async () => {
  const { connections } = await badServer('plain', { settings: { enabled: false } })
  expect(connections).toMatchObject({ tools: [], servers: [{ name: 'bad', state: 'disabled', message: null }] })
})

// These by themselves: they have this process busy for a while, and the others measure time.
it('a server that sends notifications without end still answers', async () => {
  const { state, call } = await badServer('flood')
  expect(state.state).toBe('ready')
  expect(await call('mcp__bad__ok', {})).toMatchObject({ content: 'fine' })
})

it('a server that asks without end and never listens is ended', async () => {
  const { call, pids } = await badServer('plain', { bounds: { max_message_bytes: 256 * 1024 } })
  expect((await call('mcp__bad__deaf', {})).content).toContain('it was ended because it does not read what it is sent')
  expect((await pids()).filter(isAlive)).toEqual([])
})
