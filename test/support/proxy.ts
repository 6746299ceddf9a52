import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What may be between a browser and the server. `cut`: all connections that there are break; new ones are made. */
export async function proxyTo(address: string): Promise<{ address: string; cut: () => void }> {
  const { host, hostname, port } = new URL(address)
  const server = createServer((asked, answer) => {
    const { origin, ...rest } = asked.headers
    const headers = { ...rest, host, ...(origin === undefined ? {} : { origin: address }) }
    const passed = request({ hostname, port, path: asked.url, method: asked.method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      answer.flushHeaders()
      reply.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => server.closeAllConnections(),
  }
}
