import {
  doingWords,
  type Figures,
  type IdleStep,
  type PlanProgress,
  type RunTree,
  type Standing,
  standingOf,
  type TreeAgent,
  timeAtWork,
  totalsOf,
  waitsForPerson,
} from '../../index.js'
import { NOT_CARRIED_OUT } from '../plan/outcome-lines.js'
import { cost, line, type Paint, plural } from '../style.js'
import { type Row, rowsOf } from './collapse.js'
import { cut, cutStart, fill, fillStart, widthOf } from './width.js'

export type TreeView = {
  columns: number
  rows: number
  now: number
  paint: Paint
  /** The last words of each agent's model. */
  speech: ReadonlyMap<string, string>
  /** Its process is gone, and `now` is when it was seen last. */
  interrupted?: boolean
  /** Of plans: which step each sub-agent does, and which have none. Default: there are none. */
  progress?: Pick<PlanProgress, 'labelOf' | 'idle' | 'isLeft' | 'doing' | 'asks' | 'total'>
}

/** Room that is left for what scrolls by above the tree. */
const ABOVE = 4
const GAP = 2

/** A line before it is cut to the screen: who, what it does, and what it has spent. */
type Cells = { left: string; doing: string; shorten: typeof cut; figures: string[]; row: Row }

/** The tree as lines of a terminal: one for each agent or group, and one with totals. Never taller or wider than it. */
export function treeLines(tree: RunTree, view: TreeView): string[] {
  const height = Math.max(1, Math.min(view.rows - 1, Math.max(view.rows - ABOVE, 3)))
  const idle = (agent_id: string) => view.progress?.idle(agent_id) ?? []
  const cells = rowsOf(tree, height - 1, idle).map((row) => cellsOf(row, view))
  // The last column stays free: a terminal that has drawn there may already be on the next line.
  const width = Math.max(1, view.columns - 1)
  const kept = figuresThatFit(cells, width)
  const figureWidths = kept.map((i) => Math.max(0, ...cells.map(({ figures }) => widthOf(figures[i] ?? ''))))
  const right = figureWidths.reduce((sum, each) => sum + each + GAP, 0)
  const room = Math.max(1, width - right)
  const leftWidth = leftColumn(cells, room)
  const lines = cells.map((cell) => {
    const left = fill(cut(cell.left, leftWidth), leftWidth)
    const doing = cell.shorten(cell.doing, room - leftWidth - GAP)
    const figures = kept.map((i, k) => `  ${fillStart(cell.figures[i] ?? '', figureWidths[k] as number)}`).join('')
    const middle = figures.trim() === '' ? doing : fill(doing, room - leftWidth - GAP)
    return painted(cell, left, room - leftWidth > GAP ? `  ${middle}` : '', figures.trimEnd(), view)
  })
  return [...lines, view.paint.dim(cut(totalsLine(tree, view), width))]
}

/** Who they are takes what it needs, as long as what they do has room; neither has more than it can use. */
function leftColumn(cells: Cells[], room: number): number {
  const widest = Math.max(1, ...cells.map(({ left }) => widthOf(left)))
  const doing = Math.max(0, ...cells.map((cell) => widthOf(cell.doing)))
  return Math.min(widest, Math.max(Math.floor(room / 2), room - doing - GAP))
}

/** Which figures are shown: on a narrow screen calls go first, time last. */
function figuresThatFit(cells: Cells[], width: number): number[] {
  for (let from = 0; from < 4; from++) {
    const kept = [0, 1, 2, 3].slice(from)
    const needed = kept.reduce((sum, i) => {
      const widest = Math.max(0, ...cells.map(({ figures }) => widthOf(figures[i] ?? '')))
      return sum + widest + GAP
    }, 0)
    if (needed <= width * 0.45) return kept
  }
  return []
}

function cellsOf(row: Row, view: TreeView): Cells {
  if (row.kind === 'steps') return stepCells(row, view)
  return row.kind === 'agent' ? agentCells(row, view) : groupCells(row, view)
}

