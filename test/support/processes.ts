import { existsSync, readFileSync } from 'node:fs'

/** A zombie is dead: it waits for an init that does not look after its orphans. */
export function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
