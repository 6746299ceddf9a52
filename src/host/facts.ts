import type { HostFacts, Processes } from './host.js'

export async function gatherFacts(processes: Processes): Promise<HostFacts> {
  const git = await processes.run({
    command: ['git', '--version'],
    cwd: '/',
    timeout_ms: 10_000,
    max_output_bytes: 1000,
  })
  return {
    platform: `${process.platform} ${process.arch} node ${process.version}`,
    sandbox: { kind: 'none', reason: 'there is no sandbox yet: commands run with all the rights you have yourself' },
    git_version: git.exit_code === 0 ? git.stdout.trim().replace(/^git version /, '') : null,
  }
}
