import { spawnSync } from 'node:child_process'
import { describeWith } from './needed.js'

const PROBE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-user', '--unshare-pid', 'true']

/** Why fenced commands cannot be tested here; null where they can. */
export const withoutSandbox: string | null = (() => {
  if (process.platform !== 'linux') return `bubblewrap needs Linux, and this is ${process.platform}`
  const { error, status, stderr } = spawnSync('bwrap', PROBE, { encoding: 'utf8' })
  if (error) return 'bubblewrap (bwrap) is not installed'
  return status === 0 ? null : `bubblewrap does not work here: ${stderr.trim()}`
})()

/** A `describe` of tests that need the sandbox. Without one they fail where it is required, and are skipped loudly elsewhere. */
export function describeSandboxed(name: string, tests: () => void): void {
  describeWith({ missing: withoutSandbox, ensure: 'scripts/ensure-sandbox.mjs' }, name, tests)
}
