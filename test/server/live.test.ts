import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Retinue, type StoredEvent, watched } from '../../src/index.js'
import { createLive } from '../../src/server/live/live.js'
import { MOST_STREAMS, MOST_STREAMS_EACH } from '../../src/server/live/places.js'
import { OwnRuns } from '../../src/server/own-runs.js'
import { begin, closed, finished, taken } from '../../src/store/conformance/fixtures.js'
import { type Message, messages, scripted, served } from './routes-lab.js'

const TWO_TURNS = `
agents:
  root:
    - calls: [{ list_dir: {} }]
    - text: Done.
`

async function all(stream: AsyncIterable<Message>): Promise<Message[]> {
  const found: Message[] = []
  for await (const message of stream) found.push(message)
  return found
}

const positions = (sent: readonly Message[]) =>
  sent.flatMap((message) =>
    'event' in message && message.event === 'events' ? (message.data as StoredEvent[]).map((e) => e.position) : [],
  )

it('sends a run, its events as they are watched, how it ended, and that this is all', async () => {
  const retinue = await scripted(TWO_TURNS)
  const window = await served(retinue)
  const run = retinue.run({ task: 'Look around' })
  for await (const _ of run) break
  const sent = await all(messages(await window.open(`/runs/${run.run_id}/live`)))
  const events = await retinue.events(run.run_id)
  const named = sent.map((message) => ('event' in message ? message.event : message.comment))
  expect(named[0]).toBe('run')
  expect(named.at(-1)).toBe('end')
  expect(sent.at(-2)).toEqual({
    event: 'run',
    id: null,
    data: { run: await retinue.find(run.run_id), result: await run.result(), owned_here: false, by: null },
  })
  const batches = sent.filter((message) => 'event' in message && message.event === 'events')
  expect(batches.flatMap((message) => ('data' in message ? message.data : []))).toEqual(
    JSON.parse(JSON.stringify(events.map(watched))),
  )
})

it('goes on after the Last-Event-ID, and says of a closed run that there is nothing more', async () => {
  const retinue = await scripted(TWO_TURNS)
  const window = await served(retinue)
  const run = retinue.run({ task: 'Look around' })
  await run.result()
  const last = (await retinue.events(run.run_id)).length
  const path = `/runs/${run.run_id}/live`
  const after = async (id: string) => window.open(`${path}?after=1`, { headers: { 'last-event-id': id } })
  expect(positions(await all(messages(await after(String(last - 2)))))).toEqual([last - 1, last])
  expect((await after(String(last))).status).toBe(204)
  for (const id of ['x', '-1', '1.5', String(last + 1), '9'.repeat(16)]) {
    expect([id, (await after(id)).status]).toEqual([id, 400])
  }
  expect(await window.get(`${path}?after=${last + 1}`)).toMatchObject({ status: 400 })
  expect(await window.get(`/runs/${run.run_id.slice(0, 5)}/live`)).toMatchObject({ status: 404 })
  // Without that header it is no reconnect: whoever asks learns how it stands.
  const sent = await all(messages(await window.open(`${path}?after=${last}`)))
  expect(sent.map((message) => 'event' in message && message.event)).toEqual(['run', 'end'])
})

it('stays open while nobody works on the run, and tells when somebody does again', async () => {
  const retinue = await scripted('agents: { root: [{ delay_ms: 600000, text: Never. }] }')
  const window = await served(retinue)
  const { body } = await window.send('POST', '/runs', { task: 'Wait' })
  const { run_id } = body as { run_id: string }
  const stream = messages(await window.open(`/runs/${run_id}/live`))
  const states: unknown[] = []
  const untilNext = async () => {
    for (;;) {
      const { value, done } = await stream.next()
      if (done) return 'over'
      if (!('event' in value)) continue
      if (value.event === 'end') return 'end'
      if (value.event !== 'run') continue
      const { run, owned_here } = value.data as { run: { status: string }; owned_here: boolean }
      states.push([run.status, owned_here])
      return 'run'
    }
  }
  await untilNext()
  await window.send('POST', `/runs/${run_id}/pause`, {})
  await untilNext()
  await window.send('POST', `/runs/${run_id}/resume`)
  await untilNext()
  await window.send('POST', `/runs/${run_id}/cancel`, {})
  await untilNext()
  expect(states).toEqual([
    ['running', true],
    ['interrupted', false],
    ['running', true],
    ['closed', false],
  ])
  expect(await untilNext()).toBe('end')
})

