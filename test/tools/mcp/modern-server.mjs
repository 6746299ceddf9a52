// A server of the newest kind, made with the official library: it asks for what it needs in its answers, and speaks of
// changes where they were subscribed to.
import { inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'modern', version: '9.9.9' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool(
    'add',
    {
      description: 'adds',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  )
  server.registerTool('where', { description: 'asks for the roots', inputSchema: z.object({}) }, async (_, context) => {
    const answered = context.mcpReq.inputResponses?.roots
    if (!answered) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
    return { content: [{ type: 'text', text: JSON.stringify(answered) }] }
  })
  server.registerTool('think', { description: 'wants a model', inputSchema: z.object({}) }, async () =>
    inputRequired({
      inputRequests: {
        answer: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
          maxTokens: 5,
        }),
      },
    }),
  )
  const goes = server.registerTool('goes', { description: 'goes away', inputSchema: z.object({}) }, async () => ({
    content: [],
  }))
  server.registerTool('change', { description: 'takes a tool away', inputSchema: z.object({}) }, async () => {
    goes.remove()
    return { content: [{ type: 'text', text: 'changed' }] }
  })
  server.registerTool('slow', { description: 'waits', inputSchema: z.object({}) }, async (_, context) => {
    await new Promise((resolve) => context.mcpReq.signal.addEventListener('abort', resolve))
    process.stderr.write('cancelled\n')
    return { content: [] }
  })
  return server
})
