import { startLoopback } from '../test/support/loopback/index.js'

/** The model of the benchmarks, in a process of its own so that its work is not counted as ours. */
const calls = Number(process.argv[2])
const steps = [
  ...Array.from({ length: calls }, (_, i) => ({
    text: `Step ${i}.`,
    calls: [{ name: 'read_file', args: { path: `file-${i % 4}.txt` } }],
    usage: { input_tokens: 500 + i, output_tokens: 20 },
  })),
  { text: 'Done.', usage: { input_tokens: 900, output_tokens: 5 } },
]
const server = await startLoopback({ protocol: 'chat', steps, record: false })
process.stdout.write(`${server.url}\n`)
process.stdin.on('end', () => process.exit(0)).resume()
