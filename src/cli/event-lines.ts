import {
  type AgentResult,
  adjustmentWords,
  endedAs,
  keptInWords,
  leftOutInWords,
  type PlanProgress,
  PROGRAM_TOOLS,
  resumerInWords,
  type StoredEvent,
  summarize,
  worktreeOf,
} from '../index.js'
import { planLine } from './plan/event-lines.js'
import { byYou, duration, line, type Paint, plural } from './style.js'

/** The first event after those with which an agent begins. */
const BEGUN_SEQ = 3

type LineOptions = {
  paint: Paint
  /** The run is worked on by another process. */
  elsewhere: boolean
  /** Of a sub-agent: its name stands before what it does. */
  sub_agent: boolean
  /** A tree beside the lines shows what is under way. Default: there are the lines alone. */
  in_tree?: boolean
  /** Of plans, how their steps are called, and how far they have come. Default: it has none. */
  progress?: Pick<PlanProgress, 'labelOf' | 'stepLabel' | 'total'>
}

/** One event of a run as a line for a person; null for those that say nothing new. */
export function eventLine(event: StoredEvent, options: LineOptions): string | null {
  const delegation = delegationLine(event, options)
  if (delegation !== undefined) return delegation
  const text = ofPlan(event, options) ?? ownLine(event, options)
  if (text === null || !options.sub_agent) return text
  return text
    .split('\n')
    .map((each) => `${options.paint.dim(event.agent_id)} ${each.trimStart()}`)
    .join('\n')
}

/** What happens to the plan of an agent; null for everything else. */
function ofPlan(event: StoredEvent, { paint, elsewhere, in_tree = false, progress }: LineOptions): string | null {
  const step = (id: string) => progress?.stepLabel(event.agent_id, id) ?? `step ${line(id)}`
  return planLine(event, { paint, elsewhere, in_tree, step, total: progress?.total() ?? null }) ?? null
}

/** What an agent itself does. */
function ownLine(event: StoredEvent, { paint, elsewhere, sub_agent }: LineOptions): string | null {
  const { dim, red, green, yellow, cyan } = paint
  // How a program hands out its tasks is for programs; each of them has lines of its own.
  if ('tool' in event.data && PROGRAM_TOOLS.includes(event.data.tool) && event.type !== 'tool.refused') return null
  switch (event.type) {
    case 'tool.called':
      // One that goes on with the sub-agents it has, after a wait elsewhere or a restart, does nothing new.
      if (event.data.effect === 'delegate' && event.data.attempt > 1) return null
      return `${cyan('→')} ${event.data.tool} ${dim(line(event.data.summary))}`
    case 'tool.finished': {
      const { status, files_changed, duration_ms, content, tool } = event.data
      // Between the lines of others it would not be clear which call it is.
      const which = sub_agent ? `${tool} ` : ''
      if (status !== 'ok') return `  ${red('✗')} ${which}${status}: ${line(firstLine(content))}`
      if (files_changed.length > 0) return `  ${green('✓')} ${dim(`${which}changed ${line(files_changed.join(', '))}`)}`
      return duration_ms > 1000 ? `  ${green('✓')} ${dim(`${which}${duration(duration_ms)}`)}` : null
    }
    case 'tool.refused':
      return `${red('✗')} ${event.data.tool} ${line(event.data.summary)} ${red('refused')}: ${line(firstLine(event.data.content))}`
    case 'agent.started': {
      const { adjustments } = event.data.contract
      return adjustments.length === 0
        ? null
        : adjustments.map((one) => `${yellow('!')} ${line(adjustmentWords(one))}`).join('\n')
    }
    case 'run.created':
      return degraded(event.data, paint)
    case 'model.responded':
      return event.data.fell_over.length > 0 ? dim(`  ${line(fellOver(event.data))}`) : null
    case 'agent.resumed': {
      const { interrupted_calls } = event.data
      const cut = interrupted_calls.length > 0 ? `; ${plural(interrupted_calls.length, 'call')} cut short` : ''
      const less = degraded(event.data, paint)
      // One that had done nothing yet has only waited for its turn.
      if (event.seq === BEGUN_SEQ && interrupted_calls.length === 0) return less
      return `${yellow('!')} ${line(`resumed by ${resumerInWords(event.data)}${cut}`)}${less === null ? '' : `\n${less}`}`
    }
    case 'permission.asked':
      // At the terminal that asks, the question itself is what is seen.
      return elsewhere ? `${yellow('?')} waits for a person: ${line(event.data.summary)}` : null
    case 'model.requested':
      return event.data.attempt > 1 ? dim(`  trying again, attempt ${event.data.attempt}`) : null
    case 'agent.subagent_attempt':
      return event.data.attempt > 1 ? `${yellow('!')} ${line(summarize(event))}` : null
    case 'model.failed':
    case 'context.masked':
    case 'context.summarized':
    case 'budget.exceeded':
    case 'agent.cancel_requested':
      return `${yellow('!')} ${line(summarize(event))}`
    case 'run.cancel_requested':
      return `${yellow('!')} ${line(elsewhere ? summarize(event) : byYou(summarize(event)))}`
    case 'agent.workspace_awaited':
      // Where its parent is elsewhere, it always has to be asked.
      if (isChildOf(event.agent_id, event.data.behind)) return null
      return `${yellow('○')} ${line(summarize(event))}`
    case 'agent.worktree_created': {
      const { included, notes } = event.data
      const has = included.map(({ path, how }) => `${path} (${how})`)
      return [
        dim(`  ${line(summarize(event))}${has.length > 0 ? line(`, with ${has.join(', ')}`) : ''}`),
        ...notes.map((note) => `${yellow('!')} ${line(note)}`),
      ].join('\n')
    }
    case 'agent.setup_started':
      return dim(`  ${line(summarize(event))}`)
    case 'agent.setup_finished': {
      const { command, passed, detail, duration_ms } = event.data
      if (passed) return `${green('✓')} setup passed: ${line(command)} ${dim(`· ${duration(duration_ms)}`)}`
      return `${red('✗')} setup failed: ${line(command)}: ${line(firstLine(detail))}`
    }
    case 'agent.worktree_failed':
      return `${red('✗')} ${line(summarize(event))}`
    case 'agent.results_delivered':
      return dim(`  ${line(summarize(event))}`)
    default:
      return null
  }
}

