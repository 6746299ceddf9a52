import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { fenced, leashed } from '../../src/host/launch.js'
import { createProcesses } from '../../src/host/processes.js'
import { hostCode } from './another.js'
import { livingInSession, temporaryFolders, until } from './helpers.js'

const temporaryFolder = temporaryFolders()
let code: string
const begun: { retinue: ChildProcess; session: number }[] = []

afterEach(() => {
  for (const { retinue, session } of begun.splice(0)) {
    retinue.kill('SIGKILL')
    for (const pid of livingInSession(session)) process.kill(pid, 'SIGKILL')
  }
})

beforeAll(async () => {
  code = await hostCode()
})

/** Another Retinue, which runs a command and tells what it says. */
async function retinueRunning(command: string): Promise<{ retinue: ChildProcess; session: number }> {
  const file = join(temporaryFolder(), 'retinue.mjs')
  const main = `
    const { processes } = createHost()
    const onOutput = (text) => process.stdout.write(text)
    await processes.run({ command: process.argv[2], cwd: '/', timeout_ms: 1e6, max_output_bytes: 1000, onOutput })`
  writeFileSync(file, `${code}\n${main}`)
  const retinue = spawn(process.execPath, [file, command], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(retinue.stdout, 'data')) as [Buffer]
  const running = { retinue, session: Number(line.toString().split('\n')[0]) }
  begun.push(running)
  return running
}

function watcherOf(pid: number): number {
  return (
    readdirSync('/proc')
      .map(Number)
      .find((candidate) => {
        try {
          const parent = readFileSync(`/proc/${candidate}/stat`, 'latin1').split(') ')[1]?.split(' ')[1]
          return Number(parent) === pid && readFileSync(`/proc/${candidate}/cmdline`, 'latin1').includes('leash')
        } catch {
          return false
        }
      }) ?? 0
  )
}

it('ends a command when Retinue is killed without warning', async () => {
  const { retinue, session } = await retinueRunning("trap '' TERM HUP; sleep 1000 & sleep 1000 & echo $$; wait")
  expect(livingInSession(session)).toHaveLength(3)
  // With its whole group, as when a terminal is closed.
  process.kill(-(retinue.pid ?? 0), 'SIGKILL')
  await until(() => livingInSession(session).length === 0, 10_000)
})

it('does not start a command that it does not hold yet', async () => {
  const marker = join(temporaryFolder(), 'marker')
  const { file, args } = leashed(['/usr/bin/touch', marker])
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  child.stdio[3]?.destroy()
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(existsSync(marker)).toBe(false)
})

it('raises no fence that it does not hold yet', async () => {
  const marker = join(temporaryFolder(), 'marker')
  const { file, args } = fenced(['/bin/true'], { bwrap: '/usr/bin/touch', args: [marker] })
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  child.stdio[3]?.destroy()
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(existsSync(marker)).toBe(false)
})

it('holds also after the watcher itself was killed', async () => {
  const { retinue, session } = await retinueRunning('echo $$; sleep 1000')
  const watcher = watcherOf(retinue.pid ?? 0)
  process.kill(watcher, 'SIGKILL')
  await until(() => ![0, watcher].includes(watcherOf(retinue.pid ?? 0)))
  retinue.kill('SIGKILL')
  await until(() => livingInSession(session).length === 0, 10_000)
})

it('lets go of everything when there is nothing to do, and takes it up again', async () => {
  const processes = createProcesses({ idle_ms: 20 })
  const spec = { command: 'echo hello', cwd: '/', timeout_ms: 5000, max_output_bytes: 100 }
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (let i = 0; i < 2; i++) {
    expect(await processes.run(spec)).toMatchObject({ output: 'hello\n' })
    expect(watcherOf(process.pid)).toBeGreaterThan(0)
    await until(() => watcherOf(process.pid) === 0 && descriptors() <= before)
  }
})

it('keeps nobody from ending, and does not stay behind', async () => {
  const { retinue } = await retinueRunning('echo $$')
  const watcher = watcherOf(retinue.pid ?? 0)
  expect(await once(retinue, 'exit')).toEqual([0, null])
  if (watcher > 0) await until(() => livingInSession(watcher).length === 0, 10_000)
})