it('sends the list of runs, then only what is new or has changed', async () => {
  const retinue = await scripted(TWO_TURNS)
  const window = await served(retinue)
  const before = retinue.run({ task: 'Before' })
  await before.result()
  const stream = messages(await window.open('/runs/live'))
  const next = async () => (await stream.next()).value as { event: string; data: { run_id: string; status: string }[] }
  const first = await next()
  expect(first).toEqual({ event: 'runs', id: null, data: [{ ...(await retinue.find(before.run_id)), asks: 0 }] })
  const after = retinue.run({ task: 'After' })
  for (;;) {
    const { data } = await next()
    expect(data.map(({ run_id }) => run_id)).toEqual([after.run_id])
    if (data[0]?.status === 'closed') break
  }
})

/** A server of nothing but one stream. */
async function bareServer(answer: (request: Request) => Promise<Response>): Promise<number> {
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function longRun(retinue: Retinue, events: number): Promise<void> {
  await begin(retinue.store, 'long')
  const text = 'x'.repeat(1000)
  for (let written = 0; written < events; written += 500) {
    await taken(retinue.store, {
      run_id: 'long',
      agent_id: 'root',
      epoch: 1,
      expected_seq: 2 + written,
      events: Array.from({ length: 500 }, (_, i) => finished(`c${i}`, text)),
    })
  }
}

it('reads no further for somebody who takes nothing, and drops them after a while', async () => {
  const retinue = await scripted('agents: {}')
  await longRun(retinue, 20_000)
  const read = vi.spyOn(retinue.store, 'read')
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  const live = createLive(retinue, new OwnRuns(retinue), { stuck_ms: 300 })
  const port = await bareServer((request) =>
    live.run('long', { after: 0, again: false }, { who: 'slow', signal: request.signal }),
  )
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitFor(() => expect(live.connections).toBe(1), { timeout: 100_000 })
  await vi.waitFor(() => expect(live.connections).toBe(0), { timeout: 100_000 })
  const pages = read.mock.calls.filter(([query]) => query.limit === 200).length
  expect(pages).toBeGreaterThan(0)
  expect(pages).toBeLessThan(80)
  expect(said.mock.calls).toEqual([['A watcher took nothing for 0.3 s and was dropped.']])
  // The connection itself is gone too.
  socket.resume()
  await once(socket, 'close')
})

it('gives signs of life while nothing happens', async () => {
  const retinue = await scripted('agents: {}')
  await begin(retinue.store, 'quiet')
  const live = createLive(retinue, new OwnRuns(retinue), { heart_ms: 20 })
  onTestFinished(() => live.close())
  const gone = new AbortController()
  const stream = messages(await live.run('quiet', { after: 2, again: false }, { who: 'me', signal: gone.signal }))
  await stream.next()
  expect((await stream.next()).value).toEqual({ comment: 'here' })
  expect((await stream.next()).value).toEqual({ comment: 'here' })
  await taken(retinue.store, { run_id: 'quiet', agent_id: 'root', epoch: 1, expected_seq: 2, events: [closed()] })
  const rest = await all(stream)
  expect(positions(rest)).toEqual([3])
  expect(rest.at(-1)).toMatchObject({ event: 'end' })
})

it('has room for so many streams, of one and of all, and gives it to others when they leave', async () => {
  const retinue = await scripted('agents: {}')
  const live = createLive(retinue, new OwnRuns(retinue))
  onTestFinished(() => live.close())
  const leave: AbortController[] = []
  const open = (who: string) => {
    const gone = new AbortController()
    leave.push(gone)
    return live.runs({ who, signal: gone.signal }).then(
      ({ status }) => status,
      ({ status, more }) => [status, more],
    )
  }
  const refused = [503, { headers: { 'retry-after': '10' } }]
  for (let i = 0; i < MOST_STREAMS_EACH; i++) expect(await open('one')).toBe(200)
  expect(await open('one')).toEqual(refused)
  for (let i = MOST_STREAMS_EACH; i < MOST_STREAMS; i++) expect(await open(`other ${i}`)).toBe(200)
  expect(await open('another')).toEqual(refused)
  expect(live.connections).toBe(MOST_STREAMS)
  for (const gone of leave.slice(0, MOST_STREAMS_EACH)) gone.abort()
  expect(live.connections).toBe(MOST_STREAMS - MOST_STREAMS_EACH)
  expect(await open('another')).toBe(200)
})

const IDLE = 1000

it('answers others while a thousand connections do nothing, without growing', async () => {
  const retinue = await scripted('agents: {}')
  const window = await served(retinue)
  const { hostname, port } = new URL(window.url)
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  const statuses = await Promise.all(
    Array.from({ length: IDLE }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      onTestFinished(() => {
        socket.destroy()
      })
      socket.write(
        `GET /api/runs/live HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${window.authorization}\r\n\r\n`,
      )
      const [head] = (await once(socket, 'data')) as [Buffer]
      return Number(head.toString().slice(9, 12))
    }),
  )
  const count = (status: number) => statuses.filter((one) => one === status).length
  expect([count(200), count(503)]).toEqual([MOST_STREAMS_EACH, IDLE - MOST_STREAMS_EACH])
  const began = performance.now()
  expect(await window.get('/me')).toMatchObject({ status: 200 })
  expect(await window.get('/metrics')).toMatchObject({
    status: 200,
    body: expect.stringContaining(`\nretinue_http_streams ${MOST_STREAMS_EACH}\n`),
  })
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
})

