import { copyFile, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WhenFinished } from '../../support/project.js'
import { BAD_SERVER, connect, node } from './connect.js'

describe.concurrent('a server whose program is a file of the workspace', () => {
  async function start(finished: WhenFinished, args: string[]) {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'retinue-program-')))
    finished(() => rm(root, { recursive: true, force: true }))
    const program = join(root, 'server.mjs')
    await copyFile(BAD_SERVER, program)
    const { call } = await connect({ bad: node(...args) }, { finished, root })
    const crash = () => call('mcp__bad__crash', {})
    return { program, root, crash, next: () => call('mcp__bad__ok', {}) }
  }
  const refused = (path: string) => ({
    status: 'error',
    content: expect.stringMatching(
      new RegExp(
        `^the server bad has ended \\(.*\\) and is not started again: ${path}, which its command names, has changed in ` +
          'the workspace since it was started\\. A person has to look at the change\\.$',
      ),
    ),
  })

  it('is not started again after the file changed, and is when it is as it was', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const { program, root, crash, next } = await start(finished, ['./server.mjs', 'plain'])
    const before = await readFile(program)
    await writeFile(program, "import { writeFileSync } from 'node:fs'\nwriteFileSync('escaped', '')\n")
    await crash()
    expect(await next()).toMatchObject(refused('server.mjs'))
    await expect(readFile(join(root, 'escaped'))).rejects.toThrow('ENOENT')
    await writeFile(program, before)
    expect(await next()).toMatchObject({ status: 'ok', content: 'fine' })
  })

  it('is not started again after a file that an option names appeared', async ({
    onTestFinished: finished,
    expect,
  }) => {
    const args = ['--env-file-if-exists=.env.local', 'server.mjs', 'plain']
    const { root, crash, next } = await start(finished, args)
    await writeFile(join(root, '.env.local'), 'NODE_OPTIONS=--inspect\n')
    await crash()
    expect(await next()).toMatchObject(refused('.env.local'))
  })

  it('is started again whatever else changed', async ({ onTestFinished: finished, expect }) => {
    const { root, crash, next } = await start(finished, ['server.mjs', 'plain', '', '.'])
    await writeFile(join(root, 'other.mjs'), 'changed\n')
    await crash()
    expect(await next()).toMatchObject({ status: 'ok', content: 'fine' })
  })
})
