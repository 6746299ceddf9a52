import { type StoreOptions, withRetinue } from '../open.js'

export async function cancel(id: string, options: StoreOptions & { reason: string; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const before = await retinue.find(id)
    const result = await retinue.cancel(before.run_id, 'person', options.reason)
    if (options.json) process.stdout.write(`${JSON.stringify({ type: 'result', ...result })}\n`)
    else if (before.status === 'closed')
      process.stdout.write(`Run ${before.run_id} was closed already: ${result.outcome}\n`)
    else process.stdout.write(`Run ${before.run_id} is closed: ${result.outcome}\n`)
    return 0
  })
}
