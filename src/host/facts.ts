import { homedir } from 'node:os'
import type { HostFacts, Processes } from './host.js'
import { isInside } from './paths.js'
import type { OwnPrograms } from './programs.js'
import { probeSandbox } from './sandbox/probe.js'

export async function gatherFacts(processes: Processes, programs: OwnPrograms): Promise<HostFacts> {
  // Usually the project, but nobody may have said so yet.
  const here = process.cwd()
  if (!isInside(here, homedir())) programs.avoid(here)
  const [git_version, sandbox] = await Promise.all([gitVersion(processes, programs), probeSandbox(processes, programs)])
  return { platform: `${process.platform} ${process.arch} node ${process.version}`, sandbox, git_version }
}

async function gitVersion(processes: Processes, programs: OwnPrograms): Promise<string | null> {
  const git = programs.find('git')
  if (git === null) return null
  const said = await processes.run({
    command: [git, '--version'],
    cwd: '/',
    env: { PATH: programs.path() },
    timeout_ms: 10_000,
    max_output_bytes: 1000,
  })
  return said.exit_code === 0 ? said.stdout.trim().replace(/^git version /, '') : null
}
