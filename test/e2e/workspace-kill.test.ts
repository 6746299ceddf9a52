import { describe, expect, it } from 'vitest'
import { strike } from '../support/workspace-blows.js'
import { undisturbed } from '../support/workspace-peace.js'

const FULL = process.env.RETINUE_FULL === '1'

/** Of an undisturbed run; the sweep checks that the number is right. */
const EVENTS = 120
const EVERY = FULL ? 1 : 61
const TIMEOUT_MS = 120_000

describe('a run whose sub-agents write in worktrees, killed with SIGKILL and resumed', () => {
  const peaceful = undisturbed()

  it('is, undisturbed, the run that the sweep counts on', { timeout: TIMEOUT_MS }, async () => {
    expect((await peaceful()).worked.acknowledged).toHaveLength(EVENTS)
  })

  const kills = Array.from({ length: EVENTS }, (_, i) => i + 1).flatMap((position) => [
    { position, when: 'before' as const },
    { position, when: 'after' as const },
  ])
  const chosen = kills.filter((_, i) => i % EVERY === 0)

  it.concurrent.for(chosen)(
    '$when the commit of event $position, leaves the same files in the folder and nothing else',
    { timeout: TIMEOUT_MS },
    async (kill, context) => {
      context.expect(await strike([kill], await peaceful(), context)).toEqual({ kills: 1 })
    },
  )
})
