import type { Dispatch } from '../../engine/index.js'
import type { Signal } from '../../store/index.js'
import { ROOT } from '../runs/reader.js'

/**
 * Has agents of runs that workers have worked on when something was said to them, for whoever rests does not hear it: also
 * in a process that gives the workers none of its own.
 */
export class Waker {
  #dispatch: Promise<Dispatch> | null = null

  /** `open` null: there is no database in which workers would hear of it. */
  constructor(private readonly open: (() => Promise<Dispatch>) | null) {}

  /** However often the same is said, it is woken for it once. */
  async wake({ run_id, kind }: Pick<Signal, 'run_id' | 'kind'>, about: string): Promise<void> {
    if (this.open === null) return
    this.#dispatch ??= this.open()
    const closes = kind === 'cancel' || kind === 'cancel_agent'
    await (await this.#dispatch).wake({ run_id, agent_id: about || ROOT, why: kind, closes })
  }

  async close(): Promise<void> {
    const opened = await this.#dispatch?.catch(() => null)
    await opened?.close()
  }
}
