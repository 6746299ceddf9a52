import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { accountOf, faultsOf, leftBehind, readLedger } from '../support/chaos-check.js'
import { storm } from '../support/chaos-storm.js'

const FULL = process.env.RETINUE_FULL === '1'
const RUNS = Number(process.env.RETINUE_CHAOS_RUNS ?? (FULL ? 5000 : 300))

/**
 * A run that takes longer is stuck. There are many at once, and each may lose its worker again and again: on a machine
 * with ten times as much to do as it can, six of 5,000 took longer than five minutes, and ended as they should.
 */
const LATE_MS = 1_200_000

it(
  `${RUNS} runs of eight sub-agents end as they should, whichever worker is killed and however often the database restarts`,
  async () => {
    const accounts: string[] = []
    const done = await storm(RUNS, {
      late_ms: LATE_MS,
      onLate: async (during, late) => void accounts.push(await accountOf(during, late)),
    })
    const ledger = readLedger(done.ledger)
    const faults: string[] = []
    for (const given of done.given) {
      const found = await faultsOf(done, given, ledger)
      if (found.length > 0 && given.problems.length === 0) accounts.push(await accountOf(done, given))
      faults.push(...found.map((fault) => `run ${given.run.seed}: ${fault}`))
    }
    faults.push(...(await leftBehind(done)))
    await done.retinue.close()
    const said = readFileSync(join(done.ledger, 'workers.log'), 'utf8')
    if (faults.length > 0) process.stderr.write([...accounts, said].join('\n\n'))
    expect(faults).toEqual([])
    // It was a storm, and not over before it began.
    expect(done.killed).toBeGreaterThan(0)
    expect(done.restarts).toBeGreaterThan(0)
  },
  // Against hanging, not for speed: 300 take three minutes on two cores that have nothing else to do.
  FULL ? 6 * 3_600_000 : 2_400_000,
)
