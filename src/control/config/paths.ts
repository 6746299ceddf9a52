import { isAbsolute, relative, resolve, sep } from 'node:path'

/** Why a path or glob cannot name files of the workspace, or null. A pattern that never matches is no boundary. */
export function workspacePathFault(path: string): string | null {
  if (path.trim() === '') return 'an empty path names nothing: write . for the whole workspace'
  if (path.startsWith('!')) return `"${path}" negates: list what is allowed instead`
  if (path.includes('\\')) return `"${path}" has a backslash: write folders with /`
  if (path.startsWith('~') || isAbsolute(path)) {
    return `"${path}" is not in the workspace: paths are relative to the project folder`
  }
  if (path.split('/').includes('..')) return `"${path}" leaves the workspace: .. is not allowed`
  return null
}

/** Why a path cannot name a place on this machine in the way the user's own file may, or null. */
export function machinePathFault(path: string): string | null {
  if (path.trim() === '') return 'an empty path names nothing'
  if (path.startsWith('~') && !path.startsWith('~/')) return `"${path}": only ~/ stands for the home folder`
  return null
}

/** Relative to the project folder, unless absolute or in the home folder. */
export function machinePath(path: string, places: { project_dir: string; home: string }): string {
  return path.startsWith('~/') ? resolve(places.home, path.slice(2)) : resolve(places.project_dir, path)
}

/** Whether a path is the folder itself or below it. */
export function isWithin(folder: string, path: string): boolean {
  const from = relative(folder, path)
  return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from)
}
