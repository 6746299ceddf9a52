import { appendFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { accountOf, faultsOf, readLedger } from '../support/chaos-check.js'
import { storm } from '../support/chaos-storm.js'

const RUNS = Number(process.env.RUNS ?? 30)
const CHAOS = process.env.CHAOS !== '0'

it('a storm', async () => {
  const done = await storm(RUNS, {
    chaos: CHAOS,
    late_ms: 90_000,
    onLate: async (at, late) => appendFileSync('/tmp/p6/late.log', `${await accountOf(at, late)}\n\n`),
  })
  const ledger = readLedger(done.ledger)
  const faults: string[] = []
  for (const given of done.given)
    for (const fault of await faultsOf(done, given, ledger)) faults.push(`${given.run.seed} ${given.run_id}: ${fault}`)
  const times = done.given.map(({ took_ms }) => took_ms).sort((a, b) => a - b)
  console.log({
    runs: RUNS,
    took: done.took_ms,
    killed: done.killed,
    restarts: done.restarts,
    median: times[times.length >> 1],
    max: times.at(-1),
  })
  if (faults.length) {
    const { copyFileSync } = await import('node:fs')
    copyFileSync(`${done.ledger}/workers.log`, '/tmp/p6/workers.log')
    const first = done.given.find((g) => faults[0]?.startsWith(`${g.run.seed} `))
    if (first) appendFileSync('/tmp/p6/faulty.log', `${await accountOf(done, first)}\n\n`)
  }
  await done.retinue.close()
  expect(faults).toEqual([])
}, 900_000)
