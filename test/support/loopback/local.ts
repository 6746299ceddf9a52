import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type LoopbackStep, renderAnswer } from './index.js'
import { asksForStream, count } from './protocol.js'

/** What is answered at a path: JSON, or whatever the function does with the response. */
export type Route = { status?: number; json: unknown } | ((body: string, res: ServerResponse) => void)

export type LocalServerOnLoopback = {
  origin: string
  /** `GET /v1/models`, in the order in which they came. */
  asked: string[]
  /** Bodies of chat completions. */
  chats: Record<string, unknown>[]
  close(): Promise<void>
}

/**
 * A server on 127.0.0.1 that answers these paths, and chat completions with these steps by how many answers the
 * conversation already has. Anything else is `otherwise`, by default a 404.
 */
export async function startLocal(
  routes: Record<string, Route>,
  options: { steps?: readonly LoopbackStep[]; otherwise?: Route } = {},
): Promise<LocalServerOnLoopback> {
  const asked: string[] = []
  const chats: Record<string, unknown>[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const path = req.url ?? ''
      asked.push(`${req.method} ${path}`)
      const route = routes[path]
      if (!route && options.steps && path === '/v1/chat/completions') {
        chats.push(JSON.parse(bytes.toString()))
        const turn = count(bytes, '"role":"assistant"')
        const stream = asksForStream(path, bytes)
        res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
        res.end(renderAnswer('chat', options.steps[turn] ?? { text: 'nothing more' }, turn, stream))
        return
      }
      send(route ?? options.otherwise ?? { status: 404, json: { error: 'not found' } }, bytes.toString(), res)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    chats,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(route: Route, body: string, res: ServerResponse): void {
  if (typeof route === 'function') {
    route(body, res)
    return
  }
  res.writeHead(route.status ?? 200, { 'content-type': 'application/json' })
  res.end(JSON.stringify(route.json))
}

type OllamaModel = { capabilities?: string[]; context_length?: number; num_ctx?: number; loaded?: number }

/** As Ollama answers, in the parts that matter here. */
export function ollamaRoutes(models: Record<string, OllamaModel>): Record<string, Route> {
  const names = Object.keys(models)
  const running = names.filter((name) => models[name]?.loaded !== undefined)
  return {
    '/api/version': { json: { version: '0.12.6' } },
    '/api/tags': { json: { models: names.map((name) => ({ name, model: name, size: 4_920_753_328 })) } },
    '/api/ps': {
      json: { models: running.map((name) => ({ name, model: name, context_length: models[name]?.loaded })) },
    },
    '/api/show': (body, res) => {
      const { model } = JSON.parse(body) as { model: string }
      const { capabilities, context_length, num_ctx } = models[model] ?? {}
      const json = {
        modelfile: '# Modelfile',
        template: '{{ .Prompt }}',
        ...(num_ctx ? { parameters: `stop "<|eot|>"\nnum_ctx                        ${num_ctx}` } : {}),
        details: { format: 'gguf', family: 'llama' },
        model_info: {
          'general.architecture': 'llama',
          'llama.attention.head_count': 32,
          ...(context_length ? { 'llama.context_length': context_length } : {}),
        },
        ...(capabilities ? { capabilities } : {}),
      }
      send({ json }, '', res)
    },
    '/v1/models': {
      json: { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 1, owned_by: 'library' })) },
    },
  }
}

export function llamaCppRoutes(id: string, props: object): Record<string, Route> {
  const meta = { vocab_type: 2, n_vocab: 128_256, n_ctx_train: 131_072, n_embd: 4096 }
  return {
    '/health': { json: { status: 'ok' } },
    '/props': { json: props },
    '/v1/models': { json: { object: 'list', data: [{ id, object: 'model', created: 1, owned_by: 'llamacpp', meta }] } },
  }
}

export function vllmRoutes(id: string): Record<string, Route> {
  const model = { id, object: 'model', created: 1, owned_by: 'vllm', root: id, parent: null, max_model_len: 40_960 }
  return {
    '/version': { json: { version: '0.11.0' } },
    '/v1/models': { json: { object: 'list', data: [model] } },
  }
}

/** It answers every path that it does not have with status 200. */
export const LM_STUDIO_OTHERWISE: Route = { json: { error: 'Unexpected endpoint or method. (GET /x)' } }

export function lmStudioRoutes(): Record<string, Route> {
  const model = (key: string, tools: boolean, context_length: number | null, type = 'llm') => ({
    type,
    publisher: 'lab',
    key,
    display_name: key,
    loaded_instances: context_length === null ? [] : [{ id: key, config: { context_length, flash_attention: true } }],
    max_context_length: 131_072,
    format: 'gguf',
    capabilities: { vision: false, trained_for_tool_use: tools },
  })
  return {
    '/api/v1/models': {
      json: {
        models: [
          model('lab/plain-4b', false, null),
          model('lab/tools-9b', true, 8192),
          { type: 'embedding', key: 'text-embedding-nomic', loaded_instances: [], max_context_length: 2048 },
        ],
      },
    },
    '/v1/models': {
      json: {
        object: 'list',
        data: [{ id: 'lab/tools-9b', object: 'model', owned_by: 'organization_owner' }],
      },
    },
  }
}

export function olderLmStudioRoutes(tells: boolean): Record<string, Route> {
  const model = (id: string, more: object) => ({ id, object: 'model', publisher: 'lab', quantization: '4bit', ...more })
  return {
    '/api/v0/models': {
      json: {
        object: 'list',
        data: [
          model('tools-7b', {
            type: 'llm',
            state: 'loaded',
            max_context_length: 32_768,
            loaded_context_length: 4096,
            ...(tells ? { capabilities: ['tool_use'] } : {}),
          }),
          model('seeing-7b', { type: 'vlm', state: 'not-loaded', max_context_length: 32_768 }),
          model('embedder', { type: 'embeddings', state: 'not-loaded', max_context_length: 2048 }),
        ],
      },
    },
    '/v1/models': { json: { object: 'list', data: [{ id: 'tools-7b', owned_by: 'organization_owner' }] } },
  }
}
