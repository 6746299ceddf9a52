import type { Retinue } from '../../src/index.js'
import { TREE_SETTINGS } from './tree-run.js'

/** With more time than a busy machine takes. */
const SLOW = { budget: { wall_ms: 600_000 } }

export const BUSY_SETTINGS = {
  ...TREE_SETTINGS,
  workspace: { isolation: 'shared' as const },
  delegation: { profiles: { slow: SLOW, lead: { ...SLOW, can_spawn_children: true } } },
}

/** `lead` waits for one below it; it and all others of the root's are in a command, unless they have another model. */
export function busyScript(mark: string, spawns: readonly string[], lead: string): string {
  const command = JSON.stringify(`sleep ${mark}`)
  return `
agents:
  root:
    - calls:
${spawns.map((spawn) => `        - spawn: { ${spawn} }`).join('\n')}
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: "All done."
  ${lead}:
    - calls:
        - spawn_agent: { task: Run below, profile: slow }
    - text: Led.
  "a*":
    - calls:
        - run_command: { command: ${command}, timeout_ms: 300000 }
    - text: Ran.
`
}

/** Who has the leases of these agents. */
export function ownersOf(face: Retinue, run_id: string, ids: string[]): Promise<(string | undefined)[]> {
  return Promise.all(ids.map(async (id) => (await face.store.lease(run_id, id))?.owner))
}
