import type { Retinue } from '../../index.js'
import { waitsToBeClosed } from '../attendance.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { unknownAgent } from '../show/unknown.js'

type CancelOptions = StoreOptions & { reason: string; json?: boolean }

/** A run, or one of its sub-agents with all below it. The root is the run. */
export async function cancel(id: string, agent: string | undefined, options: CancelOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id, status } = await retinue.find(id)
    const row = agent === undefined ? null : await findAgent(retinue, run_id, agent)
    const sub_agent = row?.parent_id ? row.agent_id : null
    // A sub-agent is the parent's to close, which nobody works on before the run is gone on with.
    const waits = sub_agent === null || (status === 'running' && row?.state !== 'closed')
    const nobody = waits ? await waitsToBeClosed(retinue, run_id, sub_agent === null) : null
    if (nobody !== null) {
      process.stderr.write(
        `retinue: ${nobody}. The first that comes closes it, also when this command is left with Ctrl-C meanwhile\n`,
      )
    }
    const result =
      sub_agent === null
        ? await retinue.cancel(run_id, 'person', options.reason)
        : await retinue.cancelAgent(run_id, sub_agent, 'person', options.reason)
    const already = sub_agent === null ? status === 'closed' : row?.state === 'closed'
    if (options.json) {
      const whose = sub_agent === null ? {} : { run_id, agent_id: sub_agent }
      process.stdout.write(`${JSON.stringify({ type: 'result', ...whose, ...result })}\n`)
    } else {
      const who = sub_agent === null ? `Run ${run_id}` : `Agent ${sub_agent} of run ${run_id}`
      process.stdout.write(`${who} ${already ? 'was closed already' : 'is closed'}: ${result.outcome}\n`)
    }
    return 0
  })
}

async function findAgent(retinue: Retinue, run_id: string, id: string) {
  const rows = await retinue.agents(run_id)
  const row = rows.find(({ agent_id }) => agent_id === id)
  if (row) return row
  throw unknownAgent(
    run_id,
    id,
    rows.map(({ agent_id }) => agent_id),
  )
}
