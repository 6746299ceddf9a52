// A server that speaks MCP over stdio by hand, so that it can get wrong whatever a test wants it to get wrong.
// Usage: node bad-server.mjs <behaviour> [file it notes things in]
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , behaviour, file] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const note = (text) => file && appendFileSync(file, `${text}\n`)
const starts =
  file && existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((l) => l === 'start').length
    : 0
note('start')
note(`pid ${process.pid}`)

const object = (properties = {}) => ({ type: 'object', properties })
const tool = (name, rest = {}) => ({ name, description: `does ${name}`, inputSchema: object(), ...rest })

const digest = createHash('sha256').update('bad x{y').digest('hex').slice(0, 8)

const LISTS = {
  schemas: () => [
    tool('good', {
      inputSchema: { ...object({ n: { type: 'integer' } }), required: ['n'], additionalProperties: false },
    }),
    tool('no_schema', { inputSchema: undefined }),
    tool('text_schema', { inputSchema: 'object' }),
    tool('list_schema', { inputSchema: { type: 'array', items: {} } }),
    tool('unknown_type', { inputSchema: object({ a: { type: 'float' } }) }),
    tool('bad_regex', { inputSchema: object({ a: { type: 'string', pattern: '(' } }) }),
    tool('slow_regex', { inputSchema: object({ a: { type: 'string', pattern: '^(a+)+$' } }) }),
    tool('remote_ref', { inputSchema: object({ a: { $ref: 'http://127.0.0.1:1/schema.json' } }) }),
    tool('recursive_ref', {
      inputSchema: {
        ...object({ tree: { $ref: '#/$defs/node' } }),
        $defs: {
          node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, additionalProperties: false },
        },
      },
    }),
    tool('exponential', {
      inputSchema: {
        ...object({ a: { $ref: '#/$defs/x' } }),
        $defs: {
          x: {
            anyOf: [
              { type: 'array', items: { $ref: '#/$defs/x' }, minItems: 1 },
              { type: 'array', items: { $ref: '#/$defs/x' }, maxItems: 9, minItems: 1 },
            ],
          },
        },
      },
    }),
    tool('huge', { inputSchema: object({ a: { type: 'string', description: 'x'.repeat(5_000_000) } }) }),
    tool('deep', { inputSchema: object({ a: nested(100) }) }),
    tool('draft_07', {
      inputSchema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        ...object({ a: { type: 'array', items: [{ type: 'string' }] } }),
      },
    }),
    tool('proto', {
      inputSchema: JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}',
      ),
    }),
    tool('no_type', { inputSchema: {} }),
    'not a tool',
    { description: 'no name' },
  ],
  names: () => [
    tool('a.b'),
    tool('a/b'),
    tool('a_b'),
    tool('twice', { description: 'the first' }),
    tool('twice', { description: 'the second' }),
    tool('x'.repeat(100)),
    tool(`${'x'.repeat(99)}y`),
    tool('größe \u001b[31m'),
  ],
  // The first has the name that is made for the second, because the second and the third would be the same.
  taken_names: () => [tool(`x_y_${digest}`), tool('x{y'), tool('x|y')],
  changing: () =>
    changed
      ? [
          tool('stays', {
            description: 'now does something else',
            inputSchema: { ...object({ m: { type: 'string' } }), required: ['m'] },
          }),
          tool('new'),
        ]
      : [tool('stays'), tool('goes'), tool('change')],
  restarting_changed: () => [tool('crash'), tool('ok', starts === 0 ? {} : { description: 'another description' })],
  annotated: () => [
    tool('reads', { annotations: { readOnlyHint: true } }),
    tool('again', { annotations: { idempotentHint: true } }),
    tool('writes', { description: `long ${'d'.repeat(5000)}` }),
    tool('hidden', { description: 'be\u200b nice\u0007\u{e0041}' }),
  ],
}
let changed = false
function nested(n) {
  return n === 0 ? {} : { type: 'object', properties: { a: nested(n - 1) } }
}
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const list = () =>
  (
    LISTS[behaviour] ??
    (() =>
      [
        'crash',
        'hang',
        'big',
        'many',
        'ok',
        'endless',
        'wrong',
        'structured',
        'odd',
        'env',
        'progress',
        'roots',
        'ask',
        'error',
        'cut',
        'deaf',
      ].map((name) =>
        tool(
          name,
          name === 'structured' ? { outputSchema: { ...object({ n: { type: 'integer' } }), required: ['n'] } } : {},
        ),
      ))
  )()

