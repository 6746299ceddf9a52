import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

type Landing = { folder: string; base: string; to: string; nth: number }

/** A landing in a process of its own, which is killed before the nth change that it makes to files. 0: it ended well. */
export async function landingProcess(folder: string): Promise<(landing: Landing) => number> {
  const file = join(folder, 'landing.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('./landing-process.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@vscode/ripgrep', 'picomatch'],
    outfile: file,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
  })
  return ({ folder: where, base, to, nth }) => {
    const ended = spawnSync(process.execPath, [file, where, base, to, String(nth)], { encoding: 'utf8' })
    if (ended.signal === 'SIGKILL') return 1
    if (ended.status === 0) return 0
    throw new Error(ended.stdout + ended.stderr)
  }
}
