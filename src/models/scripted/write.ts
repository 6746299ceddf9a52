import { isDeepStrictEqual } from 'node:util'
import type { AgentEvent } from '../../domain/index.js'
import { scriptOf } from './record.js'
import type { Script } from './script.js'

/** A run's log as the text of a script, for `--record`. */
export async function recordScript(events: readonly AgentEvent[]): Promise<string> {
  const start = events.find((event) => event.type === 'agent.started')
  const { provider, model } = start?.data.contract.model ?? { provider: 'no', model: 'model' }
  const about = `Recorded from run ${start?.run_id ?? 'none'} on ${provider}/${model}.`
  return `# ${about.replace(/\s+/g, ' ')}\n${await writeScript(scriptOf(events))}`
}

/** A script as text that `readScript` takes: as YAML, or as JSON where YAML does not give back the same (as for " \n"). */
export async function writeScript(script: Script): Promise<string> {
  const { parse, stringify } = await import('yaml')
  const text = stringify(script, { lineWidth: 0, aliasDuplicateObjects: false })
  return isDeepStrictEqual(parse(text), script) ? text : `${JSON.stringify(script, null, 2)}\n`
}
