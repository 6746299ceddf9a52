import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Tests that go through the command line run what is built; so it is built anew when a source is newer than it. */
export default function setup(): void {
  const built = join(root, 'dist/cli/main.js')
  if (existsSync(built) && statSync(built).mtimeMs > newest()) return
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
}

function newest(): number {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => join('src', file))
  return Math.max(
    ...[...sources, 'package.json', 'scripts/build.mjs'].map((file) => statSync(join(root, file)).mtimeMs),
  )
}
