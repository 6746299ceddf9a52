import type { Run } from '../api.js'
import { RetinueError } from '../errors.js'

/** Leaves a run to the workers as soon as they have it. Rejects with what kept it from that; one of this process goes on here. */
export async function leaveToWorkers(run: Run): Promise<void> {
  if (run.engine !== 'dbos') {
    throw new RetinueError(
      'config',
      `Run ${run.run_id} is worked on in this process, and there are no workers to leave it to: create Retinue with engine: 'dbos'`,
    )
  }
  run.leave('left to the workers')
  try {
    await run.result()
  } catch (error) {
    if (!(error instanceof RetinueError && error.code === 'abandoned')) throw error
  }
}
