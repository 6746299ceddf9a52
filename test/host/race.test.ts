import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHost, type Workspace } from '../../src/host/index.js'
import { put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()

/** Exchanges a folder for a link to the outside and back, as fast as it can, whatever others do in between. */
const SWAPPER = `
const { renameSync, rmSync, symlinkSync } = require('node:fs')
const [name, away, outside] = process.argv.slice(1)
const remove = () => { try { rmSync(name, { recursive: true, force: true }) } catch {} }
const attempt = (step) => { try { step() } catch { remove() } }
process.stdout.write('ready')
for (;;) {
  attempt(() => renameSync(name, away))
  attempt(() => symlinkSync(outside, name))
  remove()
  attempt(() => renameSync(away, name))
}`

let base: string
let workspace: Workspace
let swapper: ChildProcess

beforeEach(async () => {
  base = temporaryFolder()
  put(base, { 'proj/dir/file.txt': 'harmless', 'outside/file.txt': 'secret' })
  workspace = await createHost().workspace(join(base, 'proj'))
})

const stop = async () => {
  if (swapper.kill('SIGKILL')) await once(swapper, 'exit')
}
afterEach(stop)

async function swap(name: string, away: string, outside: string): Promise<void> {
  swapper = spawn(process.execPath, ['-e', SWAPPER, name, away, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (swapper.stdout) await once(swapper.stdout, 'data')
}

/** Does it over and over until both answers have come often enough to have met the exchange in every way. */
async function persist(work: () => Promise<{ ok: boolean }>): Promise<void> {
  let done = 0
  let refused = 0
  const end = performance.now() + 500
  while (performance.now() < end || ((done < 20 || refused < 20) && performance.now() < end + 8000)) {
    const results = await Promise.all([work(), work(), work(), work()])
    for (const result of results) result.ok ? done++ : refused++
  }
  expect(done).toBeGreaterThan(0)
  expect(refused).toBeGreaterThan(0)
}

it('never reads through a folder that is exchanged for a link to the outside', async () => {
  await swap(join(base, 'proj/dir'), join(base, 'proj/away'), join(base, 'outside'))
  await persist(async () => {
    const read = await workspace.readText('dir/file.txt')
    expect(read.ok ? read.text : 'harmless').toBe('harmless')
    return read
  })
})

it('never reads a file that is exchanged for a link to the outside', async () => {
  await swap(join(base, 'proj/dir/file.txt'), join(base, 'proj/dir/away.txt'), join(base, 'outside/file.txt'))
  await persist(async () => {
    const [read, searched] = await Promise.all([
      workspace.readText('dir/file.txt'),
      workspace.search({ pattern: 'secret', under: 'dir/file.txt', limit: 5 }),
    ])
    expect(read.ok ? read.text : 'harmless').toBe('harmless')
    expect(searched.ok ? searched.matches : []).toEqual([])
    return read
  })
})

it('never writes through a folder that is exchanged for a link to the outside', async () => {
  await swap(join(base, 'proj/dir'), join(base, 'proj/away'), join(base, 'outside'))
  let n = 0
  await persist(() => workspace.writeText(`dir/${n++ % 2 ? 'file.txt' : `deep${n % 50}/new.txt`}`, 'written'))
  await stop()
  expect(readdirSync(join(base, 'outside'))).toEqual(['file.txt'])
  expect(readFileSync(join(base, 'outside/file.txt'), 'utf8')).toBe('secret')
})

it('never searches or lists a folder that is exchanged for a link to the outside', async () => {
  put(base, { 'outside/only-outside.txt': 'secret' })
  await swap(join(base, 'proj/dir'), join(base, 'proj/away'), join(base, 'outside'))
  await persist(async () => {
    const [searched, found, listed] = await Promise.all([
      workspace.search({ pattern: 'secret', under: 'dir', limit: 5 }),
      workspace.find('only*', { under: 'dir', limit: 5 }),
      workspace.list('dir'),
    ])
    expect(searched.ok ? searched.matches : []).toEqual([])
    expect(found.ok ? found.paths : []).toEqual([])
    expect(listed.ok ? listed.entries.filter((entry) => entry.name.startsWith('only')) : []).toEqual([])
    return listed
  })
})
