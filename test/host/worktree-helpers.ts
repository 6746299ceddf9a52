import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { git, initRepository, put } from './helpers.js'

export type Project = { folder: string; top: string; root: string }

/** A person's repository with a worktree of an agent in it, which hangs on a private repository, as runs have them. */
export function projectWithWorktree(
  folder: string,
  { files, prefix = '' }: { files: Record<string, string>; prefix?: string },
): Project {
  mkdirSync(folder, { recursive: true })
  initRepository(folder, files)
  const kept = join(folder, prefix, '.retinue')
  put(kept, { '.gitignore': '*\n', 'retinue.db': 'the log\n' })
  git(folder, 'clone', '-q', '--bare', folder, join(kept, 'git'))
  const top = join(kept, 'worktrees/r1/a1')
  git(folder, '--git-dir', join(kept, 'git'), 'worktree', 'add', '-q', '-b', 'retinue/r1/a1', top)
  put(join(kept, 'worktrees/r1/a2'), { 'other.txt': "another agent's\n" })
  return { folder, top, root: join(top, prefix) }
}

/** Something ignored that the worktree has from the person's folder. */
export function link(project: Project, path: string, files: Record<string, string>): string {
  put(project.folder, files)
  symlinkSync(join(project.folder, path), join(project.top, path))
  return join(project.folder, path)
}
