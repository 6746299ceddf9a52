import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { begin, beginChild, called, commanded, finished, taken } from '../../src/store/conformance/fixtures.js'
import { blobDigest, type Store } from '../../src/store/index.js'
import { testFolder, testStore } from './sqlite.js'

describe('verify', () => {
  const files = new WeakMap<Store, string>()

  /** A hand that reaches past the store. */
  async function damage(store: Store, sql: string) {
    const raw = new Database(files.get(store) ?? '')
    raw.exec(sql)
    raw.close()
  }

  /** A run of root (positions 1, 2, 4, 5) and child (3, 6), damaged. */
  async function tampered(sql: string) {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    files.set(store, file)
    await begin(store, 'run')
    await beginChild(store, 'run', 'child')
    const root = { run_id: 'run', agent_id: 'root', epoch: 1 }
    await taken(store, { ...root, expected_seq: 2, events: [called('c'), finished('c')] })
    await taken(store, { ...root, agent_id: 'child', expected_seq: 1, events: [called('d')] })
    expect(await store.verify('run')).toBeNull()
    await damage(store, sql)
    return store
  }

  it.each([
    ['a payload', `data = replace(data, 'roof.md', 'wall.md')`],
    ['the blanks in a payload', `data = replace(data, ':', ': ')`],
    ['a type', `type = 'tool.refused'`],
    ['a version', 'version = 2'],
    ['a time', 'at = at + 1'],
    ['a digest', `digest = replace(digest, substr(digest, 1, 1), 'x')`],
  ])('names the row in which %s was changed', async (_, change) => {
    const store = await tampered(`UPDATE events SET ${change} WHERE position = 4`)
    expect(await store.verify('run')).toMatchObject({ agent_id: 'root', seq: 3, position: 4 })
  })

  it('finds a payload whose digest was made to fit again', async () => {
    const forged = `UPDATE events SET data = '{}', digest = '${'0'.repeat(64)}' WHERE position = 4`
    expect(await (await tampered(forged)).verify('run')).toMatchObject({ position: 4 })
  })

  it('names the row before which one is missing', async () => {
    const store = await tampered('DELETE FROM events WHERE position = 4')
    const message = 'the event at position 4 is missing before it'
    expect(await store.verify('run')).toEqual({ agent_id: 'root', seq: 4, position: 5, message })
  })

  it('finds a row that is missing although the positions were closed up', async () => {
    const store = await tampered(
      'DELETE FROM events WHERE position = 4; UPDATE events SET position = position - 1 WHERE position > 4',
    )
    const message = 'event 4 of the stream follows event 2'
    expect(await store.verify('run')).toEqual({ agent_id: 'root', seq: 4, position: 4, message })
  })

  it('finds rows whose order was changed', async () => {
    const store = await tampered(
      `UPDATE events SET position = -seq, seq = -seq WHERE position IN (4, 5);
       UPDATE events SET position = 7 + seq + 1, seq = 7 + seq WHERE position < 0`,
    )
    expect(await store.verify('run')).toMatchObject({ agent_id: 'root', seq: 3, position: 4 })
  })

  it('finds a cut end by the head of its stream', async () => {
    const store = await tampered('DELETE FROM events WHERE position = 6')
    const message = 'the stream ends with event 1, but its head says 2'
    expect(await store.verify('run')).toEqual({ agent_id: 'child', seq: 2, position: 5, message })
  })

  it('finds a head that does not fit, or is gone', async () => {
    const forged = await tampered(`UPDATE streams SET digest = 'x' WHERE agent_id = 'child'`)
    expect(await forged.verify('run')).toMatchObject({ agent_id: 'child', seq: 2 })
    const gone = await tampered(`DELETE FROM streams WHERE agent_id = 'root'`)
    expect(await gone.verify('run')).toMatchObject({ agent_id: 'root', seq: 4 })
  })

  it('finds a run that was forgotten, or says another length', async () => {
    expect(await (await tampered('UPDATE runs SET last_position = 9')).verify('run')).toMatchObject({ position: 9 })
    expect(await (await tampered('DELETE FROM runs')).verify('run')).not.toBeNull()
  })

  it('does not stop what comes after it, wherever in a long log it stopped', async () => {
    const store = await tampered('SELECT 1')
    const root = { run_id: 'run', agent_id: 'root', epoch: 1 }
    await taken(store, { ...root, expected_seq: 4, events: Array.from({ length: 1500 }, (_, i) => called(`${i}`)) })
    expect(await store.verify('run')).toBeNull()
    await damage(store, `UPDATE events SET data = '{}' WHERE position = 4`)
    expect(await store.verify('run')).toMatchObject({ position: 4 })
    await expect(store.rebuildProjections()).rejects.toMatchObject({ corruption: 'bad_payload' })
    await taken(store, { ...root, expected_seq: 1504, events: [called('last')] })
    expect(await store.run('run')).toMatchObject({ last_position: 1507 })
    expect(await store.read({ run_id: 'run', after: 1506 })).toMatchObject([{ data: { call_id: 'last' } }])
  })

  it('leaves to rebuildProjections what can be mended', async () => {
    const store = await tampered('SELECT 1')
    const before = [await store.runs(), await store.agents('run')]
    const damaged = await tampered(`UPDATE runs SET turns = 9, status = 'closed'; DELETE FROM sub_agents`)
    expect([await damaged.runs(), await damaged.agents('run')]).not.toEqual(before)
    await damaged.rebuildProjections()
    expect([await damaged.runs(), await damaged.agents('run')]).toEqual(before)
  })

  it('is not needed to notice what cannot be read', async () => {
    const unknown = await tampered(`UPDATE events SET type = 'tool.invented' WHERE position = 4`)
    await expect(unknown.read({ run_id: 'run' })).rejects.toMatchObject({
      name: 'CorruptLogError',
      corruption: 'unknown_event',
      where: { run_id: 'run', agent_id: 'root', seq: 3 },
    })
    for (const data of ['{"call_id":1}', '{"call_id"']) {
      const bad = await tampered(`UPDATE events SET data = '${data}' WHERE position = 4`)
      await expect(bad.read({ run_id: 'run' })).rejects.toMatchObject({ corruption: 'bad_payload' })
      await expect(bad.rebuildProjections()).rejects.toMatchObject({ corruption: 'bad_payload' })
      expect(await bad.run('run')).toMatchObject({ last_position: 6 })
    }
  })

  it('is not needed to notice a blob that was changed', async () => {
    const store = await tampered('SELECT 1')
    const bytes = new TextEncoder().encode('slates')
    const digest = blobDigest(bytes)
    const batch = { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: 4, events: [] }
    await taken(store, { ...batch, blobs: [{ digest: blobDigest('other'), bytes }] })
    await expect(store.blob(blobDigest('other'))).rejects.toThrow(digest)
  })
})

