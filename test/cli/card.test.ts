import { expect, it } from 'vitest'
import { card } from '../../src/cli/show/card.js'
import { paintFor } from '../../src/cli/style.js'
import { openDossier } from '../../src/index.js'
import { ask, DONE } from '../seeds/asking.js'
import { family } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'

it.each([
  ['auto', 'normal', 'normal; what auto mode allows needs no question; other questions are refused'],
  ['auto', 'auto', 'auto; what would be asked about is refused'],
  ['normal', 'normal', 'normal; what would be asked about is refused'],
] as const)('the card of a sub-agent says what becomes of questions, of %s in %s mode', async (mode, own, words) => {
  const profiles = { own: { mode: own } }
  const { retinue } = await family(
    { root: [ask({ profile: 'own' }), DONE], a1: [DONE] },
    { settings: { mode, delegation: { profiles } } },
  )
  const { events } = await runToEnd(retinue)
  const dossier = openDossier(events, 'a1')
  expect(dossier && card(dossier, paintFor({}, {}))).toContain(`mode        ${words}`)
})
