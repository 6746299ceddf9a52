import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInside } from '../paths.js'

/**
 * What this process runs and imports, as far as it is in the workspace: Node, Retinue as a dependency of the project,
 * and the packages that it needs itself. It runs without a fence, now or the next time it starts; so a command must
 * not be able to change it. Looking that up reads a few hundred files, so it is done once for all roots.
 */
export function ownCode(from = fileURLToPath(import.meta.url)): (root: string) => string[] {
  const node = realpathSync(process.execPath)
  const file = realpathSync(from)
  const home = packageOf(file)
  const dependencies = home === null ? [] : [...dependenciesOf(home)]
  return (root) => {
    // In Retinue's own checkout the sources are what is worked on; what runs is built from them.
    const own = home === null ? [file] : home === root ? [join(home, 'dist'), join(home, 'bin')] : [home]
    return [node, ...own, ...dependencies].filter((path) => path !== root && isInside(root, path) && existsSync(path))
  }
}

function packageOf(path: string): string | null {
  const folder = dirname(path)
  if (folder === path) return null
  return readPackage(folder)?.name === 'retinue' ? folder : packageOf(folder)
}

type Package = { name?: string } & Partial<Record<(typeof NEEDS)[number], Record<string, string>>>

const NEEDS = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const

function dependenciesOf(folder: string, found = new Set<string>()): Set<string> {
  const needed = readPackage(folder)
  for (const name of NEEDS.flatMap((kind) => Object.keys(needed?.[kind] ?? {}))) {
    const at = locate(folder, name)
    if (at === null || found.has(at)) continue
    found.add(at)
    dependenciesOf(at, found)
  }
  return found
}

/** Where an import of that name leads from a folder, by the rules of Node. */
function locate(folder: string, name: string): string | null {
  const path = join(folder, 'node_modules', name)
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(folder)
  return parent === folder ? null : locate(parent, name)
}

function readPackage(folder: string): Package | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
  } catch {
    return null
  }
}
