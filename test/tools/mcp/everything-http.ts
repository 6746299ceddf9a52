import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import type { WhenFinished } from '../../support/project.js'
import { officialServer } from './connect.js'

/** server-everything over streamable HTTP, on a port of its own until the test is over. */
export async function startEverythingHttp(
  options: { port?: number; finished?: WhenFinished } = {},
): Promise<{ url: string; port: number; stop: () => Promise<void> }> {
  const port = options.port ?? (await freePort())
  const child = spawn(process.execPath, [officialServer('everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  const finished = options.finished ?? onTestFinished
  finished(stop)
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
      if (said.includes('listening on port')) resolve()
    })
    child.once('exit', () => reject(new Error(`server-everything ended: ${said}`)))
  })
  return { url: `http://127.0.0.1:${port}/mcp`, port, stop }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
