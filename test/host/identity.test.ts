import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createIdentity, psStartTimes } from '../../src/host/identity.js'
import { until } from './helpers.js'

const { owner, isAlive } = createIdentity()

function ownerOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${owner.split(':').slice(0, 2).join(':')}:${pid}:${start}`
}

it('names machine, process and its start, and finds itself alive', () => {
  expect(owner).toMatch(new RegExp(`^[^:]+:[^:]+:${process.pid}:\\d+$`))
  expect(isAlive(owner)).toBe(true)
  expect(createIdentity().owner).toBe(owner)
})

it('tells a living process from a dead one', async () => {
  const child = spawn('sleep', ['1000'])
  await once(child, 'spawn')
  const name = ownerOf(child.pid ?? 0)
  expect(isAlive(name)).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isAlive(name)).toBe(false)
})

it('is not fooled by another process with the same pid', () => {
  expect(isAlive(owner.replace(/\d+$/, '1'))).toBe(false)
})

it('counts a zombie as dead', async () => {
  // What the shell becomes knows nothing of the child it has, and never waits for it.
  const shell = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  await until(() => readFileSync(`/proc/${shell.pid}/comm`, 'latin1') === 'sleep\n')
  process.kill(pid, 'SIGKILL')
  await until(() => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z '))
  expect(isAlive(ownerOf(pid))).toBe(false)
  shell.kill('SIGKILL')
})

it('does not know about other machines, other boots and words that are no owner', () => {
  const [host, boot, pid, start] = owner.split(':')
  expect(isAlive(`elsewhere:${boot}:${pid}:${start}`)).toBe(null)
  expect(isAlive(`${host}:another-boot:${pid}:${start}`)).toBe(null)
  expect(isAlive('nonsense')).toBe(null)
})

it('asks ps where there is no /proc', async () => {
  const { mine, sameStart } = psStartTimes()
  expect(sameStart(process.pid, mine)).toBe(true)
  expect(sameStart(process.pid, String(Number(mine) - 1000))).toBe(false)
  expect(sameStart(2 ** 22 + 1, mine)).toBe(false)
})
