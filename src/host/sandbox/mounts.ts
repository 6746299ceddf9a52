import { readFileSync } from 'node:fs'
import type { Mount } from './plan.js'

type Mounted = { device: string; root: string; writable: boolean; type: string }
type Table = Map<string, Mounted>

/**
 * Says which of the planned mounts is not what was planned, or null. Between the look at the files and the mounting,
 * somebody else who works in the same folder may have put a symbolic link in the way; where a mount has ended up and
 * what it shows is read from the kernel's own list, before the command starts.
 */
export function misplaced(mounts: readonly Mount[], pid: number): string | null {
  const inside = readTable(pid)
  const outside = readTable('self')
  if (!inside || !outside) return 'the list of mounts cannot be read'
  const topmost = new Map(mounts.map((mount) => [mount.path, mount]))
  for (const mount of topmost.values()) {
    if (mount.kind === 'own' && mount.loose) continue
    const mounted = inside.get(mount.path)
    if (!mounted) return mount.path
    if (mount.kind === 'empty' && mounted.type !== 'tmpfs') return mount.path
    if (mount.kind === 'own' && !isOwn(mount.path, mounted, outside)) return mount.path
    if (mount.kind === 'own' && mounted.writable && !mount.writable) return mount.path
  }
  return null
}

/** Whether what is mounted there is what is there outside. */
function isOwn(path: string, mounted: Mounted, outside: Table): boolean {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
    const above = outside.get(at)
    if (above) {
      const rest = at === '/' ? path : path.slice(at.length)
      const expected = above.root === '/' ? rest || '/' : above.root + rest
      return mounted.device === above.device && mounted.root === expected
    }
    if (at === '/') return false
  }
}

/** Of several mounts in one place, the last is the one that is seen. */
function readTable(pid: number | 'self'): Table | null {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')
    return new Map(lines.filter(Boolean).map(readLine))
  } catch {
    return null
  }
}

function readLine(line: string): [string, Mounted] {
  const [, , device = '', root = '', path = '', options = '', ...rest] = line.split(' ')
  const type = rest[rest.indexOf('-') + 1] ?? ''
  return [plain(path), { device, root: plain(root), writable: options.split(',').includes('rw'), type }]
}

function plain(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
    : text
}