it('tells each watcher how the run stands now, not how it stood for those before', async () => {
  const retinue = await scripted(
    'agents: { root: [{ calls: [{ list_dir: {} }] }, { delay_ms: 600000, text: Never. }] }',
  )
  const live = createLive(retinue, new OwnRuns(retinue), { look_ms: 600_000 })
  onTestFinished(() => live.close())
  const run = retinue.run({ task: 'Look around' })
  run.result().catch(() => {})
  for await (const _ of run) break
  const watch = async () => {
    const from = { after: 0, again: false }
    return messages(await live.run(run.run_id, from, { who: 'me', signal: new AbortController().signal }))
  }
  const first = await watch()
  await first.next()
  for await (const event of run) if (event.type === 'tool.finished') break
  const { value } = await (await watch()).next()
  expect((value as { data: { run: { tool_calls: number } } }).data.run.tool_calls).toBe(1)
})

it('leaves a follower that was lost to those who have it, and begins another for who comes next', async () => {
  const retinue = await scripted(TWO_TURNS)
  const run = retinue.run({ task: 'Look around' })
  for await (const _ of run) break
  const live = createLive(retinue, new OwnRuns(retinue))
  onTestFinished(() => live.close())
  const watch = () =>
    live.run(run.run_id, { after: 0, again: false }, { who: 'me', signal: new AbortController().signal })
  const follow = vi.spyOn(retinue.store, 'follow').mockImplementationOnce(() => {
    throw new Error('the disk is gone')
  })
  await watch()
  expect(follow).toHaveBeenCalledTimes(1)
  const sent = await all(messages(await watch()))
  expect(sent.at(-1)).toEqual({ event: 'end', id: null, data: {} })
  expect(follow).toHaveBeenCalledTimes(2)
  follow.mockRestore()
  await run.result()
})

it('gives a place back that somebody took and never read from', async () => {
  const retinue = await scripted('agents: {}')
  const live = createLive(retinue, new OwnRuns(retinue), { stuck_ms: 50 })
  await live.runs({ who: 'me', signal: new AbortController().signal })
  expect(live.connections).toBe(1)
  await vi.waitFor(() => expect(live.connections).toBe(0), { timeout: 100_000 })
})
