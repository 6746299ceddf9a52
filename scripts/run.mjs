// Runs a TypeScript file of this repository: node scripts/run.mjs scripts/generate-docs.ts [arguments]
import { mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [entry, ...rest] = process.argv.slice(2)
if (entry === undefined) {
  console.error('usage: node scripts/run.mjs <file.ts> [arguments]')
  process.exit(2)
}

// Below node_modules, so that packages, which are not bundled, are found from there.
const folder = join(root, 'node_modules', '.cache', 'retinue')
const outfile = join(folder, `${basename(entry, '.ts')}-${process.pid}.mjs`)
await mkdir(folder, { recursive: true })
await build({
  entryPoints: [resolve(entry)],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
})
process.argv = [process.argv[0], resolve(entry), ...rest]
process.chdir(root)
try {
  await import(pathToFileURL(outfile).href)
} finally {
  await rm(outfile, { force: true })
}
