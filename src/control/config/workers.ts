import { z } from 'zod'
import { labelsSchema, WORKER_BOUNDS } from '../../domain/index.js'
import { setting } from './setting.js'

/** What this machine is for others, and what its workers keep to. null: no limit. */
export type WorkerSettings = {
  concurrency: number | null
  labels: string[]
  at_once: number | null
  per_run: number | null
}

export const WORKER_DEFAULTS: WorkerSettings = { concurrency: null, labels: [], at_once: null, per_run: null }

/** Only the person says it: it is about their machines. */
export function workersSetting() {
  const [least, most] = WORKER_BOUNDS
  const count = () => z.int().min(least).max(most)
  return setting(
    z.strictObject({
      concurrency: setting(count(), 'Agents at work at once on one worker, on all its queues together.', {
        default_text: '`delegation.max_concurrent`',
        examples: [8],
      }),
      labels: setting(
        labelsSchema,
        'What this machine has that others have not, as plain names. Sub-agents can ask for a worker with one of them, and ' +
          'with the engine `local` those that ask for another are refused.',
        { default_text: 'none', examples: [['gpu', 'office']] },
      ),
      at_once: setting(count(), 'Agents at work at once on all workers of a folder. Those with a label count apart.', {
        default_text: 'no limit',
        examples: [32],
      }),
      per_run: setting(count(), 'The same of one run.', { default_text: 'no limit', examples: [4] }),
    }),
    'What this machine has, and what its [workers](workers.md) keep to. The options of `retinue worker` stand before it.',
    { user_only: true },
  )
}

/** What one file says. */
export type WorkersSetting = z.infer<ReturnType<typeof workersSetting>>
