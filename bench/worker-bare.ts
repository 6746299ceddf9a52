import { DBOS } from '@dbos-inc/dbos-sdk'
import { median } from './measure.js'

/** The same work on DBOS alone: workflows on a queue, a step for each event, nothing checked, chained or projected. */
const { url, children, steps, concurrency } = JSON.parse(process.argv[2] as string)
const QUIET = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} }
const CONTENT = 'x'.repeat(400)
const each_ms: number[] = []

const child = DBOS.registerWorkflow(
  async () => {
    for (let i = 0; i < steps; i++) {
      const began = performance.now()
      await DBOS.runStep(async () => ({ i, content: CONTENT }), { name: 'step' })
      each_ms.push(performance.now() - began)
    }
  },
  { name: 'child' },
)
DBOS.setConfig({ name: 'bare', systemDatabaseUrl: url, systemDatabaseSchemaName: 'bare', logger: QUIET })
await DBOS.launch()
await DBOS.registerQueue('bare', { workerConcurrency: concurrency, minPollingIntervalMs: 50 })
const began = performance.now()
const handles = []
for (let i = 0; i < children; i++) handles.push(await DBOS.startWorkflow(child, { queueName: 'bare' })())
for (const handle of handles) await handle.getResult()
const wall_ms = performance.now() - began
await DBOS.shutdown()
process.stdout.write(`${JSON.stringify({ wall_ms, step_ms: median(each_ms) })}\n`)
process.exit(0)
