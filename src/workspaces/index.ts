export type { Files } from './files.js'
export { createKept, type Kept, type KeptFault, type KeptResult } from './kept.js'
export type { KeptTree } from './kept-state.js'
export { type AgentTree, RunTrees, type TreeOwner, type Work } from './run-trees.js'