/** What a parent does with a sub-agent. undefined: it is about something else. */
function delegationLine(event: StoredEvent, { paint, in_tree, progress }: LineOptions): string | null | undefined {
  const { cyan, dim, green, red, yellow } = paint
  switch (event.type) {
    case 'agent.subagent_created': {
      const { sub_agent_id, contract } = event.data
      const { agent, step, model, execution, adjustments } = contract
      const profile = agent.profile_id === null ? '' : `${line(agent.profile_id)}: `
      const label = progress?.labelOf(sub_agent_id) ?? null
      const who = `${sub_agent_id} ${label === null ? '' : `${dim(label)} `}${profile}`
      const needs = execution.label === undefined ? '' : `, on a worker with the label ${execution.label}`
      const about = dim(`(${model.provider}/${model.model}${needs})`)
      const made = `${cyan('↳')} ${who}${line(step.title)} ${about}`
      const adjusted = adjustments.map((each) => `${yellow('!')} ${sub_agent_id}: ${line(adjustmentWords(each))}`)
      return [made, ...adjusted].join('\n')
    }
    case 'agent.subagent_reused': {
      const { sub_agent_id, title, from } = event.data
      const whose = `the result of ${from.agent_id} of run ${from.run_id} is used again`
      return `${green('✓')} ${sub_agent_id} ${line(title)} ${dim(`· ${whose}`)}`
    }
    case 'agent.gate_started':
      return in_tree ? null : dim(`  ${line(summarize(event))}`)
    case 'agent.gate_checked': {
      const { sub_agent_id, passed, what, detail, duration_ms, after_merge } = event.data
      const check = after_merge ? 'check after the merge' : 'check'
      if (passed)
        return `${green('✓')} ${sub_agent_id} ${check} passed: ${line(what)} ${dim(`· ${duration(duration_ms)}`)}`
      return `${red('✗')} ${sub_agent_id} ${check} failed: ${line(what)}: ${line(firstLine(detail))}`
    }
    case 'agent.worktree_merged':
      return `${green('✓')} ${line(summarize(event))}`
    case 'agent.merge_taken_back':
      return `${red('✗')} ${event.data.sub_agent_id} merge taken back: ${line(firstLine(event.data.reason))}`
    case 'agent.subagent_closed': {
      const { sub_agent_id, final_status, result } = event.data
      const ended = endedAs(final_status, result.outcome)
      const mark = { completed: green('✓'), incomplete: yellow('!'), failed: red('✗') }[ended]
      const closed = `${mark} ${sub_agent_id} ${ended}${why(result, ended)} ${dim(`· ${spent(result)}`)}`
      return [closed, ...leftBehind(result).map((what) => `${yellow('!')} ${sub_agent_id} ${line(what)}`)].join('\n')
    }
    default:
      return undefined
  }
}

/** Where what it wrote is, if it is not in its parent's tree. */
function leftBehind({ receipt }: AgentResult): string[] {
  if (!receipt) return []
  const { branch, kept, left_out } = receipt
  const ignored = left_out.length > 0 ? [`left out ${leftOutInWords(left_out, kept ? worktreeOf(branch) : null)}`] : []
  return kept === null ? ignored : [keptInWords(kept.branch), ...ignored]
}

function why({ outcome, reason }: AgentResult, ended: string): string {
  if (outcome === ended) return ''
  return reason === null ? `, ${outcome}` : `, ${outcome}: ${line(firstLine(reason))}`
}

function spent({ tool_calls, duration_ms, sub_agents = 0 }: AgentResult): string {
  const figures = [plural(tool_calls, 'call'), ...(sub_agents > 0 ? [plural(sub_agents, 'sub-agent')] : [])]
  return [...figures, duration(duration_ms)].join(' · ')
}

/** What there is less of than one might expect. */
function degraded(
  { sandbox, notes }: { sandbox: { kind: string; reason: string }; notes: string[] },
  { yellow }: Paint,
): string | null {
  const said = [...(sandbox.kind === 'none' ? [sandbox.reason] : []), ...notes]
  return said.length > 0 ? said.map((note) => `${yellow('!')} ${line(note)}`).join('\n') : null
}

function fellOver({ fell_over, answered_by }: Extract<StoredEvent, { type: 'model.responded' }>['data']): string {
  return `${fell_over.map(({ model, code }) => `${model}: ${code}`).join('; ')}; ${answered_by} answered`
}

function firstLine(text: string): string {
  const first = text.split('\n', 1)[0] as string
  return first.length > 200 ? `${first.slice(0, 199)}…` : first
}

/** Whether the only one of these is the parent of this sub-agent, which is in its name. */
function isChildOf(id: string, [parent_id, ...others]: readonly string[]): boolean {
  const end = id.lastIndexOf('.')
  return others.length === 0 && parent_id === (end < 0 ? 'root' : id.slice(0, end))
}
