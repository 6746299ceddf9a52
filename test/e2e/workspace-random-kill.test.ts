import { describe, it } from 'vitest'
import { dice } from '../support/random-tree.js'
import { strike } from '../support/workspace-blows.js'
import { undisturbed } from '../support/workspace-peace.js'

const FULL = process.env.RETINUE_FULL === '1'
const KILLS = FULL ? 30 : 3
const TIMEOUT_MS = 120_000

/** The same each time. `FC_SEED=$RANDOM npm run test:full` looks for new ones. */
const draw = dice(`kill ${process.env.FC_SEED ?? 20261116}`)
/** Parts of the time that an undisturbed run takes. Every third run is killed a second time. */
const chosen = Array.from({ length: KILLS }, (_, i) => {
  const moments = i % 3 === 2 ? [draw(), draw()] : [draw()]
  return { moments, named: moments.map((at) => `${(at * 100).toFixed(1)} %`).join(', then ') }
})

describe('a run whose sub-agents write in worktrees, killed in the middle of whatever it does, and resumed', () => {
  const peaceful = undisturbed()

  it.concurrent.for(chosen)(
    'after $named of its time, leaves the same files in the folder and nothing else',
    { timeout: TIMEOUT_MS },
    async ({ moments }, context) => {
      const peace = await peaceful()
      const blows = moments.map((at) => ({ after_ms: at * peace.worked.took_ms }))
      // A run may be over before.
      context.expect((await strike(blows, peace, context)).kills).toBeLessThanOrEqual(blows.length)
    },
  )
})
