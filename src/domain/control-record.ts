import type { ControlEvent, NewControlEvent } from './control-events.js'

/** A control-plane record: versioned, changed by compare-and-set, with its history. */
export type ControlRecord = { type: string; id: string; version: number; value: unknown; at: number; by: string }

export type PutResult = { ok: true; record: ControlRecord } | { ok: false; code: 'version_mismatch'; current: number }

/** Of a store, what the control plane keeps its records and its log in. */
export interface Records {
  record(type: string, id: string): Promise<ControlRecord | null>
  records(type: string): Promise<ControlRecord[]>
  /** Every version, oldest first; a deletion is a version with the value null. */
  recordHistory(type: string, id: string): Promise<ControlRecord[]>
  /** expected_version 0: it must not exist now. Version numbers go on after a deletion. */
  putRecord(record: {
    type: string
    id: string
    value: unknown
    by: string
    expected_version: number
  }): Promise<PutResult>
  deleteRecord(record: { type: string; id: string; by: string; expected_version: number }): Promise<PutResult>

  /** The control log, which belongs to no run: all or nothing, in order, durable when it answers. */
  appendControl(events: readonly NewControlEvent[]): Promise<ControlEvent[]>
  /** After a position, oldest first; with `last`, only so many of the newest. */
  readControl(query?: { after?: number; last?: number }): Promise<ControlEvent[]>
}
