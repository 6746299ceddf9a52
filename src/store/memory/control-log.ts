import type { ControlEvent } from '../../domain/index.js'
import {
  type ControlDraft,
  type ControlRow,
  controlEventOf,
  controlRows,
  findControlTampering,
  NO_CONTROL,
} from '../control-log.js'
import type { Store } from '../store.js'

export class MemoryControlLog {
  readonly #rows: ControlRow[] = []

  append(drafts: readonly ControlDraft[]): ControlEvent[] {
    const rows = controlRows(this.#head(), drafts)
    this.#rows.push(...rows)
    return rows.map(controlEventOf)
  }

  read({ after = 0, last }: NonNullable<Parameters<Store['readControl']>[0]>): ControlEvent[] {
    const from = last === undefined ? after : Math.max(after, this.#rows.length - last)
    return this.#rows.slice(from).map(controlEventOf)
  }

  verify() {
    return findControlTampering(this.#rows, this.#head())
  }

  #head() {
    return this.#rows.at(-1) ?? NO_CONTROL
  }
}
