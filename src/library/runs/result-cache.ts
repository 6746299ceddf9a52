import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Contract, type DelegationRequest, resultSchema } from '../../domain/index.js'
import type { Workspace } from '../../host/index.js'
import type { Reuse } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import type { Files } from '../../workspaces/index.js'

/** Under this type the store has results that may be used again in their session. */
const RESULTS = 'delegation_result'

/** Files of which it is cheap enough to tell whether they are as they were. */
const MAX_FILES = 200

const keptSchema = z.strictObject({
  from: z.strictObject({ run_id: z.string(), agent_id: z.string() }),
  result: resultSchema,
  /** What it had read, as that was when it was done. */
  files: z.array(z.strictObject({ path: z.string(), digest: z.string() })),
})

/**
 * Results of sub-agents that changed nothing, for whoever asks for the same in the same session. What they looked at is
 * compared where they look at it: the folder, or the tree of their parent, wherever that is.
 */
export class ResultCache {
  constructor(
    private readonly store: Store,
    private readonly session_id: string,
  ) {}

  /** A result that came with changes, or whose grounds cannot be looked at again, is not kept. */
  async keep(cache_key: string, { from, result }: Reuse, { workspace }: Files): Promise<void> {
    if (result.files_read.length > MAX_FILES || !(await this.#onlyLooked(from))) return
    const files = await digests(workspace, result.files_read)
    if (files === null) return
    const id = this.#id(cache_key)
    // One that does not hold any more gives way. Whoever was faster in between had the same to say.
    const expected_version = (await this.store.record(RESULTS, id))?.version ?? 0
    await this.store.putRecord({ type: RESULTS, id, value: { from, result, files }, by: 'runtime', expected_version })
  }

  /** null: there is none, or what it was found in is not what it was. */
  async earlier(cache_key: string, { workspace }: Files): Promise<Reuse | null> {
    const record = await this.store.record(RESULTS, this.#id(cache_key))
    const kept = keptSchema.safeParse(record?.value)
    if (!kept.success) return null
    const { from, result, files } = kept.data
    const now = await digests(
      workspace,
      files.map(({ path }) => path),
    )
    return now !== null && JSON.stringify(now) === JSON.stringify(files) ? { from, result } : null
  }

  #id(cache_key: string): string {
    return `${this.session_id}:${cache_key}`
  }

  /** Goes by its calls: what commands, other programs and its own sub-agents read and changed is in no list. */
  async #onlyLooked({ run_id, agent_id }: Reuse['from']): Promise<boolean> {
    const events = await this.store.read({ run_id, agent_id })
    return events.every(
      (event) => event.type !== 'tool.called' || event.data.effect === 'read' || event.data.effect === 'fetch',
    )
  }
}

/** null where one of them cannot be read. */
async function digests(
  workspace: Workspace,
  paths: readonly string[],
): Promise<{ path: string; digest: string }[] | null> {
  const files: { path: string; digest: string }[] = []
  for (const path of paths) {
    const file = await workspace.digest(path)
    if (!file.ok || file.digest === null) return null
    files.push({ path, digest: file.digest })
  }
  return files
}

/**
 * Names what a sub-agent would do: its task and contract, but for what only says where in the tree it is. null: its
 * result is not kept. Checks that are commands look at the work as it is now, so they are made for each anew.
 */
export function cacheKey(contract: Contract, task: string, { checks = [] }: DelegationRequest): string | null {
  if (checks.some(({ kind }) => kind === 'command')) return null
  const { permissions, model, execution, workspace, agent, step } = contract
  const { wall_ms, total_tokens, cost_usd, sub_agents, ...own } = execution.budget
  const { label } = execution
  const what = [task, permissions, model, own, workspace, agent, step, ...(label === undefined ? [] : [label])]
  return createHash('sha256').update(JSON.stringify(what)).digest('hex')
}