/** Steps that nobody works on, yet or at all. */
function stepCells(row: Extract<Row, { kind: 'steps' }>, { interrupted }: TreeView): Cells {
  const { steps, guides } = row
  const [first, last] = [steps[0] as IdleStep, steps.at(-1) as IdleStep]
  const { over } = first
  const alone = `${first.label} ${named(first.agent, first.title)}`
  const together = `${steps.length} steps ${over ? 'skipped' : 'waiting'} (${first.id}${steps.length > 2 ? ' … ' : ', '}${last.id})`
  return {
    row,
    left: `${guides}${over ? NOT_DONE : MARKS.waiting} ${flat(line(steps.length === 1 ? alone : together))}`,
    doing: flat(steps.length === 1 && (over || interrupted !== true) ? first.why : ''),
    shorten: cut,
    figures: ['', '', '', ''],
  }
}

function named(profile: string | null, title: string): string {
  return profile === null ? title : `${profile}: ${title}`
}

function agentCells(row: Extract<Row, { kind: 'agent' }>, view: TreeView): Cells {
  const { now, speech, interrupted, progress } = view
  const { agent, guides, hidden } = row
  const label = progress?.labelOf(agent.id) ?? null
  const name = `${label === null ? '' : `${label} `}${named(agent.profile, agent.title)}`
  const more = hidden > 0 ? ` (+${hidden})` : ''
  const cut_short = interrupted === true && isOpen(agent)
  const spoken = (!cut_short && agent.request && speech.get(agent.id)?.trim()) || undefined
  const time = agent.started_at === null ? '' : seconds(timeAtWork(agent, now))
  return {
    row,
    left: `${guides}${cut_short ? MARKS.incomplete : markOf(agent, progress)} ${agent.id}${more} ${flat(line(name))}`,
    doing: flat(cut_short ? 'interrupted' : spoken === undefined ? doingOf(agent, progress) : `“${line(spoken)}`),
    // Of what is being said the end is what is new.
    shorten: spoken === undefined ? cut : cutStart,
    figures: [...figureCells(hidden > 0 ? agent.all : agent.own), time],
  }
}

/** What it does itself; what it does with its plan comes first. */
function doingOf(agent: TreeAgent, progress: TreeView['progress']): string {
  if (progress?.isLeft(agent.id)) return NOT_CARRIED_OUT
  return (isOpen(agent) && progress?.doing(agent.id)) || line(doingWords(agent))
}

function isOpen(agent: TreeAgent): boolean {
  const standing = standingOf(agent)
  return standing === 'at_work' || standing === 'waiting'
}

/** A tab has no width of its own. */
function flat(text: string): string {
  return text.replaceAll('\t', ' ')
}

const GROUP_WORDS: Record<Standing, string> = {
  completed: 'done',
  incomplete: 'incomplete',
  failed: 'failed',
  waiting: 'waiting for a slot',
  at_work: 'more at work',
}
const MARKS: Record<Standing, string> = { completed: '✓', incomplete: '!', failed: '✗', waiting: '○', at_work: '●' }
/** A step that was skipped, a plan that was left for later. */
const NOT_DONE = '–'

function groupCells(row: Extract<Row, { kind: 'group' }>, { now }: TreeView): Cells {
  const { agents, standing, guides } = row
  const [first, last] = [agents[0] as TreeAgent, agents.at(-1) as TreeAgent]
  const between = agents.length > 2 ? ' … ' : ', '
  const sum = agents.map(({ all }) => all).reduce(addFigures)
  const longest = Math.max(...agents.map((agent) => timeAtWork(agent, now)))
  return {
    row,
    left: `${guides}${MARKS[standing]} ${agents.length} ${GROUP_WORDS[standing]} (${first.id}${between}${last.id})`,
    doing: '',
    shorten: cut,
    figures: [...figureCells(sum), standing === 'waiting' ? '' : seconds(longest)],
  }
}

