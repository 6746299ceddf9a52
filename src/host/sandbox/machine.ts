import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { isInside } from '../paths.js'
import {
  HOME_SECRETS,
  KERNEL_LEVERS,
  KERNEL_SETTINGS,
  MACHINE_SECRETS,
  PRIVATE_PLACES,
  SECRET_FILES,
  SYSTEM_PLACES,
  TOOLCHAIN_SECRETS,
  TOOLCHAINS,
} from './places.js'

/** Something that is put out of sight. */
export type Covered = { path: string; kind: 'file' | 'folder' }

/** What the machine looks like, as far as a fence has to know. Paths are absolute. */
export type Machine = {
  /** Folders that commands see empty. None is inside another. */
  emptied: string[]
  /** The home folders among them, or inside them. */
  homes: string[]
  /** What can be read of them after all. */
  tools: string[]
  secrets: Covered[]
  /** The same for a home folder that is itself the workspace. */
  home_secrets: Covered[]
  /** What the kernel lets the user of this process set for the whole machine: read-only, and not to be opened. */
  settings: string[]
  levers: string[]
}

/** Looked up again when what it depends on has changed, and now and then. */
const KEEP_MS = 60_000

export class MachineView {
  #known: { key: string; at: number; machine: Machine } | null = null

  for(env: Record<string, string>): Machine {
    const key = `${env.HOME}\0${env.PATH}`
    if (this.#known?.key !== key || performance.now() - this.#known.at > KEEP_MS) {
      this.#known = { key, at: performance.now(), machine: lookAround(env) }
    }
    return this.#known.machine
  }

  forget(): void {
    this.#known = null
  }
}

function lookAround(env: Record<string, string>): Machine {
  const homes = distinct([env.HOME ?? '', homedir(), userInfo().homedir].flatMap(realFolder)).filter(
    (home) => !SYSTEM_PLACES.includes(home),
  )
  const places = [...PRIVATE_PLACES, tmpdir()].flatMap(realFolder).filter((place) => !SYSTEM_PLACES.includes(place))
  const emptied = outermost(distinct([...places, ...homes]))
  const tools = outermost(
    distinct([
      ...homes.flatMap((home) => below(home, TOOLCHAINS)),
      ...toolFolders(env.PATH ?? '', emptied, homes),
      ...resolver(emptied),
    ]),
  )
  const isSeen = ({ path }: Covered) =>
    tools.some((tool) => isInside(tool, path)) || !emptied.some((place) => isInside(place, path))
  return {
    emptied,
    homes,
    tools,
    settings: userInfo().uid === 0 ? KERNEL_SETTINGS.filter((path) => kindOf(path) !== null) : [],
    levers: userInfo().uid === 0 ? KERNEL_LEVERS.filter((path) => kindOf(path) !== null) : [],
    secrets: [
      ...MACHINE_SECRETS.flatMap(readable),
      ...SECRET_FILES.flatMap(({ folder, name }) =>
        names(folder)
          .filter((n) => name.test(n))
          .flatMap((n) => readable(join(folder, n))),
      ),
      ...homes.flatMap((home) => [...TOOLCHAIN_SECRETS, ...HOME_SECRETS].flatMap((name) => readable(join(home, name)))),
    ].filter((one, i, all) => isSeen(one) && all.findIndex(({ path }) => path === one.path) === i),
    home_secrets: homes.flatMap((home) => HOME_SECRETS.flatMap((name) => readable(join(home, name)))),
  }
}

/** Folders of the PATH that would be hidden. One that is part of a larger installation needs what is beside it. */
function toolFolders(path: string, emptied: string[], homes: string[]): string[] {
  return path.split(delimiter).flatMap((folder) => {
    if (!isAbsolute(folder)) return []
    const hidden = realFolder(folder).some((real) => emptied.some((place) => isInside(place, real)))
    if (!hidden) return []
    const parent = dirname(folder)
    const libraries = ['lib', 'libexec'].map((name) => join(parent, name)).filter((one) => realFolder(one).length > 0)
    if (!/^s?bin$/.test(basename(folder)) || libraries.length === 0) return [folder]
    const reals = [parent, ...realFolder(parent)]
    if (reals.some((real) => isHome(real, homes) || emptied.includes(real))) return [folder]
    return reals.every((real) => isInstallation(real, emptied, homes)) ? [parent] : [folder, ...libraries]
  })
}

/** Whether a folder holds a program and nothing else. `~/.local` and its like hold what all programs keep, keys too. */
function isInstallation(folder: string, emptied: string[], homes: string[]): boolean {
  const above = dirname(folder)
  if (isHome(above, homes) || emptied.includes(above) || basename(folder) === '.local') return false
  return !homes.some(
    (home) => isInside(folder, home) || HOME_SECRETS.some((secret) => isInside(join(home, secret), folder)),
  )
}

function isHome(path: string, homes: string[]): boolean {
  return homes.includes(path) || path === '/root' || dirname(path) === '/home'
}

/** Where the list of name servers is a link into what is hidden. */
function resolver(emptied: string[]): string[] {
  try {
    const real = realpathSync('/etc/resolv.conf')
    return emptied.some((place) => isInside(place, real)) ? [real] : []
  } catch {
    return []
  }
}

function below(home: string, paths: readonly string[]): string[] {
  return paths.map((path) => join(home, path)).filter((path) => kindOf(path) !== null)
}

function readable(path: string): Covered[] {
  try {
    const real = realpathSync(path)
    accessSync(real, constants.R_OK)
    const kind = kindOf(real)
    // In an empty folder there is nothing to hide, and most of these are empty.
    if (kind === null || (kind === 'folder' && names(real).length === 0)) return []
    return [{ path: real, kind }]
  } catch {
    return []
  }
}

function kindOf(path: string): Covered['kind'] | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return null
  return stats.isDirectory() ? 'folder' : 'file'
}

function realFolder(path: string): string[] {
  try {
    const real = realpathSync(path)
    return isAbsolute(path) && statSync(real).isDirectory() ? [real] : []
  } catch {
    return []
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function distinct<T>(values: T[]): T[] {
  return [...new Set(values)]
}

export function outermost(paths: string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)))
}
