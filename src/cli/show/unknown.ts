import { RetinueError } from '../../index.js'

const MAX_NAMED = 20

/** Says which agents there are to whoever named another. */
export function unknownAgent(run_id: string, id: string, ids: readonly string[]): RetinueError {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  const known = `${ids.slice(0, MAX_NAMED).join(', ')}${more}`
  return new RetinueError('not_found', `Run ${run_id} has no agent "${id}". It has: ${known}`)
}