describe('verifyControl', () => {
  /** A control log of five events, damaged by a hand that reaches past the store. */
  async function tampered(sql: string) {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    await store.appendControl(['1', '2', '3', '4', '5'].map((given) => commanded(`@writer ${given}`)))
    expect(await store.verifyControl()).toBeNull()
    const raw = new Database(file)
    raw.exec(sql)
    raw.close()
    return store
  }

  it.each([
    ['a payload', `data = replace(data, '@writer', '@tester')`],
    ['an outcome', `data = replace(data, 'success', 'denied')`],
    ['the blanks in a payload', `data = replace(data, ':', ': ')`],
    ['a type', `type = 'control.other'`],
    ['a version', 'version = 2'],
    ['a time', 'at = at + 1'],
    ['a digest', `digest = replace(digest, substr(digest, 1, 1), 'x')`],
  ])('names the row in which %s was changed', async (_, change) => {
    const store = await tampered(`UPDATE control_log SET ${change} WHERE position = 3`)
    expect(await store.verifyControl()).toMatchObject({ position: 3 })
  })

  it('finds a row that is missing, also where the positions were closed up', async () => {
    const gap = await tampered('DELETE FROM control_log WHERE position = 3')
    const message = 'the event at position 3 is missing before it'
    expect(await gap.verifyControl()).toEqual({ position: 4, message })
    const closed = await tampered(
      'DELETE FROM control_log WHERE position = 3; UPDATE control_log SET position = position - 1 WHERE position > 3',
    )
    expect(await closed.verifyControl()).toMatchObject({ position: 3 })
  })

  it('finds a cut end and a cut log by the head', async () => {
    const end = await tampered('DELETE FROM control_log WHERE position = 5')
    const message = 'the control log ends at position 4, but its head says 5'
    expect(await end.verifyControl()).toEqual({ position: 5, message })
    expect(await (await tampered('DELETE FROM control_log')).verifyControl()).toMatchObject({ position: 5 })
  })

  it('finds a head that does not fit, or is gone, after which nothing is taken any more', async () => {
    const forged = await tampered(`UPDATE control_head SET digest = 'x'`)
    const message = 'the head of the control log does not fit its last event'
    expect(await forged.verifyControl()).toEqual({ position: 5, message })
    const gone = await tampered('DELETE FROM control_head')
    expect(await gone.verifyControl()).toEqual({ position: 5, message: 'the control log has no head' })
    await expect(gone.appendControl([commanded('x')])).rejects.toThrow('The control log has no head')
  })

  it('finds rows that were put before the first', async () => {
    const store = await tampered(
      `INSERT INTO control_log (position, type, version, at, data, digest)
       SELECT 0, type, version, at, data, digest FROM control_log WHERE position = 1`,
    )
    expect(await store.verifyControl()).toMatchObject({ position: 0 })
  })

  it('looks at all of a long log', async () => {
    const store = await tampered('SELECT 1')
    await store.appendControl(Array.from({ length: 1200 }, (_, i) => commanded(`${i}`)))
    expect(await store.verifyControl()).toBeNull()
    expect(await store.readControl({ last: 1 })).toMatchObject([{ position: 1205 }])
  })

  it('is not needed to notice what cannot be read', async () => {
    for (const change of [`data = '{"command":1}'`, `data = '{"command"'`, `type = 'control.other'`, 'version = 2']) {
      const bad = await tampered(`UPDATE control_log SET ${change} WHERE position = 3`)
      await expect(bad.readControl()).rejects.toMatchObject({
        name: 'CorruptLogError',
        where: { position: 3 },
        message: expect.stringMatching(/^The control log is corrupt at event 3 \(bad_payload\): control\./),
      })
      expect(await bad.readControl({ after: 3 })).toHaveLength(2)
    }
  })
})
