import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, beginChild } from '../../src/store/conformance/fixtures.js'
import { bundleChild, Child } from './processes.js'
import { testFolder, testStore } from './sqlite.js'

describe('one file, several processes', () => {
  let child: Awaited<ReturnType<typeof bundleChild>>
  beforeAll(async () => {
    child = await bundleChild()
  })
  afterAll(() => child.remove())

  const play = (...args: string[]) => new Child(process.execPath, [child.script, ...args])

  it('can be created by many at once', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const children = [1, 2, 3].map(() => play('open', file))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    expect(await Promise.all(children.map((other) => other.succeeded()))).toEqual([1, 2, 3].map(() => ['ready', '0']))
  })

  it('takes the appends of all, in one order without gaps, and one winner for each event of a shared stream', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    await begin(store, 'run')
    await beginChild(store, 'run', 'shared')
    const total = 2 + 1 + 2 * 51
    const children = ['left', 'right'].map((name) => play('append', file, name, '50'))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    const outputs = await Promise.all(children.map((other) => other.succeeded()))
    const won = outputs.map((lines) => Number(lines[1]))
    const wins = (won[0] ?? 0) + (won[1] ?? 0)
    const log = await store.read({ run_id: 'run' })
    expect(log.map((event) => event.position)).toEqual(Array.from({ length: total + wins }, (_, i) => i + 1))
    const ofAgent = (id: string) => log.filter((event) => event.agent_id === id)
    expect(ofAgent('left').map((event) => event.seq)).toEqual(Array.from({ length: 51 }, (_, i) => i + 1))
    expect(ofAgent('right').map((event) => event.seq)).toEqual(Array.from({ length: 51 }, (_, i) => i + 1))
    expect(ofAgent('shared').map((event) => event.seq)).toEqual(Array.from({ length: 1 + wins }, (_, i) => i + 1))
    expect(wins).toBeGreaterThan(0)
    expect(await store.verify('run')).toBeNull()
    const before = [await store.runs(), await store.agents('run')]
    await store.rebuildProjections()
    expect([await store.runs(), await store.agents('run')]).toEqual(before)
  })

  it('has one control log, in which batches of all processes stand whole', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    const children = ['left', 'right'].map((name) => play('command', file, name, '40'))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    await Promise.all(children.map((other) => other.succeeded()))
    const log = await store.readControl()
    expect(log.map((event) => event.position)).toEqual(Array.from({ length: 160 }, (_, i) => i + 1))
    for (const name of ['left', 'right']) {
      const own = log.map((event) => event.data.arguments).filter((text) => text.startsWith(name))
      expect(own).toEqual(Array.from({ length: 40 }, (_, i) => [`${name} ${i + 1}a`, `${name} ${i + 1}b`]).flat())
    }
    const seconds = log.flatMap((event, i) => (event.data.arguments.endsWith('b') ? [log[i - 1]?.data.arguments] : []))
    expect(seconds).toEqual(log.map((event) => event.data.arguments).filter((text) => text.endsWith('a')))
    expect(await store.verifyControl()).toBeNull()
  })

  it('loses nothing of the control log that was acknowledged when a process is killed', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const victim = play('commandUntilKilled', file)
    await victim.said(20)
    victim.process.kill('SIGKILL')
    await victim.ended
    const acknowledged = Number(victim.lines.at(-1))
    const store = await testStore(file)
    expect([0, 2]).toContain((await store.readControl()).length - acknowledged)
    expect(await store.verifyControl()).toBeNull()
  })

  it('is followed from another process, soon after the commit', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    await begin(store, 'run')
    await beginChild(store, 'run', 'shared')
    const other = play('append', file, 'left', '50')
    const seen: number[] = []
    for await (const event of store.follow({ run_id: 'run' })) {
      seen.push(event.position)
      if (event.agent_id === 'left' && event.seq === 1) other.tell('go')
      if (seen.length === 2 + 1 + 1 + 100) break
    }
    expect(seen).toEqual(Array.from({ length: 104 }, (_, i) => i + 1))
    expect((await other.succeeded()).at(-1)).toBe('50')
  })

  it('loses nothing acknowledged when a process is killed', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const before = await testStore(file)
    await begin(before, 'run')
    await before.close()
    const victim = play('untilKilled', file)
    await victim.said(40)
    victim.process.kill('SIGKILL')
    await victim.ended
    expect(victim.process.signalCode).toBe('SIGKILL')
    const store = await testStore(file)
    expect(await store.verify('run')).toBeNull()
    for (const agent_id of ['a', 'b', 'c']) {
      const acknowledged = victim.lines.filter((line) => line.startsWith(agent_id)).map((line) => Number(line.slice(2)))
      const stored = (await store.read({ run_id: 'run', agent_id })).length
      expect(acknowledged.length).toBeGreaterThan(0)
      // At most the append in flight was stored without an acknowledgement, and it whole.
      expect([0, 2]).toContain(stored - Math.max(...acknowledged))
    }
    const rows = [await store.runs(), await store.agents('run')]
    await store.rebuildProjections()
    expect([await store.runs(), await store.agents('run')]).toEqual(rows)
  })

  it.skipIf(process.platform === 'win32')('goes on after a full disk, without what did not fit', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    await begin(store, 'run')
    const limited = `ulimit -f 1000; exec '${process.execPath}' '${child.script}' fullDisk '${file}'`
    const lines = await new Child('/bin/sh', ['-c', limited]).succeeded()
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      results: ['rejected', 'rejected'],
      after: 3,
      agents: ['root', 'later'],
    })
    expect(await store.verify('run')).toBeNull()
  })
})
