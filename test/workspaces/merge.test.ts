import { it, type TestContext } from 'vitest'
import { RetinueError } from '../../src/index.js'
import { leftOf, makePerson, type Person } from '../support/merge-person.js'
import { type Played, play } from '../support/merge-play.js'
import { type Scenario, scenarios } from '../support/merge-scenario.js'
import { integrationOf } from '../support/merge-told.js'
import type { WhenFinished } from '../support/project.js'
import { describeSandboxed } from '../support/sandbox.js'

/** Every third in the quick suite. */
const EVERY = process.env.RETINUE_FULL === '1' ? 1 : 3

describeSandboxed('integration, scenario by scenario', () => {
  for (const scenario of scenarios().filter((_, i) => i % EVERY === 0)) {
    it.concurrent(`${scenario.name}: ${scenario.shows}`, { timeout: 180_000 }, (context) => check(scenario, context))
  }
})

type Expect = TestContext['expect']

async function check(scenario: Scenario, { expect, onTestFinished }: TestContext): Promise<void> {
  const finished: WhenFinished = (work) => onTestFinished(work)
  const person = makePerson(scenario, finished)
  const before = person.repository()
  const played = await play(scenario, person, finished)
  const { retinue, model, run_id, outcome, events } = played

  // All in one, so that a difference shows all that is another, with the reasons that agents were told or gave.
  const told = events.flatMap((event) => {
    if (event.type === 'agent.subagent_closed') return [event.data.close_reason]
    return event.type === 'tool.finished' && event.data.status !== 'ok' ? [event.data.content] : []
  })
  expect(
    {
      outcome,
      events: integrationOf(events, run_id),
      files: person.files(),
      left: (await retinue.worktrees()).map(({ agent_id, state }) => `${agent_id} ${state}`).sort(),
      branches: person.branches(run_id),
      ...person.untouched(before),
      own_files_in_commits: person.ownFilesInCommits(),
      replay: (await retinue.replay(run_id)).ok,
    },
    `${scenario.name}\n${told.join('\n')}`,
  ).toEqual({
    outcome: scenario.outcome,
    events: scenario.events,
    files: scenario.expected,
    left: scenario.left.map((agent) => `${agent} kept`),
    branches: scenario.branches,
    touched: scenario.touched,
    woken: '',
    own_files_in_commits: [],
    replay: true,
  })
  checkWords(scenario, played, expect)
  model.assertAllUsed()
  await applied(scenario, played, person, expect)
  await discarded(scenario, played, person, expect)

  // Last, because it is the person who does this.
  expect(person.untouched(before)).toEqual({ touched: scenario.touched, woken: '' })
  if (scenario.wakes === undefined) return
  person.does(scenario.wakes)
  expect(person.untouched(before).woken).not.toBe('')
}

/** Reasons and receipts, of which a scenario says what matters. */
function checkWords({ says, receipts }: Scenario, { events }: Played, expect: Expect): void {
  const reasons: Record<string, string | null> = {}
  const given: Record<string, unknown> = {}
  for (const event of events) {
    if (event.type === 'run.kept') reasons.root = event.data.reason
    if (event.type !== 'agent.subagent_closed') continue
    reasons[event.data.sub_agent_id] = event.data.result.reason
    given[event.data.sub_agent_id] = event.data.result.receipt
  }
  for (const [agent, words] of Object.entries(says)) for (const word of words) expect(reasons[agent]).toContain(word)
  expect(given).toMatchObject(receipts)
}

async function applied(
  { apply, after_apply }: Scenario,
  { retinue, run_id }: Played,
  person: Person,
  expect: Expect,
): Promise<void> {
  if (apply === undefined) return
  if (apply === 'brings_in') await retinue.apply(run_id)
  else await expect(retinue.apply(run_id)).rejects.toThrow(RetinueError)
  expect(person.files()).toEqual(after_apply)
}

/** Clean-up takes nothing that is nowhere else, and discarding takes all of it and nothing of the person's. */
async function discarded(
  { left, apply }: Scenario,
  { retinue, run_id }: Played,
  person: Person,
  expect: Expect,
): Promise<void> {
  const files = person.files()
  const kept = (await retinue.gc()).kept.map(({ agent_id }) => agent_id)
  expect(kept.sort()).toEqual(apply === 'brings_in' ? left.filter((agent) => agent !== 'root') : left)
  await retinue.discard(run_id)
  expect({ ...leftOf(person.cwd, run_id), published: person.branches(run_id), files: person.files() }).toEqual({
    ...{ trees: [], branches: [], published: [] },
    files,
  })
}
