import type { Principal, Records, Redactor } from '../domain/index.js'
import type { Catalog } from './profiles/catalog.js'

/** Who asks the control plane for something, from where, and what it works on. */
export type ControlPlace = {
  records: Records
  /** As it is now: files and records change. */
  catalog: () => Promise<Catalog>
  principal: Principal
  /** As `workspaceId` makes it. */
  workspace: string
  /** The conversation in which it is asked, if any. */
  session_id: string | null
  /** null: there is no such session. `owner` null: nobody's name is on it. */
  session: (session_id: string) => Promise<{ owner: string | null } | null>
  redactor: Pick<Redactor, 'redact' | 'redactAll' | 'findIn'>
  now: () => number
  new_id: () => string
}
