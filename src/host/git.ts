import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isProtected } from '../domain/index.js'
import { commandEnvironment } from './environment.js'
import { GitCommand } from './git-command.js'
import type { Git, Processes } from './host.js'
import { findProgram } from './launch.js'
import type { Locks } from './locks.js'
import { fault, isInside, relativeTo } from './paths.js'
import { createRepository } from './repository.js'

export function createGit(processes: Processes, locks: Locks): Git {
  return {
    async open(folder) {
      const root = await realpath(folder).catch(() => null)
      if (root === null) return fault('not_a_repository', `${folder} does not exist`)
      // Most calls for a folder without a repository end here, without a process.
      if (!hasRepositoryAbove(root)) return fault('not_a_repository', `${folder} is in no git repository`)
      if (findProgram('git', { cwd: root, path: commandEnvironment().PATH ?? '' }) === null) {
        return fault('git_missing', 'git is not installed, or not on the PATH')
      }
      // The only time that git may look for the repository itself, and the only time that a `.git` file is followed.
      const command = new GitCommand(processes, root)
      const found = await command.run(['rev-parse', '--absolute-git-dir', '--show-toplevel'])
      if (!found.ok) return fault('not_a_repository', `${folder} is in no work tree of git: ${found.message}`)
      const [git_dir = '', work_tree = ''] = found.stdout.split('\n')
      if (!isInside(work_tree, root)) return fault('not_a_repository', `${folder} is not in the work tree ${work_tree}`)
      // git takes any folder with the right files in it for a repository, and runs what its configuration says. Inside
      // the workspace only what agents cannot write may be one.
      if (isInside(root, git_dir) && !isProtected(relativeTo(root, git_dir))) {
        return fault(
          'not_a_repository',
          `${git_dir} is in the workspace and not in .git, so it is not taken for a repository`,
        )
      }
      return { ok: true, repository: createRepository({ processes, locks, git_dir, work_tree, folder: root }) }
    },
  }
}

function hasRepositoryAbove(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true
  const parent = dirname(folder)
  return parent !== folder && hasRepositoryAbove(parent)
}
