import { describe, expect, it } from 'vitest'
import { appendSuite } from './conformance/append.js'
import { controlSuite } from './conformance/control.js'
import { controlLogSuite } from './conformance/control-log.js'
import { begin, called, type Subject, taken } from './conformance/fixtures.js'
import { followSuite } from './conformance/follow.js'
import { forOneTest } from './conformance/open.js'
import { projectionSuite } from './conformance/projections.js'
import { subAgentSuite } from './conformance/sub-agents.js'

export type { Subject } from './conformance/fixtures.js'

/** What every store must do. `open` gives a new, empty one each time. */
export function storeConformance(name: string, open: () => Promise<Subject>): void {
  describe(`${name} store`, () => {
    const fresh = forOneTest(open)
    appendSuite(fresh)
    projectionSuite(fresh)
    subAgentSuite(fresh)
    followSuite(fresh)
    controlSuite(fresh)
    controlLogSuite(fresh)

    it('finds everything again when it is opened anew', async (context) => {
      const { store, reopen } = await fresh()
      if (!reopen) return context.skip('this store does not outlive its process')
      await begin(store, 'run')
      const signal = await store.signal({ run_id: 'run', kind: 'cancel', data: null, by: 'anna' })
      const put = { type: 'pin', id: 'x', value: 1, by: 'anna', expected_version: 0 }
      await store.putRecord(put)
      const before = [await store.read({ run_id: 'run' }), await store.run('run'), await store.agents('run')]
      await store.close()
      const again = await reopen()
      expect([await again.read({ run_id: 'run' }), await again.run('run'), await again.agents('run')]).toEqual(before)
      expect(await again.signals({ after: 0 })).toEqual([signal])
      expect(await again.record('pin', 'x')).toMatchObject({ version: 1, value: 1 })
      const next = { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: 2, events: [called('c')] }
      expect(await taken(again, next)).toMatchObject([{ seq: 3, position: 3 }])
      expect(await again.verify('run')).toBeNull()
    })
  })
}
