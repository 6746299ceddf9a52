import { isOpen, type Redactor } from '../../domain/index.js'
import { AT_REST, type Engine, leaveResting, type PauseSignal } from '../../engine/index.js'
import type { Lease, Store } from '../../store/index.js'
import type { RunSummary, WaitOptions } from '../api.js'
import { RetinueError } from '../errors.js'
import { isProgram } from '../programs/programs.js'
import type { Asking } from './asking.js'
import { ROOT, type RunReader } from './reader.js'

/** States in which an agent is worked on. */
const AT_WORK = new Set(['created', 'running'])

type Parts = {
  store: Store
  engine: Engine
  reader: RunReader
  redactor: Redactor
  asking: Asking
  new_id: () => string
  /** Whether workers go on with it by themselves. */
  isForWorkers: (run_id: string) => Promise<boolean>
}

/** Has runs paused, wherever they are worked on, and waits until they are. */
export class Pauses {
  constructor(private readonly parts: Parts) {}

  async pause(run_id: string, by: string, reason: string, { signal }: WaitOptions = {}): Promise<RunSummary> {
    const run = await this.parts.reader.find(run_id)
    const { run_id: id } = run
    // Workers take up what one of them left when it died, unless it is said before.
    if (run.status === 'closed' || (run.status !== 'running' && !(await this.#isTakenUp(id)))) return run
    if (await this.#isCancelled(id)) {
      throw new RetinueError(
        'conflict',
        `Run ${id} is being cancelled, which is more: whoever works on it next closes it`,
      )
    }
    const { memory } = await this.parts.reader.root(id)
    const finishes = isProgram(memory.contract)
    const data: PauseSignal = { ask: this.parts.new_id(), reason: this.parts.redactor.redact(reason), finishes }
    const before = await this.parts.store.lastSignal()
    return this.parts.asking.until({ run_id: id, kind: 'pause', data, by }, signal, async () => {
      const now = await this.parts.reader.find(id)
      if (now.status === 'closed') return now
      const said = await this.parts.store.signals({ run_id: id, after: before })
      if (said.some(({ kind }) => kind === 'resume')) {
        throw new RetinueError('conflict', `Somebody went on with run ${id} before it was paused`)
      }
      return (await this.#isLeft(id, finishes)) ? this.parts.reader.find(id) : null
    })
  }

  /** Whether a run is being cancelled by a word that whoever works on it next hears, too. Without workers that is not heard. */
  async #isCancelled(run_id: string): Promise<boolean> {
    if (!(await this.parts.isForWorkers(run_id))) return false
    return (await this.parts.store.signals({ run_id, after: 0 })).some(({ kind }) => kind === 'cancel')
  }

  /** Whether nobody works on a run any more that is to be paused. Whoever rests does not hear of it, and is let go of here. */
  async #isLeft(run_id: string, finishes: boolean): Promise<boolean> {
    const { store, engine } = this.parts
    // What its sub-agents finish is for the root agent to join, wherever it is taken up for that.
    if (!finishes) await leaveResting(store, run_id, 'all')
    else if (!(await this.#hasBegun(run_id))) await leaveResting(store, run_id, [ROOT])
    else if (await this.#isTakenUp(run_id)) return false
    const leases = (await store.agents(run_id))
      .filter(({ agent_id, state }) => agent_id === ROOT || AT_WORK.has(state))
      .map(({ agent_id }) => store.lease(run_id, agent_id))
    const isAtWork = (lease: Lease) => {
      // Those that wait for others do so until somebody goes on with the root.
      const waits = finishes && lease.agent_id !== ROOT && lease.owner === AT_REST
      return engine.isHeld(lease) && !waits
    }
    return !(await Promise.all(leases)).some((lease) => lease && isAtWork(lease))
  }

  /** Whether the root agent has anything to join. Who has not begun does not while the run is paused. */
  async #hasBegun(run_id: string): Promise<boolean> {
    const { store, reader } = this.parts
    const open = (await reader.root(run_id)).memory.children.filter(isOpen)
    const unbegun = (await store.agents(run_id)).filter(({ state }) => state === 'created').map((row) => row.agent_id)
    return open.some(({ id, repairs }) => repairs !== null || !unbegun.includes(id))
  }

  /** Whether workers go on with a run by themselves, though whoever had it last may be dead: nobody has let go of it. */
  async #isTakenUp(run_id: string): Promise<boolean> {
    return (await this.parts.isForWorkers(run_id)) && (await this.parts.store.lease(run_id, ROOT))?.expires_at !== 0
  }
}
