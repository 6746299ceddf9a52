import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

// Everything is served by `retinue serve` from the package: no outside request, no inline script.
export default defineConfig({
  root: path('.'),
  base: '/',
  resolve: { alias: { '#domain': path('../src/domain/index.ts') } },
  esbuild: { jsx: 'automatic' },
  build: {
    outDir: path('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      // What libraries say to React's servers, and to other bundlers, is nothing to us.
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warning.code !== 'INVALID_ANNOTATION') warn(warning)
      },
    },
  },
})
