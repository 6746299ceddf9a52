import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }

/** Time for a program to run and end. */
export function timeToEnd(args: string[]): number {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, args, { env: ENV })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - started
}

/** From the start of `retinue "task"` to the moment the model's server has the request. */
export async function timeToFirstRequest(bin: string, cwd: string): Promise<number> {
  let arrived = (): void => {}
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      arrived()
      response.writeHead(400).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const env = { ...ENV, OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
  const started = performance.now()
  const child = spawn(process.execPath, [bin, '-p', 'hello', '--model', 'openai/m', '--cwd', cwd], {
    env,
    stdio: 'ignore',
  })
  await new Promise<void>((resolve) => {
    arrived = resolve
  })
  const elapsed = performance.now() - started
  await new Promise((resolve) => child.once('exit', resolve))
  server.close()
  return elapsed
}
