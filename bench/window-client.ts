/**
 * Two browsers, in a process of their own so that their work is not counted as the server's. For each line with the id
 * of a run they watch it to its end, and say how many events each has seen once and in order.
 */
const [url, token] = process.argv.slice(2)

async function watch(run_id: string): Promise<number> {
  const response = await fetch(`${url}/api/runs/${run_id}/live`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
  const decoder = new TextDecoder()
  let rest = ''
  let seen = 0
  for await (const chunk of response.body) {
    const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      if (message.startsWith('event: end')) return seen
      if (!message.startsWith('event: events')) continue
      const events = JSON.parse(message.slice(message.indexOf('data: ') + 6)) as { position: number }[]
      for (const { position } of events) {
        if (position !== seen + 1) throw new Error(`event ${position} came after ${seen}`)
        seen = position
      }
    }
  }
  throw new Error(`the stream ended after ${seen} events`)
}

process.stdout.write('ready\n')
process.stdin.on('data', async (line: Buffer) => {
  const run_id = line.toString().trim()
  const seen = await Promise.all([watch(run_id), watch(run_id)])
  process.stdout.write(`${JSON.stringify(seen)}\n`)
})
process.stdin.on('end', () => process.exit(0))
