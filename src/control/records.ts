import type { ControlEvent, ControlRecord, NewControlEvent, PutResult } from '../domain/index.js'

/** Of the store, what the control plane keeps its records and its log in. */
export interface Records {
  record(type: string, id: string): Promise<ControlRecord | null>
  records(type: string): Promise<ControlRecord[]>
  recordHistory(type: string, id: string): Promise<ControlRecord[]>
  putRecord(record: {
    type: string
    id: string
    value: unknown
    by: string
    expected_version: number
  }): Promise<PutResult>
  deleteRecord(record: { type: string; id: string; by: string; expected_version: number }): Promise<PutResult>
  appendControl(events: readonly NewControlEvent[]): Promise<ControlEvent[]>
  readControl(query?: { after?: number; last?: number }): Promise<ControlEvent[]>
}
