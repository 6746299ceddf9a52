import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it } from 'vitest'

const PROBE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-user', '--unshare-pid', 'true']

/** Why fenced commands cannot be tested here; null where they can. */
export const withoutSandbox: string | null = (() => {
  if (process.platform !== 'linux') return `bubblewrap needs Linux, and this is ${process.platform}`
  const { error, status, stderr } = spawnSync('bwrap', PROBE, { encoding: 'utf8' })
  if (error) return 'bubblewrap (bwrap) is not installed'
  return status === 0 ? null : `bubblewrap does not work here: ${stderr.trim()}`
})()

/** Where it must be there: `npm test` installs it for root, and what runs unattended must not skip in silence. */
const isRequired = Boolean(process.env.CI) || (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get'))

/** A `describe` of tests that need the sandbox. Without one they fail where it is required, and are skipped loudly elsewhere. */
export function describeSandboxed(name: string, tests: () => void): void {
  if (withoutSandbox === null) describe(name, tests)
  else if (isRequired) {
    it(name, () => {
      throw new Error(`not tested: ${withoutSandbox}. Run node scripts/ensure-sandbox.mjs`)
    })
  } else {
    console.warn(`\n*** NOT TESTED: ${name}: ${withoutSandbox} ***\n`)
    describe.skip(name, tests)
  }
}
