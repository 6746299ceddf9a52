import { lstatSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { TEMPORARY } from '../paths.js'

/**
 * A name that is not taken can only be kept from a command by a mount, and a mount needs something to lie on. So while
 * commands run, an empty folder is there, and in it a mark of each command that needs it: the last one to go takes
 * the folder away. That is safe also between processes, because a folder is removed by the system only when it is
 * empty; and marks of a process that was killed are removed by the next one.
 */
export type HeldName = { path: string; mark: string; remove: boolean }

/** Names that may be held at the root of a workspace. */
const HELD = ['.git', '.retinue', 'retinue.yaml', 'retinue.yml']

let count = 0

/** null when the name was taken in the meantime, or cannot be taken by anybody who has our rights. */
export function holdName(path: string): HeldName | null {
  const mark = `${TEMPORARY}${process.pid}-${count++}`
  for (let tries = 0; tries < 100; tries++) {
    let remove = true
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return null
      if (code !== 'EEXIST') throw error
      const marks = marksIn(path)
      if (marks === null) return null
      // An empty folder may be somebody's own.
      remove = marks.length > 0
    }
    try {
      // A folder, because git does not see empty ones.
      mkdirSync(join(path, mark), { mode: 0o700 })
      return { path, mark, remove }
    } catch (error) {
      // Somebody else was the last one to go just now.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return null
}

export function releaseName({ path, mark, remove }: HeldName): void {
  try {
    rmdirSync(join(path, mark))
    for (const name of readdirSync(path)) if (isStale(name)) rmdirSync(join(path, name))
    if (remove) rmdirSync(path)
  } catch {
    // Others need it still, or it has become something real.
  }
}

/** Takes away what a process that was killed left of the names that it held in a folder. */
export function sweepNames(root: string): void {
  for (const name of HELD) sweepName(join(root, name))
}

function sweepName(path: string): void {
  const marks = marksIn(path)
  if (marks === null || marks.length === 0 || !marks.every(isStale)) return
  try {
    for (const mark of marks) rmdirSync(join(path, mark))
    rmdirSync(path)
  } catch {
    // Somebody took it just now.
  }
}

/** Whether a name is free, or taken by nothing but such marks. */
export function canHold(path: string): boolean {
  return !lstatSync(path, { throwIfNoEntry: false }) || marksIn(path) !== null
}

/** null for anything but a folder with marks in it and nothing else. */
function marksIn(path: string): string[] | null {
  try {
    const names = readdirSync(path)
    return names.every((name) => name.startsWith(TEMPORARY)) ? names : null
  } catch {
    return null
  }
}

function isStale(name: string): boolean {
  const pid = Number(new RegExp(`^${TEMPORARY.replaceAll('.', '\\.')}(\\d+)-\\d+$`).exec(name)?.[1])
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
