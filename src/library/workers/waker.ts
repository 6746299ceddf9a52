import type { Dispatch } from '../../engine/index.js'
import type { Signal } from '../../store/index.js'
import { ROOT } from '../runs/reader.js'

/** For whoever gives the workers nothing: whose queues have a run is in its log. */
export const NOWHERE = { project: 'nowhere', checkout: 'nowhere' }

/**
 * Has agents of runs that workers have worked on when something was said to them, for whoever rests does not hear it: also
 * in a process that gives the workers none of its own.
 */
export class Waker {
  #dispatch: Dispatch | null = null

  /** `open` null: there is no database in which workers would hear of it. */
  constructor(private readonly open: (() => Dispatch) | null) {}

  /** However often the same is said, it is woken for it once. */
  async wake({ run_id, kind }: Pick<Signal, 'run_id' | 'kind'>, about: string): Promise<void> {
    if (this.open === null) return
    this.#dispatch ??= this.open()
    const closes = kind === 'cancel' || kind === 'cancel_agent'
    await this.#dispatch.wake({ run_id, agent_id: about || ROOT, why: kind, closes })
  }

  async close(): Promise<void> {
    await this.#dispatch?.close()
  }
}
