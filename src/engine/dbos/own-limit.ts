type Running = (this: unknown, queue: string) => number
type Records = (this: unknown, ...args: unknown[]) => Promise<{ name: string; workerConcurrency: number | null }[]>
type Patched = { countRunningWorkflowsForQueue: Running; listQueues: Records }

/**
 * How many workflows this process has under way at once, on all its queues together. DBOS has such a limit for each queue
 * alone, and one number of it for all workers, which is kept with the queue. It counts what is under way whenever it looks
 * for more: here what is counted is that of all the queues, and the number is this worker's own. With one look at a time
 * (`maxConcurrentQueueDispatches`) no two can count the same place as free. To be called before it begins to look; the
 * version of DBOS is fixed in package.json, because this reaches into it. Answers with what undoes it.
 */
export async function limitHere(queues: readonly string[], limit: number): Promise<() => void> {
  const { SystemDatabase } = await import('@dbos-inc/dbos-sdk/internal/system_database')
  const database = SystemDatabase.prototype as unknown as Patched
  const { countRunningWorkflowsForQueue: running, listQueues: records } = database
  if (typeof running !== 'function' || typeof records !== 'function') {
    throw new Error('This version of DBOS does not say what a worker has under way: install the one that Retinue names')
  }
  database.countRunningWorkflowsForQueue = function (queue) {
    if (!queues.includes(queue)) return running.call(this, queue)
    return queues.reduce((all, one) => all + running.call(this, one), 0)
  }
  database.listQueues = async function (...args) {
    const found = await records.apply(this, args)
    return found.map((queue) => (queues.includes(queue.name) ? { ...queue, workerConcurrency: limit } : queue))
  }
  return () => Object.assign(database, { countRunningWorkflowsForQueue: running, listQueues: records })
}
