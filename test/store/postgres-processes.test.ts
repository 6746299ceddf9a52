import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, beginChild } from '../../src/store/conformance/fixtures.js'
import { schemas, urlStore } from './postgres.js'
import { bundleChild, Child } from './processes.js'

const place = schemas()

describe('one database, several processes', () => {
  let child: Awaited<ReturnType<typeof bundleChild>>
  beforeAll(async () => {
    child = await bundleChild()
  })
  afterAll(() => child.remove())

  const play = (...args: string[]) => new Child(process.execPath, [child.script, ...args])

  it('can be set up by many at once', async () => {
    const url = await place()
    const children = [1, 2, 3].map(() => play('open', url))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    expect(await Promise.all(children.map((other) => other.succeeded()))).toEqual([1, 2, 3].map(() => ['ready', '0']))
  })

  it('takes the appends of all, in one order without gaps, and one winner for each event of a shared stream', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    await beginChild(store, 'run', 'shared')
    const names = ['left', 'middle', 'right']
    const children = names.map((name) => play('append', url, name, '40'))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    const outputs = await Promise.all(children.map((other) => other.succeeded()))
    const wins = outputs.map((lines) => Number(lines[1])).reduce((sum, won) => sum + won)
    const log = await store.read({ run_id: 'run' })
    const total = 2 + 1 + names.length * 41 + wins
    expect(log.map(({ position }) => position)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
    for (const name of names) {
      const own = log.filter(({ agent_id }) => agent_id === name)
      expect(own.map(({ seq }) => seq)).toEqual(Array.from({ length: 41 }, (_, i) => i + 1))
    }
    expect(wins).toBeGreaterThan(0)
    expect(await store.verify('run')).toBeNull()
    const before = [await store.runs(), await store.agents('run')]
    await store.rebuildProjections()
    expect([await store.runs(), await store.agents('run')]).toEqual(before)
  })

  it('is followed from another process, and loses nothing acknowledged when one is killed', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    const victim = play('untilKilled', url)
    const seen: number[] = []
    for await (const { position } of store.follow({ run_id: 'run' })) {
      seen.push(position)
      if (position === 40) break
    }
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    await victim.said(10)
    victim.process.kill('SIGKILL')
    await victim.ended
    // Waits for what the server had already got from it.
    await beginChild(store, 'run', 'later')
    expect(await store.verify('run')).toBeNull()
    for (const agent_id of ['a', 'b', 'c']) {
      const acknowledged = victim.lines.filter((line) => line.startsWith(agent_id)).map((line) => Number(line.slice(2)))
      const stored = (await store.read({ run_id: 'run', agent_id })).length
      // At most the append in flight was stored without an acknowledgement, and it whole.
      expect([0, 2]).toContain(stored - Math.max(1, ...acknowledged))
    }
  })

  it.skipIf(process.platform === 'win32')('does not wait for ever for a process that was stopped', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    const victim = play('untilKilled', url)
    await victim.said(10)
    victim.process.kill('SIGSTOP')
    expect(await beginChild(store, 'run', 'other')).toMatchObject([{ seq: 1 }])
    victim.process.kill('SIGCONT')
    const before = victim.lines.length
    await victim.said(before + 5)
    victim.process.kill('SIGKILL')
    await victim.ended
    expect(await store.verify('run')).toBeNull()
  })
})
