import type { ExpectStatic } from 'vitest'
import { foldAgent, type Retinue, type StoredEvent } from '../../src/index.js'
import { tree } from './project.js'
import type { TreeRun } from './tree-run.js'
import { toldTo, withTree } from './tree-work.js'

/** What a write that was cut in the middle leaves behind. Neither agents nor git get to see it. */
const TEMPORARY = /(^|\/)\.retinue-tmp-/

/**
 * What must hold of a finished run of sub-agents, however often it was killed on the way. Answers with what the root's
 * model was told, which must be the same each time.
 */
export function checkTree(
  cwd: string,
  run_id: string,
  run: TreeRun,
  acknowledged: readonly StoredEvent[],
  expect: ExpectStatic,
): Promise<string[]> {
  return withTree(cwd, (retinue) => checkTreeIn(retinue, run_id, run, acknowledged, expect))
}

/** The same, wherever its log is. */
export async function checkTreeIn(
  retinue: Retinue,
  run_id: string,
  { ends, files }: TreeRun,
  acknowledged: readonly StoredEvent[],
  expect: ExpectStatic,
): Promise<string[]> {
  const left = Object.entries(tree(retinue.cwd)).filter(([path]) => path !== 'script.yaml' && !TEMPORARY.test(path))
  expect(Object.fromEntries(left)).toEqual(files)
  expect(await retinue.result(run_id)).toMatchObject({ outcome: 'completed', text: 'All done.' })
  const log = await retinue.events(run_id)
  for (const event of acknowledged) expect(log).toContainEqual(event)
  expect(log.filter(({ type }) => type === 'run.closed')).toHaveLength(1)
  expect(await retinue.store.verify(run_id)).toBe(null)

  const sequences = Object.keys(ends).map((id) => [id, lifeOf(id, log)])
  expect(Object.fromEntries(sequences)).toEqual(
    Object.fromEntries(Object.entries(ends).map(([id, outcome]) => [id, lifeWith(outcome, id, log)])),
  )
  // What was set aside for sub-agents is back.
  const root = foldAgent(log.filter(({ agent_id }) => agent_id === 'root'))
  expect(root?.ledger.reserved).toEqual({ total_tokens: 0, cost_usd: 0, sub_agents: 0 })
  expect(root?.children.every(({ delivered }) => delivered)).toBe(true)

  const rows = await retinue.agents(run_id)
  expect(rows.map(({ agent_id, state }) => [agent_id, state]).sort()).toEqual(
    ['root', ...Object.keys(ends)].map((id) => [id, 'closed']).sort(),
  )
  await retinue.store.rebuildProjections()
  expect(await retinue.agents(run_id)).toEqual(rows)

  const replay = await retinue.replay(run_id)
  expect(replay).toMatchObject({ ok: true, agents: Object.keys(ends).length + 1 })
  return toldTo('root', replay.requests)
}

/** The events of a sub-agent's life in the order of the run, whoever's stream they are in. */
function lifeOf(id: string, log: readonly StoredEvent[]): string[] {
  return log.flatMap(({ type, data, agent_id }) => {
    const about = 'sub_agent_id' in data && data.sub_agent_id === id
    // Where it has a tree of its own it is let write and joined in its turn.
    if (!about || !/subagent|gate/.test(type) || /_(admitted|settled)$/.test(type)) return []
    return [`${agent_id === id ? 'itself' : 'parent'} ${type.replace(/^agent\.(subagent_)?/, '')}`]
  })
}

function lifeWith(outcome: string, id: string, log: readonly StoredEvent[]): string[] {
  const created = log.find((event) => event.type === 'agent.subagent_created' && event.data.sub_agent_id === id)
  const checks = created?.type === 'agent.subagent_created' ? (created.data.contract.step.checks ?? []) : []
  const started = log.filter((event) => event.type === 'agent.gate_started' && event.data.sub_agent_id === id)
  return [
    'parent created',
    'itself started',
    'itself attempt',
    outcome === 'error' ? 'itself failed' : 'itself waiting_for_merge',
    // A gate that was under way is made again, and only its last result counts.
    ...(checks.length > 0 ? [...started.map(() => 'parent gate_started'), 'parent gate_checked'] : []),
    'parent closed',
  ]
}

/** Sub-agents whose own last event is in the log. */
export function finishedIn(log: readonly StoredEvent[]): string[] {
  return log.flatMap(({ type, agent_id }) =>
    /^agent\.subagent_(waiting_for_merge|failed)$/.test(type) && agent_id !== 'root' ? [agent_id] : [],
  )
}
