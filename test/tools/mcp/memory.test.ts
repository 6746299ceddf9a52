import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { BAD_SERVER } from './connect.js'

const RUN = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))
const MEASURE = fileURLToPath(new URL('./measure.ts', import.meta.url))
const BYTES = 50 * 1024 * 1024

/** Makes one call in a fresh process and says by how much that process grew. */
async function measure(server: string, tool: string, args: object) {
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, MEASURE, server, tool, JSON.stringify(args)])
  const result = JSON.parse(stdout) as { grown_mb: number; ok: boolean; chars: number }
  console.log(`an answer of 50 MB (${tool}, ${server.startsWith('http') ? 'http' : 'stdio'}): ${stdout.trim()}`)
  return result
}

it('an answer of 50 MB costs less than 150 MB, and 8 MB of it are kept', { timeout: 120_000 }, async () => {
  const { grown_mb, ok, chars } = await measure(BAD_SERVER, 'big', { bytes: BYTES })
  expect({ ok, fits: chars < 8.1 * 1024 * 1024 && chars > 8 * 1024 * 1024 }).toEqual({ ok: true, fits: true })
  expect(grown_mb).toBeLessThan(150)
})

it('an answer of 50 MB in many small pieces is bounded too', { timeout: 120_000 }, async () => {
  const { grown_mb, ok, chars } = await measure(BAD_SERVER, 'many', { blocks: BYTES / 1000 })
  expect({ ok, fits: chars < 8.1 * 1024 * 1024 }).toEqual({ ok: true, fits: true })
  expect(grown_mb).toBeLessThan(300)
})

it.each(['application/json', 'text/event-stream'])('the same over HTTP, as %s', { timeout: 120_000 }, async (type) => {
  const { grown_mb, ok, chars } = await measure(await bigHttpServer(type), 'big', {})
  expect({ ok, fits: chars < 8.1 * 1024 * 1024 && chars > 8 * 1024 * 1024 }).toEqual({ ok: true, fits: true })
  expect(grown_mb).toBeLessThan(150)
})

/** As little of a server as will do, with one tool, whose answer has 50 MB. */
async function bigHttpServer(type: string): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = JSON.parse(body)
    if (id === undefined) return response.writeHead(202).end()
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'big', version: '1' },
      },
      'tools/list': { tools: [{ name: 'big', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'x'.repeat(BYTES) }] },
    }
    const error = { code: -32601, message: 'no such method' }
    const answer = JSON.stringify({
      jsonrpc: '2.0',
      id,
      ...(results[method] ? { result: results[method] } : { error }),
    })
    response.writeHead(200, { 'content-type': type })
    response.end(type === 'application/json' ? answer : `event: message\ndata: ${answer}\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
