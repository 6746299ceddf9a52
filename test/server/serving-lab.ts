import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { createMemoryStore, createRetinue, type Settings } from '../../src/index.js'
import { type ServeOptions, type Serving, serve } from '../../src/server/index.js'
import { makeProject } from '../support/project.js'

export type Lab = Serving & { ask: (asked?: Asked) => Promise<Got>; reports: string[] }

export type Asked = {
  method?: string
  path?: string
  /** Just these and `Host`, so that a test says all that the server knows. */
  headers?: Record<string, string>
  body?: string | Uint8Array
}
export type Got = { status: number; headers: IncomingHttpHeaders; text: string; bytes: Buffer; json: unknown }

/** A server on a real socket. */
export async function lab(options: Partial<ServeOptions> = {}, settings: Settings = {}): Promise<Lab> {
  const retinue = await createRetinue({
    cwd: makeProject({}),
    env: {},
    store: createMemoryStore({ clock: { now: Date.now } }),
    settings,
  })
  onTestFinished(() => retinue.close())
  const reports: string[] = []
  const report = (text: string) => void reports.push(text)
  const serving = await serve(retinue, { host: '127.0.0.1', port: 0, users: {}, origins: [], report, ...options })
  onTestFinished(async () => void (await serving.close('the test is over').catch(() => {})))
  return { ...serving, reports, ask: (asked = {}) => ask(serving.port, asked) }
}

/** One request as a client that sets any header makes it, which `fetch` does not. */
async function ask(port: number, { method = 'GET', path = '/', headers = {}, body }: Asked): Promise<Got> {
  const asked = request({
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    headers: { host: `127.0.0.1:${port}`, ...headers },
  })
  asked.end(body)
  const [response] = await once(asked, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString()
  const json = response.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : null
  return { status: response.statusCode, headers: response.headers, text, bytes, json }
}

export const bearer = (token: string | null) => ({ authorization: `Bearer ${token}` })

export function fault(code: string, message: string) {
  return { error: { code, message } }
}
