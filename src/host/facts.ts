import type { HostFacts, Processes } from './host.js'
import { probeSandbox } from './sandbox/probe.js'

export async function gatherFacts(processes: Processes): Promise<HostFacts> {
  const [git, sandbox] = await Promise.all([
    processes.run({ command: ['git', '--version'], cwd: '/', timeout_ms: 10_000, max_output_bytes: 1000 }),
    probeSandbox(processes),
  ])
  return {
    platform: `${process.platform} ${process.arch} node ${process.version}`,
    sandbox,
    git_version: git.exit_code === 0 ? git.stdout.trim().replace(/^git version /, '') : null,
  }
}
