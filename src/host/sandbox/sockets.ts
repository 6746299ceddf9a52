import { lstatSync, readFileSync, realpathSync } from 'node:fs'

/**
 * Sockets with a name in the file system that somebody listens on. Neither a read-only mount nor a network of its own
 * keeps a command from speaking to them, and behind one may be a service that does everything it is asked to.
 */
export function listeningSockets(): string[] {
  const paths = new Set(lines().flatMap((line) => /^(?:\S+ +){6}\d+ (\/.*)$/.exec(line)?.[1] ?? []))
  return [...paths].filter(isSocket)
}

function lines(): string[] {
  try {
    return readFileSync('/proc/net/unix', 'utf8').split('\n')
  } catch {
    return []
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket() && realpathSync(path) === path
  } catch {
    return false
  }
}
