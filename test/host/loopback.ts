import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback: the same port on 127.0.0.1, 127.8.8.8 and, where there is IPv6, on ::1. */
export async function loopback(listener: RequestListener) {
  const requests: { url: string; address: string; headers: Record<string, unknown> }[] = []
  const servers: Server[] = []
  const listen = (address: string, port: number) =>
    new Promise<number>((resolve, reject) => {
      const server = createServer((request, response) => {
        requests.push({ url: request.url ?? '', address, headers: request.headers })
        listener(request, response)
      })
      server.once('error', reject)
      server.listen(port, address, () => {
        servers.push(server)
        resolve((server.address() as AddressInfo).port)
      })
    })
  const port = await listen('127.0.0.1', 0)
  await listen('127.8.8.8', port)
  const ipv6 = await listen('::1', port).then(
    () => true,
    () => false,
  )
  const close = () =>
    Promise.all(
      servers.map((server) => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      }),
    )
  return { port, ipv6, requests, close }
}
