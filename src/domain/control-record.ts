/** A control-plane record: versioned, changed by compare-and-set, with its history. */
export type ControlRecord = { type: string; id: string; version: number; value: unknown; at: number; by: string }

export type PutResult = { ok: true; record: ControlRecord } | { ok: false; code: 'version_mismatch'; current: number }
