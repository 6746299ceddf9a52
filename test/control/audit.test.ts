import { describe, expect, it, onTestFinished } from 'vitest'
import { defineCommand, noArguments } from '../../src/control/index.js'
import { type ControlEvent, commandsIn, ofNewestCommands } from '../../src/domain/index.js'
import type { Control } from '../../src/library/api.js'
import { createControl } from '../../src/library/control-plane.js'
import { RetinueError } from '../../src/library/errors.js'
import type { Store } from '../../src/store/index.js'
import { openPlace, recordsOf } from './commands-place.js'

const WRITER = { agentId: '@writer', profileId: 'docs', description: 'Writes docs.' }

const CHANGES: [string, (control: Control) => Promise<unknown>][] = [
  ['register', (control) => control.register({ ...WRITER, agentId: '@other' })],
  ['unregister', (control) => control.unregister('@writer')],
  ['putRegistry', (control) => control.putRegistry({ version: 1, agents: [] }, 1)],
  ['putProfile', (control) => control.putProfile('mine', { tools: [] }, 0)],
  ['removeProfile', (control) => control.removeProfile('spare')],
  ['pin', (control) => control.pin('docs', 'global')],
  ['unpin', (control) => control.unpin('user')],
  ['a line', (control) => control.execute('/agents register @other | docs | Other.')],
]

/** A place with something to change, and a control plane whose store is one of whose methods something else is done. */
async function furnished() {
  const place = await openPlace(onTestFinished)
  const { store, parts, open } = place
  await place.as('admin').register(WRITER)
  await place.as('admin').putProfile('spare', {}, 0)
  await place.as('admin').pin('docs', 'user')
  const over = (changes: Partial<Store>) => {
    const records = new Proxy(store, {
      get: (target, name: keyof Store) => changes[name] ?? (target[name] as () => unknown).bind(target),
    })
    return createControl({ ...parts, records, principal: { id: 'ada', role: 'admin' } })
  }
  return { store, open, over, begun: (await store.readControl()).length }
}

const full = () => Promise.reject(new Error('disk full'))

describe.each(CHANGES)('a change (%s)', (_, change) => {
  it('is not made where its request cannot be written', async () => {
    const { store, over } = await furnished()
    const before = await recordsOf(store)
    const message = 'Nothing was done, because the control log cannot be written: disk full'
    const told = await change(over({ appendControl: full })).catch((error: unknown) => error)
    expect(told).toEqual(
      told instanceof Error
        ? new RetinueError('store', message)
        : { outcome: 'failure', text: message, data: { error: { code: 'store', message } } },
    )
    expect(await recordsOf(store)).toEqual(before)
  })

  it('is in the log where its result cannot be written', async () => {
    const { store, over, begun } = await furnished()
    const before = await recordsOf(store)
    const appendControl: Store['appendControl'] = async (events) =>
      events.some(({ type }) => type === 'control.command_executed') ? full() : store.appendControl(events)
    await expect(change(over({ appendControl }))).rejects.toThrow('disk full')
    expect(await recordsOf(store)).not.toEqual(before)
    const log = await store.readControl({ after: begun })
    expect(log.map(({ type }) => type)).toEqual(['control.command_requested'])
    expect(commandsIn(log)).toMatchObject([{ principal: 'ada', role: 'admin', outcome: 'interrupted' }])
  })

  it('is in the log, for others too, before anything of it is done', async () => {
    const { open, over, begun } = await furnished()
    const other = await open()
    // As far as a process comes that is killed at its first effect.
    const log = await new Promise<ControlEvent[]>((resolve) => {
      const effect = () => {
        resolve(other.readControl({ after: begun }))
        return new Promise<never>(() => {})
      }
      void change(over({ putRecord: effect, deleteRecord: effect }))
    })
    expect(commandsIn(log).map(({ outcome }) => outcome)).toEqual(['interrupted'])
  })
})

describe('a command of others', () => {
  const spec = {
    name: 'do',
    usage: '/do',
    example: '/do',
    summary: 'does it',
    least: 'viewer',
    parse: noArguments,
  } as const

  it.each([
    [undefined, ['control.command_requested', 'control.command_executed']],
    [false, ['control.command_requested', 'control.command_executed']],
    [true, ['control.command_executed']],
    [() => true, ['control.command_executed']],
  ])('changes something unless it says that it looks: %s', async (looks, types) => {
    const { store, as } = await openPlace(onTestFinished)
    let seen: string[] = []
    const run = async () => {
      seen = (await store.readControl()).map(({ type }) => type)
      return { ok: true as const, text: 'Done.', data: null }
    }
    const command = defineCommand({ ...spec, run, ...(looks === undefined ? {} : { looks }) })
    await as('viewer').execute('/do', {}, [command])
    const log = await store.readControl()
    expect(log.map(({ type }) => type)).toEqual(types)
    expect(seen).toEqual(types.slice(0, -1))
    expect(new Set(log.map(({ data }) => data.request_id)).size).toBe(1)
  })

  it('that fails has its result under its request; one that is not understood was not begun', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const broken = defineCommand({ ...spec, run: () => Promise.reject(new Error('broken')) })
    await expect(as('viewer').execute('/do', {}, [broken])).rejects.toThrow('broken')
    await as('viewer').execute('/do it', {}, [broken])
    const log = await store.readControl()
    expect(log.map(({ type, data }) => [type.slice(16), data.request_id])).toEqual([
      ['requested', 'q1'],
      ['executed', 'q1'],
      ['executed', null],
    ])
    expect(commandsIn(log).map(({ outcome }) => outcome)).toEqual(['failure', 'failure'])
  })
})

describe('the newest commands', () => {
  it('are counted as such, not by their events, and come with all of them', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.register(WRITER)
    await control.agents()
    await control.pin('docs', 'global')
    await control.agents()
    const all = await store.readControl()
    expect(all.map(({ data }) => data.command)).toEqual([
      ...['agents register', 'agents register', 'agents', 'agents pin', 'agents pin', 'agents'],
    ])
    const positions = (last: number) => ofNewestCommands(all, last).map(({ position }) => position)
    expect([0, 1, 2, 3, 4, 9].map(positions)).toEqual([
      ...[[], [6], [4, 5, 6], [3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]],
    ])
    expect((await control.log({ last: 2 })).map(({ position }) => position)).toEqual([4, 5, 6])
    expect(await control.log({ last: 0 })).toEqual([])
    await expect(control.log({ last: 'abc' as unknown as number })).rejects.toEqual(
      new RetinueError('input', 'last must be a whole number, not "abc"'),
    )
  })
})