const CALLS = {
  crash: () => process.exit(3),
  hang: () => undefined,
  big: ({ bytes }) => text('x'.repeat(bytes)),
  many: ({ blocks }) => ({ content: Array.from({ length: blocks }, () => ({ type: 'text', text: 'y'.repeat(1000) })) }),
  ok: () => text('fine'),
  wrong: () => ({ content: 'no list' }),
  structured: ({ value }) => ({ content: [], ...(value === undefined ? {} : { structuredContent: value }) }),
  odd: () => ({
    content: [
      { type: 'text', text: 'words' },
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(12_345).toString('base64') },
      { type: 'audio', mimeType: 'audio/wav', data: Buffer.alloc(10).toString('base64') },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b.txt', text: 'inside b' } },
      { type: 'resource', resource: { uri: 'file:///c.bin', mimeType: 'application/zip', blob: 'AAAA' } },
      { type: 'hologram' },
    ],
  }),
  env: () => text(JSON.stringify(process.env)),
  error: () => ({ isError: true, ...text('it went wrong') }),
  change: () => {
    changed = true
    send({ method: 'notifications/tools/list_changed' })
    return text('changed')
  },
  cut: () => ({
    content: [
      { type: 'image', mimeType: 'image/png', data: 'A'.repeat(20_000_000) },
      { type: 'text', text: 'the end' },
    ],
  }),
}

if (behaviour === 'crash_at_start') {
  process.stderr.write('no license found\n')
  process.exit(7)
}
if (behaviour === 'ignores_sigterm') {
  process.on('SIGTERM', () => note('sigterm'))
  setInterval(() => {}, 1000)
}
if (behaviour === 'half_a_line') process.stdout.write('x'.repeat(1000))
if (behaviour === 'noise') process.stdout.write('Server listening on stdio!\n{"a":1}\n[1,2\n\n')
if (behaviour === 'flood') {
  let n = 0
  const more = () => {
    for (let i = 0; i < 500; i++)
      send({ method: 'notifications/message', params: { level: 'info', data: `line ${n++}` } })
    if (n < 100_000) setImmediate(more)
  }
  more()
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  note(
    `${method}${params?.name ? ` ${params.name}` : ''}${params?.requestId !== undefined ? ` ${params.requestId}` : ''}`,
  )
  if (behaviour === 'dies_when_probed' && method === 'server/discover') process.exit(1)
  if (behaviour === 'silent_when_probed' && method === 'server/discover') return
  if (behaviour === 'hang_at_start') return
  if (method === 'initialize') {
    const result = {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'bad', version: '1.2.3' },
      instructions: 'Be careful.',
    }
    send({ id, result })
    return
  }
  if (method === 'tools/list' && behaviour === 'endless_pages') {
    send({
      id,
      result: { tools: [tool(`t${params?.cursor ?? 0}`)], nextCursor: String(Number(params?.cursor ?? 0) + 1) },
    })
    return
  }
  if (method === 'tools/list' && behaviour === 'hang_at_list') return
  if (method === 'tools/list') return send({ id, result: { tools: list() } })
  if (method === 'tools/call') {
    const { name, arguments: args } = params
    if (behaviour === 'wrong_ids') return send({ id: id + 1000, result: text('for somebody else') })
    if (name === 'endless') {
      const write = () => process.stdout.write('y'.repeat(1 << 20), write)
      return write()
    }
    if (name === 'deaf') {
      lines.pause()
      process.stdin.pause()
      let n = 0
      const more = () => {
        for (let i = 0; i < 500; i++) send({ id: `ping ${n++}`, method: 'ping' })
        setImmediate(more)
      }
      return more()
    }
    if (name === 'progress') {
      for (const progress of [1, 2])
        send({
          method: 'notifications/progress',
          params: { progressToken: params._meta.progressToken, progress, total: 2, message: `step ${progress}` },
        })
      return send({ id, result: text('done') })
    }
    if (name === 'roots' || name === 'ask') {
      asked = id
      return send({
        id: 'q1',
        method: name === 'roots' ? 'roots/list' : 'sampling/createMessage',
        params: name === 'roots' ? {} : { messages: [], maxTokens: 1 },
      })
    }
    const result = (CALLS[name] ?? CALLS.ok)(args ?? {})
    if (result !== undefined) send({ id, result })
    return
  }
  if (id === 'q1') {
    const { result, error } = JSON.parse(line)
    return send({ id: asked, result: text(JSON.stringify(result ?? error)) })
  }
  if (id !== undefined) send({ id, error: { code: -32601, message: `no method ${method}` } })
})
let asked = null
lines.on('close', () => {
  note('stdin closed')
  if (behaviour !== 'ignores_sigterm') process.exit(0)
})
