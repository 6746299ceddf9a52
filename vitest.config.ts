import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    // Against hanging, not for speed: on a busy machine twenty processes take their time.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // The tests wait for processes and servers more than they compute.
    maxWorkers: 3,
  },
})
