import type { Run } from '../api.js'
import { RetinueError } from '../errors.js'

/** Leaves a run to the workers as soon as they have it. Rejects with what kept it from beginning. */
export async function leaveToWorkers(run: Run): Promise<void> {
  run.leave('left to the workers')
  try {
    await run.result()
  } catch (error) {
    if (!(error instanceof RetinueError && error.code === 'abandoned')) throw error
  }
}
