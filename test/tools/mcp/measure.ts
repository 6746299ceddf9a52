// Run by memory.test.ts in a process of its own: connects to the bad server, makes one call, and prints by how much the
// memory of this process grew at most.
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createHost } from '../../../src/host/index.js'
import { connectServers } from '../../../src/tools/mcp/connect.js'
import { DEFAULT_LIMITS, type ToolContext } from '../../../src/tools/tool.js'

const [server = '', tool = '', args = '{}'] = process.argv.slice(2)
const root = realpathSync(tmpdir())
const settings = server.startsWith('http') ? { url: server } : { command: process.execPath, args: [server, 'plain'] }
const connections = await connectServers([{ name: 'bad', settings, trusted: true }], {
  servers: createHost().servers,
  root,
  env: process.env,
  client_info: { name: 'measure', version: '0' },
})
const called = connections.tools.find(({ name }) => name === `mcp__bad__${tool}`)
const context = { limits: DEFAULT_LIMITS, signal: new AbortController().signal, onProgress: () => {} } as unknown
const before = process.memoryUsage.rss()
const output = await called?.execute(JSON.parse(args), context as ToolContext, { summary: '', paths: [] })
const grown_mb = Math.round(process.resourceUsage().maxRSS / 1024 - before / 1024 / 1024)
await connections.close()
process.stdout.write(`${JSON.stringify({ grown_mb, ok: output?.ok, chars: output?.content.length })}\n`)
