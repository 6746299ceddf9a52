import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import { describeSandboxed } from '../support/sandbox.js'
import { fenceOf, host, run } from './fenced.js'
import { git, initRepository, put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()

describeSandboxed('names that belong to Retinue', () => {
  const names = (root: string) => readdirSync(root).sort()

  it('are held by any number of commands at once, and free again after the last', async () => {
    const root = temporaryFolder()
    const others = [createHost(), createHost()]
    const spec = {
      command: 'echo x > retinue.yaml; echo x > .retinue; sleep 0.05; rmdir retinue.yaml .git',
      cwd: root,
      fence: fenceOf(root),
      timeout_ms: 20_000,
      max_output_bytes: 1000,
    }
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => (others[i % 2] ?? host).processes.run(spec)))
    expect(results.map(({ status, message }) => ({ status, message }))).toEqual(
      results.map(() => ({ status: 'exited', message: null })),
    )
    expect(names(root)).toEqual([])
  })

  it('are given back for a Retinue that was killed meanwhile', async () => {
    const root = temporaryFolder()
    const dead = spawn('true')
    await once(dead, 'exit')
    mkdirSync(join(root, `retinue.yaml/.retinue-tmp-${dead.pid}-0`), { recursive: true })
    await run(root, 'true')
    expect(names(root)).toEqual([])
  })

  it('are given back also when no command runs any more, and git never sees them', async () => {
    const root = temporaryFolder()
    initRepository(root)
    const seen: string[] = []
    const looked = new AbortController()
    await host.processes.run({
      command: 'echo ready; sleep 30',
      cwd: root,
      fence: fenceOf(root),
      timeout_ms: 20_000,
      max_output_bytes: 1000,
      signal: looked.signal,
      onOutput: () => {
        seen.push(git(root, 'status', '--porcelain'), names(root).join(' '))
        looked.abort()
      },
    })
    expect(seen.slice(0, 2)).toEqual(['', expect.stringContaining('retinue.yaml')])
    const dead = spawn('true')
    await once(dead, 'exit')
    mkdirSync(join(root, `retinue.yaml/.retinue-tmp-${dead.pid}-0`), { recursive: true })
    await createHost().workspace(root)
    expect(names(root)).toEqual(['.git', 'a.txt'])
  })

  it("are left alone where they are somebody's own", async () => {
    const root = temporaryFolder()
    mkdirSync(join(root, '.git'))
    put(root, { '.retinue/db': 'x', 'retinue.yml': 'mode: plan\n' })
    await run(root, 'rm -rf .git .retinue retinue.yml; true')
    expect(names(root)).toEqual(['.git', '.retinue', 'retinue.yml'])
    expect(readdirSync(join(root, '.git'))).toEqual([])
  })
})
