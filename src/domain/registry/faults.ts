import { nearest } from '../nearest.js'
import { quoted } from '../plain.js'

/** What is wrong in a registry, and where: `agents[3].agentId`, or empty for all of it. */
export type RegistryFault = { path: string; message: string }

/** So many are told at once. */
const TOLD = 20

/** One line for each fault. */
export function faultsInWords(faults: readonly RegistryFault[]): string {
  const lines = faults.slice(0, TOLD).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = faults.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more faults`] : [])].join('\n')
}

export function unknownKeys(value: object, known: readonly string[], path: string): RegistryFault[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearest(key, known)
      const hint = near === null ? `there are ${known.join(', ')}` : `did you mean ${near}?`
      return { path, message: `unknown key ${quoted(key)}: ${hint}` }
    })
}
