/** The log and the control-plane records: the interface, SQLite and memory. */
export { blobDigest, eventDigest } from './digest.js'
export { createMemoryStore } from './memory/index.js'
export { eventPages } from './pages.js'
export { openSqliteStore } from './sqlite/open.js'
export type * from './store.js'
