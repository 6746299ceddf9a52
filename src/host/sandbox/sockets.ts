import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Sockets with a name in the file system that somebody listens on, by their real paths. Neither a read-only mount nor a
 * network of its own keeps a command from speaking to them, and behind one may be a service that does everything it is
 * asked to.
 */
export function listeningSockets(): string[] {
  const names = new Set(lines().flatMap((line) => /^(?:\S+ +){6}\d+ ([^@].*)$/.exec(line)?.[1] ?? []))
  const absolute = [...names].filter((name) => name.startsWith('/'))
  const relative = [...names].filter((name) => !name.startsWith('/'))
  return [...new Set([...absolute, ...inFoldersOfProcesses(relative)].flatMap(realSocket))]
}

/**
 * The kernel keeps a name as it was given. Who listens by it could be found out only by looking through the open files
 * of all processes; so it is looked for in the folders that processes are in, which is quick and finds as much.
 */
function inFoldersOfProcesses(names: string[]): string[] {
  if (names.length === 0) return []
  const folders = new Set(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(folderOfProcess),
  )
  return [...folders].flatMap((folder) => names.map((name) => join(folder, name)))
}

function folderOfProcess(pid: string): string[] {
  try {
    return [readlinkSync(`/proc/${pid}/cwd`)]
  } catch {
    return []
  }
}

function lines(): string[] {
  try {
    return readFileSync('/proc/net/unix', 'utf8').split('\n')
  } catch {
    return []
  }
}

function realSocket(path: string): string[] {
  try {
    const real = realpathSync(path)
    return lstatSync(real).isSocket() ? [real] : []
  } catch {
    return []
  }
}
