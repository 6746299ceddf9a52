import type { ListedRun, Retinue, RunSummary } from '../api.js'

/** A run as it is listed: whoever looks at many wants to know which of them wait for a person. */
export async function listedRun(retinue: Pick<Retinue, 'questions'>, run: RunSummary): Promise<ListedRun> {
  if (run.status !== 'running') return { ...run, asks: 0 }
  // A log that cannot be read is told of where it is opened; the list is there all the same.
  const asks = await retinue.questions(run.run_id).then(
    (open) => open.length,
    () => 0,
  )
  return { ...run, asks }
}
