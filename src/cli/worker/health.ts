import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RetinueError, type WorkerHealth } from '../../index.js'
import type { Address } from '../options.js'
import { workerMetrics } from './metrics.js'

export type HealthServer = { url: string; close(): Promise<void> }

/** Says how a worker is, to whoever supervises it. `health` null: it has not begun. */
export async function serveHealth(at: Address, health: () => WorkerHealth | null): Promise<HealthServer> {
  const server = createServer(answering(health))
  server.listen(at.port, at.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'it is taken' : message
    throw new RetinueError('config', `--health cannot listen on port ${at.port} of ${at.host}: ${why}`)
  }
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function answering(health: () => WorkerHealth | null): RequestListener {
  return ({ url = '', method = '' }, response) => {
    const [path] = url.split('?')
    if (path !== '/health' && path !== '/metrics') return answer(response, 404, 'There is /health and /metrics\n')
    if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, 'It is only for looking: GET\n')
    const now = health()
    if (path === '/metrics')
      return answer(response, 200, workerMetrics(now), 'text/plain; version=0.0.4; charset=utf-8')
    const body = `${JSON.stringify(now ?? { ok: false, problem: 'it has not begun' })}\n`
    return answer(response, now?.ok ? 200 : 503, body, 'application/json')
  }
}

function answer(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}
