import { existsSync } from 'node:fs'
import { describe, it } from 'vitest'

/** Where it must be there: `npm test` installs it for root, and what runs unattended must not skip in silence. */
const isRequired = Boolean(process.env.CI) || (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get'))

/**
 * A `describe` of tests that need something of the machine. `missing`: why it cannot be had, or null. Without it they
 * fail where it is required, and are skipped loudly elsewhere.
 */
export function describeWith(need: { missing: string | null; ensure: string }, name: string, tests: () => void): void {
  if (need.missing === null) describe(name, tests)
  else if (isRequired) {
    it(name, () => {
      throw new Error(`not tested: ${need.missing}. Run node ${need.ensure}`)
    })
  } else {
    console.warn(`\n*** NOT TESTED: ${name}: ${need.missing} ***\n`)
    describe.skip(name, tests)
  }
}
