// Builds dist/: the library with its dependencies left outside, and the command line with everything in it that can
// be, because loading a hundred small files is what a start costs most, and the web app. `--types` adds the declarations.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { build as buildWeb } from 'vite'

const root = new URL('..', import.meta.url)
const path = (name) => fileURLToPath(new URL(name, root))
const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8'))

/** `above`: where dist/ is, seen from what is built: the parser of commands and the web app lie there. */
const define = (above) => ({
  RETINUE_VERSION: JSON.stringify(version),
  RETINUE_WASM: JSON.stringify(`${above}wasm/`),
  RETINUE_WEB: JSON.stringify(`${above}web/`),
})

const common = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  splitting: true,
  logLevel: 'warning',
}

rmSync(path('dist'), { recursive: true, force: true })
mkdirSync(path('dist/wasm'), { recursive: true })
for (const file of ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm']) {
  copyFileSync(path(`node_modules/${file}`), path(`dist/wasm/${file.split('/')[1]}`))
}
await Promise.all([
  build({
    ...common,
    entryPoints: {
      index: path('src/index.ts'),
      server: path('src/server/index.ts'),
      testing: path('src/testing/index.ts'),
      'testing-store': path('src/testing/store.ts'),
    },
    packages: 'external',
    define: define('./'),
    outdir: path('dist'),
    sourcemap: true,
  }),
  build({
    ...common,
    entryPoints: { main: path('src/cli/main.ts') },
    // Those of a database are loaded by who has one; DBOS asks for much that is not there, and does without.
    external: ['libsql', '@vscode/ripgrep', 'pg', '@dbos-inc/dbos-sdk'],
    define: define('../'),
    // Its CommonJS build, which node would take, loses its named exports when it is bundled and imported later.
    alias: { yaml: path('node_modules/yaml/browser/index.js') },
    outdir: path('dist/cli'),
    minifySyntax: true,
    minifyWhitespace: true,
    // Some dependencies are CommonJS and ask for node's own modules with require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  }),
])
await buildWeb({ configFile: path('web/vite.config.ts'), logLevel: 'warn' })
if (process.argv.includes('--types')) {
  execFileSync(process.execPath, [path('node_modules/typescript/bin/tsc'), '-p', path('tsconfig.build.json')], {
    stdio: 'inherit',
  })
}
