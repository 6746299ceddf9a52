import type { AgentMemory, Child } from '../../domain/index.js'
import type { WorkerEngine } from '../../engine/index.js'
import type { Host, TreeResult } from '../../host/index.js'
import type { Above } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import type { Files, RunTrees, TreeOwner } from '../../workspaces/index.js'
import { RetinueError } from '../errors.js'
import type { NotAdmitted } from '../runs/children.js'
import type { Preparation } from '../runs/preparation.js'
import type { Memories } from './memories.js'

/** How soon it is looked again whether an agent may write. It is said that it waits after so many looks. */
const ADMITTED_MS = 50
const AWAITS_AFTER = 10

type Parts = {
  host: Host
  store: Store
  engine: WorkerEngine
  preparation: Preparation
  memories: Memories
}

/** What a sub-agent has of its parent, which may be on another machine: what it reads, and whether it may write. */
export class Parents {
  constructor(private readonly parts: Parts) {}

  /** `reads`: it looks at what its parent has. One with a tree of its own does not, nor one that is only closed. */
  async above(parent: AgentMemory, child: Child, trees: RunTrees, reads: boolean): Promise<Above> {
    const reader = { agent_id: child.id, is_root: false }
    const files = reads ? await this.#filesOf(parent, trees, reader) : await this.parts.preparation.folder()
    return {
      files: () => files,
      at_once: child.repairs !== null,
      admit: (signal, onWait) => this.#askToWrite(parent, child.id, signal, onWait),
    }
  }

  /**
   * What an agent works in: its own tree, else what the one above it works in. Where that is in another checkout, its
   * sub-agent reads a copy.
   */
  async #filesOf(memory: AgentMemory, trees: RunTrees, reader: TreeOwner): Promise<Files> {
    const { run_id, agent_id, contract, tree } = memory
    const above = contract.parent.agent_id
    if (tree !== null) {
      const owner = { agent_id, is_root: above === null }
      const found = await trees.look(reader, owner, tree)
      if (!found.ok) throw new RetinueError('input', `The files of ${agent_id} cannot be had here: ${found.message}`)
      return found.tree.files
    }
    const parent = above === null ? null : await this.parts.memories.of(run_id, above)
    return parent ? this.#filesOf(parent, trees, reader) : this.parts.preparation.folder()
  }

  /** Asks the parent, wherever that is; it lets one write by an event of its own. */
  async #askToWrite(
    parent: AgentMemory,
    agent_id: string,
    signal: AbortSignal,
    onWait: (behind: string[]) => void,
  ): Promise<TreeResult<{ base: string }>> {
    const { run_id } = parent
    const { store, engine } = this.parts
    const known = await this.admission(run_id, parent.agent_id, agent_id)
    if (known) return known
    await store.signal({ run_id, kind: 'admit', data: { agent_id }, by: 'runtime' })
    await engine.tell(run_id, parent.agent_id, `admit-${agent_id}`)
    for (let looks = 0; ; looks++) {
      // The parent knows behind whom it waits; here it is enough that it is not its own time.
      if (looks === AWAITS_AFTER) onWait([parent.agent_id])
      const admission = await this.admission(run_id, parent.agent_id, agent_id)
      if (admission) return admission
      if (signal.aborted) return { ok: false, code: 'failed', message: 'it was stopped while it waited to write' }
      await this.parts.host.clock.sleep(ADMITTED_MS, signal)
    }
  }

  async admission(run_id: string, parent_id: string, agent_id: string): Promise<TreeResult<{ base: string }> | null> {
    const { store } = this.parts
    const parent = await this.parts.memories.of(run_id, parent_id)
    const base = parent?.children.find(({ id }) => id === agent_id)?.base ?? null
    if (base !== null) return { ok: true, base }
    const signals = await store.signals({ run_id, after: 0 })
    const told = signals.find(
      ({ kind, data }) => kind === 'not_admitted' && (data as NotAdmitted).agent_id === agent_id,
    )
    if (!told) return null
    const { code, message } = told.data as NotAdmitted
    return { ok: false, code, message }
  }
}
