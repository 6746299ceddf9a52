import { onTestFinished } from 'vitest'
import { createRetinue, type Retinue, type Settings } from '../../src/index.js'
import { serve } from '../../src/server/index.js'
import { makeProject } from '../support/project.js'

/** A message of a stream of server-sent events; a comment has only that. */
export type Message = { event: string; id: string | null; data: unknown } | { comment: string }

export type Answer = { status: number; body: unknown }

export type Client = {
  url: string
  /** What its requests have in the header of that name. */
  authorization: string
  get(path: string): Promise<Answer>
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer>
  open(path: string, options?: { headers?: Record<string, string>; signal?: AbortSignal }): Promise<Response>
}

/** A Retinue on a folder of its own with the scripted model. */
export async function scripted(
  script: string,
  { settings, files = {} }: { settings?: Settings; files?: Record<string, string> } = {},
): Promise<Retinue> {
  const cwd = makeProject({ 'script.yaml': script, ...files })
  const retinue = await createRetinue({
    cwd,
    env: {},
    settings: { model: { name: 'scripted/script.yaml', source: 'user' }, ...settings },
  })
  onTestFinished(() => retinue.close())
  return retinue
}

/** The server as it is, on a free port. `users`: tokens by name; without them there is the one of the person here. */
export async function served(retinue: Retinue): Promise<Client> {
  const serving = await serve(retinue, { host: '127.0.0.1', port: 0, users: {}, origins: [] })
  onTestFinished(async () => {
    await serving.close('the test is over')
  })
  return client(`${serving.address}/api`, serving.token as string)
}

export function client(url: string, token: string): Client {
  const authorization = `Bearer ${token}`
  const answered = async (response: Response): Promise<Answer> => {
    const text = await response.text()
    const is_json = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, body: is_json ? JSON.parse(text) : text }
  }
  return {
    ...{ url, authorization },
    get: async (path) => answered(await fetch(`${url}${path}`, { headers: { authorization } })),
    send: async (method, path, body) => {
      const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      return answered(
        await fetch(`${url}${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
    },
    open: (path, { headers, signal } = {}) =>
      fetch(`${url}${path}`, { headers: { authorization, ...headers }, ...(signal ? { signal } : {}) }),
  }
}

/** The messages of a stream as they come. */
export async function* messages(response: Response): AsyncGenerator<Message> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) yield messageIn(part)
  }
}

function messageIn(text: string): Message {
  if (text.startsWith(':')) return { comment: text.slice(1).trim() }
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
  return { event: fields.event, id: fields.id ?? null, data: JSON.parse(fields.data) }
}
