import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A zombie is dead: it waits for an init that does not look after its orphans. */
export function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

/** By SIGSTOP. */
export function isStopped(pid: number): boolean {
  return /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

/** Living processes with exactly these words, in whatever namespace: a sandbox numbers its own from 1. */
export function running(...argv: string[]): number[] {
  const wanted = `${argv.join('\0')}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === wanted && isAlive(pid)
      } catch {
        return false
      }
    })
}
