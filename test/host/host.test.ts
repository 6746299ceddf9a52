import { expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import { withoutSandbox } from '../support/sandbox.js'

it('tells what the machine has and lacks', async () => {
  expect(await createHost().facts()).toEqual({
    platform: `${process.platform} ${process.arch} node ${process.version}`,
    sandbox: { kind: withoutSandbox === null ? 'bubblewrap' : 'none', reason: expect.stringContaining('bubblewrap') },
    git_version: expect.stringMatching(/^\d+\.\d+/),
  })
})
