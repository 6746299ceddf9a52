import { appliedInWords } from '../../index.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { line } from '../style.js'

type ApplyOptions = StoreOptions & { commit?: boolean; json?: boolean }

/** Brings what a run, or one of its sub-agents, has kept on a branch into the folder. */
export async function apply(id: string, agent_id: string | undefined, options: ApplyOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id } = await retinue.find(id)
    const whose = agent_id === undefined ? {} : { agent_id }
    const applied = await retinue.apply(run_id, { ...whose, commit: options.commit === true })
    if (options.json) process.stdout.write(`${JSON.stringify({ run_id, ...whose, ...applied })}\n`)
    else process.stdout.write(`${line(appliedInWords(applied))}\n`)
    return EXIT.ok
  })
}
