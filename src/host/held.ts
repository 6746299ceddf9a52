import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { refuse } from './paths.js'

/*
 * Looking things up is done in one go and not through Node's thread pool: a system call that answers from memory takes
 * two microseconds, the way through the pool twenty, and a file that an agent reads is looked up a dozen times.
 */

/**
 * Something in the file system that was looked up once and cannot be exchanged any more: what was checked is what is
 * used, whatever happens to its name in the meantime.
 */
export interface Held {
  /** Where it really is. */
  readonly path: string
  readonly stats: Stats
  /**
   * Opens this very file for reading, as a descriptor. Only for regular files: others might block, or act on being
   * opened.
   */
  open(): number
  /** A path for an entry of this very folder. */
  at(name: string): string
  /** Whether it is still where it was. */
  isStillThere(): boolean
  close(): void
}

/** Fails as `open` does, with ENOENT and its like. `follow: false` takes a symbolic link for what it is. */
export type Hold = (path: string, options?: { follow?: boolean }) => Held

export function holdFor(platform: NodeJS.Platform): Hold {
  return platform === 'linux' && existsSync('/proc/self/fd') ? holdByDescriptor : holdByName
}

/** Linux only and not among Node's constants: a descriptor that names a file without opening it. */
const O_PATH = 0o10000000
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** A file that is replaced over and over is looked up again, but not for ever. */
const ATTEMPTS = 50

/** Paths that begin with `/proc/self/fd/N` start from the open descriptor and not from a name, as `openat` would. */
export const holdByDescriptor: Hold = (path, options) => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const fd = openSync(path, O_PATH | (options?.follow === false ? constants.O_NOFOLLOW : 0))
    try {
      const self = `/proc/self/fd/${fd}`
      const real = readlinkSync(self)
      const stats = fstatSync(fd)
      if (wasReplaced(real, stats)) {
        closeSync(fd)
        continue
      }
      return {
        path: real,
        stats,
        open: () => openSync(self, READ),
        at: (name) => `${self}/${name}`,
        isStillThere: () => readlinkSync(self) === real,
        close: () => closeSync(fd),
      }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }
  throw replaced()
}

/** Linux says so in the path itself, which is then no path any more; unless a file is really called so. */
function wasReplaced(real: string, stats: Stats): boolean {
  if (!real.endsWith(' (deleted)')) return false
  const there = lstatSync(real, { throwIfNoEntry: false })
  return there?.ino !== stats.ino || there.dev !== stats.dev
}

/** Where descriptors have no paths, names are checked again after each use; a short moment in between remains. */
export const holdByName: Hold = (path, options) => {
  const follow = options?.follow !== false
  const real = follow ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  const stats = lstatSync(real)
  const isStillThere = () => realpathSync(real) === real
  return {
    path: real,
    stats,
    open: () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const fd = openSync(real, READ | constants.O_NOFOLLOW)
        try {
          const [opened, now] = [fstatSync(fd), lstatSync(real)]
          if (!isStillThere()) throw replaced()
          if (opened.isFile() && opened.ino === now.ino && opened.dev === now.dev) return fd
        } catch (error) {
          closeSync(fd)
          throw error
        }
        closeSync(fd)
      }
      throw replaced()
    },
    at: (name) => join(real, name),
    isStillThere,
    close: () => {},
  }
}

function replaced() {
  return refuse('changed', 'the file was exchanged while it was being opened; try again')
}
