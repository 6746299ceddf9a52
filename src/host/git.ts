import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isProtected } from '../domain/index.js'
import { GitCommand } from './git-command.js'
import type { Git, Processes } from './host.js'
import type { Locks } from './locks.js'
import { fault, isInside, relativeTo } from './paths.js'
import type { OwnPrograms } from './programs.js'
import { createRepository } from './repository.js'

type Machine = { processes: Processes; programs: OwnPrograms; locks: Locks }

export function createGit(machine: Machine): Git {
  const { programs } = machine
  return {
    async open(folder) {
      const root = await realpath(folder).catch(() => null)
      if (root === null) return fault('not_a_repository', `${folder} does not exist`)
      // Most calls for a folder without a repository end here, without a process.
      const top = topOf(root)
      if (top === null) return fault('not_a_repository', `${folder} is in no git repository`)
      programs.avoid(root)
      programs.avoid(top)
      if (programs.find('git') === null) {
        return fault('git_missing', 'git is not installed, or not on the PATH')
      }
      // The only time that git may look for the repository itself, and the only time that a `.git` file is followed.
      const command = new GitCommand(machine, root)
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
      return { ok: true, repository: createRepository({ ...machine, git_dir, work_tree, folder: root }) }
    },
  }
}

/** The nearest folder from here upwards that has a `.git`. */
function topOf(folder: string): string | null {
  if (existsSync(join(folder, '.git'))) return folder
  const parent = dirname(folder)
  return parent === folder ? null : topOf(parent)
}
