import { constants, existsSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { refuse } from './paths.js'

/**
 * Something in the file system that was looked up once and cannot be exchanged any more: what was checked is what is
 * used, whatever happens to its name in the meantime.
 */
export interface Held {
  /** Where it really is. */
  readonly path: string
  readonly stats: Stats
  /** Opens this very file for reading. Only for regular files: others might block, or act on being opened. */
  open(): Promise<FileHandle>
  /** A path for an entry of this very folder. */
  at(name: string): string
  /** Whether it is still where it was. */
  isStillThere(): Promise<boolean>
  close(): Promise<void>
}

/** Fails as `open` does, with ENOENT and its like. `follow: false` takes a symbolic link for what it is. */
export type Hold = (path: string, options?: { follow?: boolean }) => Promise<Held>

export function holdFor(platform: NodeJS.Platform): Hold {
  return platform === 'linux' && existsSync('/proc/self/fd') ? holdByDescriptor : holdByName
}

/** Linux only and not among Node's constants: a descriptor that names a file without opening it. */
const O_PATH = 0o10000000
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** A file that is replaced over and over is looked up again, but not for ever. */
const ATTEMPTS = 50

/** Paths that begin with `/proc/self/fd/N` start from the open descriptor and not from a name, as `openat` would. */
export const holdByDescriptor: Hold = async (path, options) => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const handle = await open(path, O_PATH | (options?.follow === false ? constants.O_NOFOLLOW : 0))
    try {
      const self = `/proc/self/fd/${handle.fd}`
      const real = await readlink(self)
      const stats = await handle.stat()
      if (await wasReplaced(real, stats)) {
        await handle.close()
        continue
      }
      return {
        path: real,
        stats,
        open: () => open(self, READ),
        at: (name) => `${self}/${name}`,
        isStillThere: async () => (await readlink(self)) === real,
        close: () => handle.close(),
      }
    } catch (error) {
      await handle.close()
      throw error
    }
  }
  throw replaced()
}

/** Linux says so in the path itself, which is then no path any more; unless a file is really called so. */
async function wasReplaced(real: string, stats: Stats): Promise<boolean> {
  if (!real.endsWith(' (deleted)')) return false
  const there = await lstat(real).catch(() => null)
  return there?.ino !== stats.ino || there.dev !== stats.dev
}

/** Where descriptors have no paths, names are checked again after each use; a short moment in between remains. */
export const holdByName: Hold = async (path, options) => {
  const follow = options?.follow !== false
  const real = follow ? await realpath(path) : join(await realpath(dirname(path)), basename(path))
  const stats = await lstat(real)
  const isStillThere = async () => (await realpath(real)) === real
  return {
    path: real,
    stats,
    open: async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const handle = await open(real, READ | constants.O_NOFOLLOW)
        try {
          const [opened, now] = await Promise.all([handle.stat(), lstat(real)])
          if (!(await isStillThere())) throw replaced()
          if (opened.isFile() && opened.ino === now.ino && opened.dev === now.dev) return handle
        } catch (error) {
          await handle.close()
          throw error
        }
        await handle.close()
      }
      throw replaced()
    },
    at: (name) => join(real, name),
    isStillThere,
    close: async () => {},
  }
}

function replaced() {
  return refuse('changed', 'the file was exchanged while it was being opened; try again')
}
