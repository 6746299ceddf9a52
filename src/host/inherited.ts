import { readdirSync, readFileSync } from 'node:fs'

const CLOSED_FOR_CHILDREN = 0o2000000

/**
 * Descriptors that this process was itself given by whoever started it, beyond the usual three. Node closes its own
 * before a command starts, but not those: a command could write to whatever they lead to.
 */
export function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isInherited(fd))
  } catch {
    return []
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & CLOSED_FOR_CHILDREN) === 0
  } catch {
    return false
  }
}
