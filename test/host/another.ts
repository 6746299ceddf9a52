import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The host as one piece of code, for processes of their own. */
export async function hostCode(): Promise<string> {
  const built = await build({
    entryPoints: [fileURLToPath(new URL('../../src/host/index.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@vscode/ripgrep', 'picomatch'],
    write: false,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
  })
  return built.outputFiles[0]?.text ?? ''
}

/** Runs a script that has `createHost`, in a process started by the words in front, and answers with what it printed. */
export function runWithHost(
  folder: string,
  code: string,
  script: string,
  front: string[] = [],
): SpawnSyncReturns<string> {
  const file = join(folder, 'with-host.mjs')
  writeFileSync(file, `${code}\n${script}\nprocess.exit(0)`)
  chmodSync(folder, 0o755)
  chmodSync(file, 0o644)
  const [program = process.execPath, ...args] = [...front, process.execPath, file]
  return spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 })
}
