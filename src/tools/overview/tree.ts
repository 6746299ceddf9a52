import { countInWords, plural } from '../../domain/index.js'

type Folder = { name: string; files: number; folders: Map<string, Folder> }

const MAX_CHILDREN = 12

/** Folders with the number of files below each, as many levels as fit into so many lines: one at least. */
export function treeOf(paths: readonly string[], max_lines: number): string[] {
  const root: Folder = { name: '', files: 0, folders: new Map() }
  for (const path of paths) {
    let folder = root
    for (const name of path.split('/').slice(0, -1)) {
      let next = folder.folders.get(name)
      if (!next) {
        next = { name, files: 0, folders: new Map() }
        folder.folders.set(name, next)
      }
      next.files++
      folder = next
    }
  }
  const own = paths.filter((path) => !path.includes('/'))
  const here = own.length === 0 ? [] : [`${shortened(own)}`]
  const levels = [3, 2, 1].map((depth) => [...linesOf(root, depth, '', MAX_CHILDREN), ...here])
  const fitting = levels.find((lines) => lines.length <= max_lines) ?? [...linesOf(root, 1, '', max_lines - 1), ...here]
  return fitting
}

function shortened(names: string[]): string {
  const shown = names.slice(0, 30)
  return `${shown.join(' ')}${names.length > shown.length ? ` and ${countInWords(names.length - shown.length)} more files` : ''}`
}

function linesOf(folder: Folder, depth: number, indent: string, max_children: number): string[] {
  const children = [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const biggest = new Set(
    [...children].sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1)).slice(0, max_children),
  )
  const left = children.filter((child) => !biggest.has(child))
  const lines = children
    .filter((child) => biggest.has(child))
    .flatMap((child) => {
      const [only] = child.folders.values()
      // A folder with nothing but another in it says no more than the two names together.
      if (only && child.folders.size === 1 && only.files === child.files) {
        const joined = { ...only, name: `${child.name}/${only.name}` }
        return [`${indent}${joined.name}/ ${plural(joined.files, 'file')}`, ...below(joined, depth, indent)]
      }
      return [`${indent}${child.name}/ ${plural(child.files, 'file')}`, ...below(child, depth, indent)]
    })
  if (left.length > 0) {
    const files = left.reduce((sum, child) => sum + child.files, 0)
    lines.push(`${indent}… ${plural(left.length, 'more folder')}, ${plural(files, 'file')}`)
  }
  return lines
}

function below(folder: Folder, depth: number, indent: string): string[] {
  return depth <= 1 ? [] : linesOf(folder, depth - 1, `${indent}  `, MAX_CHILDREN)
}
