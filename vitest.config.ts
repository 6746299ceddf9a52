import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** They look at what their process has loaded or holds, so that each needs one of its own. */
const ALONE = ['test/models/prices-load.test.ts', 'test/host/leash.test.ts', 'test/tools/mcp/memory.test.ts']

/** They are about how soon something happens, or take both cores for minutes: after the others, one by one. */
const STORMS = ['test/e2e/chaos.test.ts', 'test/engine/dbos-kill.test.ts', 'test/engine/dbos-cancel.test.ts']

export default defineConfig({
  // As in web/vite.config.ts, for those parts of the web app that are tested without a browser.
  resolve: { alias: { '#domain': fileURLToPath(new URL('src/domain/index.ts', import.meta.url)) } },
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/postgres-run.ts'],
    // Against hanging, not for speed: on a busy machine twenty processes take their time.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    // CI runs for an hour on a machine that others use too; which tests it had to try twice is in its output.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // The tests wait for processes and servers more than they compute.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      // What was asked for holds wherever agents run and whatever the log is kept in.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/seeds/**/*.test.ts'],
          isolate: false,
          env: { RETINUE_TEST_ENGINE: 'dbos' },
        },
      },
      // Files share their worker's modules: loading them anew for each would take as long as an eighth of the tests.
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: [...ALONE, ...STORMS], isolate: false },
      },
      { extends: true, test: { name: 'storms', include: STORMS, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
