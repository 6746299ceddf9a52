import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests that go through the command line run what is built; so it is built from what is there now. */
export default function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))], {
    stdio: 'inherit',
  })
}
