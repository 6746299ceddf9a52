import { relative, sep } from 'node:path'
import type { Fault, FileFault } from './host.js'

/** Both absolute and real. A sibling that merely begins with the same letters is not inside. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** As the rest of Retinue writes paths: relative to the root, with `/`, and `.` for the root itself. */
export function relativeTo(root: string, path: string): string {
  return relative(root, path).split(sep).join('/') || '.'
}

/** The beginning of the names of files that are being written. They are never listed, found or committed. */
export const TEMPORARY = '.retinue-tmp-'

export function fault<C extends string>(code: C, message: string): Fault<C> {
  return { ok: false, code, message }
}

/** An expected failure on its way up, where a return would have to pass through many hands. */
export class FaultError extends Error {
  constructor(readonly fault: Fault<FileFault>) {
    super(fault.message)
  }
}

export function refuse(code: FileFault, message: string): FaultError {
  return new FaultError(fault(code, message))
}

const BY_ERRNO: Record<string, [FileFault, string]> = {
  ENOENT: ['not_found', 'does not exist'],
  ENOTDIR: ['not_a_directory', 'leads through something that is not a folder'],
  EISDIR: ['not_a_file', 'is a folder'],
  EEXIST: ['already_exists', 'exists already'],
  EACCES: ['permission_denied', 'may not be accessed: the permissions of the file or a folder above it forbid it'],
  EPERM: ['permission_denied', 'may not be changed: the system forbids it'],
  EROFS: ['permission_denied', 'is on a read-only file system'],
  ELOOP: ['io', 'is a symbolic link that leads to itself'],
  ENAMETOOLONG: ['io', 'is too long for a path'],
  ENOSPC: ['io', 'cannot be written: the disk is full'],
}

/** The fault that an error of the file system stands for. Anything else is a bug and is thrown on. */
export function faultOf(error: unknown, given: string): Fault<FileFault> {
  if (error instanceof FaultError) return error.fault
  const code = errno(error)
  if (code === null) throw error
  const [fileFault, text] = BY_ERRNO[code] ?? (['io', `failed with ${code}`] as const)
  return fault(fileFault, `${JSON.stringify(given)} ${text}`)
}

export function errno(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  return 'syscall' in error ? error.code : null
}
