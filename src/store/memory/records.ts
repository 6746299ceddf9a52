import type { ControlRecord, PutResult, Store } from '../store.js'

type Version = Omit<ControlRecord, 'value'> & { value: string | null }

/** Every version there ever was, by type and id. A deletion is one without a value. */
export class MemoryRecords {
  readonly #types = new Map<string, Map<string, Version[]>>()

  constructor(readonly clock: { now(): number }) {}

  find(type: string, id: string): ControlRecord | null {
    const latest = this.#versions(type, id).at(-1)
    return latest && latest.value !== null ? recordOf(latest) : null
  }

  list(type: string): ControlRecord[] {
    const ids = [...(this.#types.get(type)?.keys() ?? [])].sort()
    return ids.flatMap((id) => this.find(type, id) ?? [])
  }

  history(type: string, id: string): ControlRecord[] {
    return this.#versions(type, id).map(recordOf)
  }

  put({ type, id, value, by, expected_version }: Parameters<Store['putRecord']>[0]): PutResult {
    const current = this.find(type, id)?.version ?? 0
    if (current !== expected_version) return { ok: false, code: 'version_mismatch', current }
    return this.#add(type, id, by, JSON.stringify(value ?? null))
  }

  delete({ type, id, by, expected_version }: Parameters<Store['deleteRecord']>[0]): PutResult {
    const current = this.find(type, id)?.version ?? 0
    if (current === 0 || current !== expected_version) return { ok: false, code: 'version_mismatch', current }
    return this.#add(type, id, by, null)
  }

  #add(type: string, id: string, by: string, value: string | null): PutResult {
    const versions = this.#versions(type, id)
    const added = { type, id, version: versions.length + 1, value, at: this.clock.now(), by }
    const ids = this.#types.get(type) ?? new Map<string, Version[]>()
    this.#types.set(type, ids.set(id, [...versions, added]))
    return { ok: true, record: recordOf(added) }
  }

  #versions(type: string, id: string): Version[] {
    return this.#types.get(type)?.get(id) ?? []
  }
}

function recordOf(version: Version): ControlRecord {
  return { ...version, value: version.value === null ? null : JSON.parse(version.value) }
}
