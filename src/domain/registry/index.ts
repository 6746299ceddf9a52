/** The agent registry: what it is, and how one that somebody wrote is read, with everything that is wrong with it. */
export { readEntry } from './entry.js'
export { faultsInWords, type RegistryFault, unknownKeys } from './faults.js'
export { type JsonFault, jsonFault } from './json.js'
export { type ReadRegistry, readRegistry } from './read.js'
export * from './registry.js'
export { parseRegistryText } from './text.js'
export { forwardedInWords } from './words.js'
