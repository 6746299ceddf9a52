import { expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'

it('tells what the machine has and lacks', async () => {
  expect(await createHost().facts()).toEqual({
    platform: `${process.platform} ${process.arch} node ${process.version}`,
    sandbox: { kind: 'none', reason: expect.stringContaining('no sandbox') },
    git_version: expect.stringMatching(/^\d+\.\d+/),
  })
})
