import { type IdleStep, type RunTree, type Standing, standingOf, type TreeAgent } from '../../index.js'

/**
 * What one line of the tree stands for: an agent (with all below it, where that is hidden), several siblings, or steps
 * of a plan that nobody works on, yet or at all.
 */
export type Row =
  | { kind: 'agent'; guides: string; agent: TreeAgent; hidden: number }
  | { kind: 'group'; guides: string; standing: Standing; agents: TreeAgent[] }
  | { kind: 'steps'; guides: string; standing: 'waiting'; steps: IdleStep[] }

type Branch = { row: Row; below: Branch[] }

/** How much is left out, from little to much. */
type Strictness = {
  /** What is below a finished branch. */
  fold: boolean
  /** Siblings of these kinds share a line. */
  group: readonly Standing[]
  max_depth: number
  /** So many of those at work have lines of their own; the older ones share one. */
  most_at_work: number
}

type StepsOf = (agent_id: string) => readonly IdleStep[]

/**
 * The rows of a tree, at most so many. What is finished goes first, then what waits to begin, then the deepest, then the
 * oldest of those at work.
 */
export function rowsOf(tree: RunTree, most: number, stepsOf: StepsOf = () => []): Row[] {
  if (!tree.root || most <= 0) return []
  const { root } = tree
  const at = (strictness: Strictness) => flatten(branch(root, strictness, stepsOf))
  let rows: Row[] = []
  for (const strictness of strictnesses(depthOf(root))) {
    rows = at(strictness)
    if (rows.length <= most) return rows
  }
  const grouped = { fold: true, group: ALL, max_depth: 1 }
  const at_work = root.children.filter((child) => standingOf(child) === 'at_work').length
  const others = rows.length - at_work
  // One line goes to those that are left out.
  rows = at({ ...grouped, most_at_work: Math.max(0, most - others - 1) })
  for (const standing of ALL) {
    if (rows.length > most) rows = rows.filter((row) => row.kind !== 'group' || row.standing !== standing)
  }
  return rows.slice(0, most)
}

const FINISHED = ['completed', 'incomplete', 'failed'] as const
const ALL = [...FINISHED, 'waiting'] as const

function* strictnesses(depth: number): Generator<Strictness> {
  const all = { max_depth: Number.POSITIVE_INFINITY, most_at_work: Number.POSITIVE_INFINITY }
  yield { ...all, fold: false, group: [] }
  yield { ...all, fold: true, group: [] }
  yield { ...all, fold: true, group: FINISHED }
  yield { ...all, fold: true, group: ALL }
  for (let max_depth = depth - 1; max_depth >= 1; max_depth--) yield { ...all, fold: true, group: ALL, max_depth }
}

function branch(agent: TreeAgent, strictness: Strictness, stepsOf: StepsOf): Branch {
  const { fold, max_depth, group } = strictness
  const hides = agent.depth >= max_depth || (fold && isFinished(agent) && agent.depth > 0)
  const row: Row = { kind: 'agent', guides: '', agent, hidden: hides ? countBelow(agent) : 0 }
  const all = stepsOf(agent.id)
  const steps = [true, false].flatMap((over) =>
    stepBranches(
      all.filter((step) => step.over === over),
      group.includes(over ? 'completed' : 'waiting'),
    ),
  )
  if (hides || agent.children.length === 0) return { row, below: hides ? [] : steps }
  const groups = new Map<Standing, TreeAgent[]>()
  for (const child of agent.children) {
    const standing = standingOf(child)
    if (!group.includes(standing) || !(standing === 'waiting' || isFinished(child))) continue
    const together = groups.get(standing)
    if (together) together.push(child)
    else groups.set(standing, [child])
  }
  const older = agent.children.filter((child) => standingOf(child) === 'at_work')
  groups.set('at_work', older.slice(0, Math.max(0, older.length - strictness.most_at_work)))
  const alone = (child: TreeAgent) => branch(child, strictness, stepsOf)
  return { row, below: [...children(agent, groups, alone), ...steps] }
}

/** One line each, or one for all of them. */
function stepBranches(steps: readonly IdleStep[], together: boolean): Branch[] {
  const rows = together && steps.length > 1 ? [[...steps]] : steps.map((step) => [step])
  return rows.map((each) => ({ row: { kind: 'steps', guides: '', standing: 'waiting', steps: each }, below: [] }))
}

/** One child alone keeps its own line: a group of one would say less in as much room. */
function children(
  agent: TreeAgent,
  groups: Map<Standing, TreeAgent[]>,
  branchOf: (child: TreeAgent) => Branch,
): Branch[] {
  const together = [...FINISHED, 'at_work' as const].flatMap((standing) => groupBranch(standing, groups))
  const grouped = new Set([...groups.values()].filter(({ length }) => length > 1).flat())
  const alone = agent.children.filter((child) => !grouped.has(child)).map(branchOf)
  return [...together, ...alone, ...groupBranch('waiting', groups)]
}

function groupBranch(standing: Standing, groups: Map<Standing, TreeAgent[]>): Branch[] {
  const agents = groups.get(standing) ?? []
  return agents.length > 1 ? [{ row: { kind: 'group', guides: '', standing, agents }, below: [] }] : []
}

function flatten(top: Branch): Row[] {
  const rows: Row[] = [top.row]
  const add = (branches: Branch[], guides: string) => {
    branches.forEach(({ row, below }, i) => {
      const last = i === branches.length - 1
      rows.push({ ...row, guides: `${guides}${last ? '└ ' : '├ '}` })
      add(below, `${guides}${last ? '  ' : '│ '}`)
    })
  }
  add(top.below, '')
  return rows
}

function isFinished(agent: TreeAgent): boolean {
  return agent.state === 'closed' && agent.children.every(isFinished)
}

function countBelow(agent: TreeAgent): number {
  return agent.children.reduce((sum, child) => sum + 1 + countBelow(child), 0)
}

function depthOf(agent: TreeAgent): number {
  return agent.children.reduce((deepest, child) => Math.max(deepest, depthOf(child)), agent.depth)
}