function addFigures(a: Figures, b: Figures): Figures {
  return {
    turns: a.turns + b.turns,
    tool_calls: a.tool_calls + b.tool_calls,
    refusals: a.refusals + b.refusals,
    tokens: a.tokens + b.tokens,
    cost_usd: a.cost_usd === null || b.cost_usd === null ? null : a.cost_usd + b.cost_usd,
  }
}

function figureCells({ tool_calls, tokens, cost_usd }: Figures): string[] {
  return [
    tool_calls === 0 ? '' : plural(tool_calls, 'call'),
    tokens === 0 ? '' : `${short(tokens)} tokens`,
    cost_usd === null ? '$?' : cost_usd === 0 ? '' : cost(cost_usd),
  ]
}

function markOf(agent: TreeAgent, progress: TreeView['progress']): string {
  const standing = standingOf(agent)
  if (progress?.isLeft(agent.id)) return NOT_DONE
  if (standing !== 'at_work') return MARKS[standing]
  if (agent.state === 'waiting_for_merge') return '◆'
  return waitsForPerson(agent) || progress?.asks(agent.id) ? '?' : MARKS.at_work
}

/** The mark has the colour of the state, the rest is as quiet as it can be. */
function painted(cell: Cells, left: string, doing: string, figures: string, { paint, progress }: TreeView): string {
  const { row } = cell
  const { guides } = row
  const not_done = row.kind === 'agent' ? progress?.isLeft(row.agent.id) === true : row.kind === 'steps' && isOver(row)
  const colour = not_done ? paint.yellow : colourOf(row, paint)
  const standing = standingOfRow(row)
  const fell_short = standing === 'failed' || standing === 'incomplete'
  const mark = left.slice(guides.length, guides.length + 1)
  const named = left.slice(guides.length + 1)
  return (
    paint.dim(left.slice(0, guides.length)) +
    colour(mark) +
    named +
    (fell_short ? doing : paint.dim(doing)) +
    paint.dim(figures)
  )
}

function isOver({ steps }: Extract<Row, { kind: 'steps' }>): boolean {
  return steps.every(({ over }) => over)
}

function standingOfRow(row: Row): Standing {
  return row.kind === 'agent' ? standingOf(row.agent) : row.standing
}

function colourOf(row: Row, { red, green, yellow, cyan, dim }: Paint): (text: string) => string {
  const standing = standingOfRow(row)
  if (standing === 'at_work') return row.kind === 'agent' && waitsForPerson(row.agent) ? yellow : cyan
  return { completed: green, incomplete: yellow, failed: red, waiting: dim }[standing]
}

function totalsLine(tree: RunTree, { now, interrupted, progress }: TreeView): string {
  const { sub_agents, at_work, waiting, completed, incomplete, failed, figures } = totalsOf(tree)
  const counts: [number, string][] = [
    [interrupted ? at_work + waiting : 0, 'interrupted'],
    [interrupted ? 0 : at_work, 'at work'],
    [interrupted ? 0 : waiting, 'waiting'],
    [completed, 'done'],
    [incomplete, 'incomplete'],
    [failed, 'failed'],
  ]
  const said = counts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  const time = tree.root ? seconds(timeAtWork(tree.root, now)) : ''
  const steps = progress?.total() ?? null
  return [
    ...(steps === null ? [] : [steps]),
    `${plural(sub_agents, 'sub-agent')}${said.length > 0 ? `: ${said.join(', ')}` : ''}`,
    plural(figures.tool_calls, 'call'),
    `${short(figures.tokens)} tokens`,
    cost(figures.cost_usd),
    time,
  ].join(' · ')
}

function short(value: number): string {
  if (value < 1000) return String(value)
  if (value < 999_950) return `${(value / 1000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** Whole seconds: what changes faster would have the tree drawn for nothing. */
function seconds(ms: number): string {
  const s = Math.floor(ms / 1000)
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, '0')} s`
}
