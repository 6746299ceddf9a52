import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'vitest'
import type { WhenFinished } from '../../support/project.js'
import { connect } from './connect.js'

const UNKNOWN = 'whether it took effect is not known. Look before you repeat it.'

type Message = { id?: number; method: string; params: { protocolVersion?: string; arguments?: { how?: string } } }

/** A server over HTTP that can be told to refuse, to forget its sessions, and when to answer the call that waits. */
async function startServer(finished: WhenFinished, given: { port?: number } = {}) {
  const sessions = new Set<string>()
  let opened = 0
  let forgotten = { status: 404, text: 'session not found' }
  const waiting: (() => void)[] = []
  let arrived = () => {}
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const session = String(request.headers['mcp-session-id'])
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = JSON.parse(body) as Message
    const say = (said: object, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
    }
    if (method === 'initialize') {
      const name = `s${++opened}`
      sessions.add(name)
      const { protocolVersion } = params
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      return say({ result }, { 'mcp-session-id': name })
    }
    if (method === 'server/discover') return say({ error: { code: -32601, message: 'no' } })
    if (!sessions.has(session)) return void response.writeHead(forgotten.status).end(forgotten.text)
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/list') return say({ result: { tools: [{ name: 't', inputSchema: { type: 'object' } }] } })
    const how = params.arguments?.how
    if (how === 'limited') return void response.writeHead(429).end('slow down')
    if (how === 'gateway') return void response.writeHead(502).end('bad gateway')
    if (how === 'hang up') return void request.socket.destroy()
    if (how === 'wait') {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        arrived()
      })
    }
    say({ result: { content: [{ type: 'text', text: `${how} in ${session}` }] } })
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(given.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  finished(stop)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    stop,
    opened: () => opened,
    forget: (how = forgotten) => {
      forgotten = how
      sessions.clear()
    },
    /** Resolves when the call that waits is there. */
    called: () => new Promise<void>((resolve) => (arrived = resolve)),
    release: () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

describe.concurrent('over HTTP', () => {
  async function start(finished: WhenFinished) {
    const server = await startServer(finished)
    const { call, connections } = await connect({ a: { url: server.url } }, { finished })
    return { server, connections, say: (how: string) => call('mcp__a__t', { how }) }
  }

  it('a call that is refused costs no other call, however often', async ({ onTestFinished: finished, expect }) => {
    const { server, say } = await start(finished)
    const called = server.called()
    const other = say('wait')
    await called
    for (let i = 0; i < 3; i++) {
      const refused = { status: 'error', content: 'a refused the call: Error POSTing to endpoint: slow down' }
      expect(await say('limited')).toMatchObject(refused)
    }
    server.release()
    expect(await other).toMatchObject({ status: 'ok', content: 'wait in s1' })
    expect(await say('ok')).toMatchObject({ status: 'ok', content: 'ok in s1' })
    expect(server.opened()).toBe(1)
  })

  it.for([
    { status: 404, text: '' },
    { status: 400, text: 'Bad Request: No valid session ID provided' },
  ])(
    'a forgotten session ($status) is opened again for the same call, and calls on it are waited for',
    async (how, { onTestFinished: finished, expect }) => {
      const { server, say } = await start(finished)
      const called = server.called()
      const other = say('wait')
      await called
      for (const session of ['s2', 's3', 's4']) {
        server.forget(how)
        expect(await say('ok')).toMatchObject({ status: 'ok', content: `ok in ${session}` })
      }
      server.release()
      expect(await other).toMatchObject({ status: 'ok', content: 'wait in s1' })
      server.forget(how)
      const both = await Promise.all([say('ok'), say('ok')])
      expect(both.map(({ content }) => content)).toEqual(['ok in s5', 'ok in s5'])
    },
  )

  it('a call that broke off may have taken effect, and that is said', async ({ onTestFinished: finished, expect }) => {
    const { server, say, connections } = await start(finished)
    expect(await say('hang up')).toMatchObject({
      status: 'error',
      content: `the connection to a ended during the call; ${UNKNOWN}`,
    })
    expect(await say('gateway')).toMatchObject({
      content: `a failed in the call; ${UNKNOWN} (Error POSTing to endpoint: bad gateway)`,
    })
    expect(await say('ok')).toMatchObject({ content: 'ok in s1' })
    const called = server.called()
    const waits = say('wait')
    await called
    await connections.close()
    expect(await waits).toMatchObject({ content: `the connection to a ended during the call; ${UNKNOWN}` })
  })

  it('a server that was away for many calls is used again when it is back', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { server, say } = await start(finished)
    server.forget()
    await server.stop()
    for (let i = 0; i < 3; i++) expect((await say('ok')).status).toBe('error')
    expect((await say('ok')).content).toMatch(/^a cannot be reached: /)
    const again = await startServer(finished, { port: server.port })
    expect(await say('ok')).toMatchObject({ status: 'ok', content: 'ok in s1' })
    expect(again.opened()).toBe(1)
  })
})
