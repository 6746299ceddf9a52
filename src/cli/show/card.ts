import {
  type Authority,
  type Budget,
  type Check,
  type Contract,
  type Dossier,
  type LimitName,
  MODES,
  shortCommit,
  sourceInWords,
} from '../../index.js'
import { cost, count, duration, line, type Paint, printable } from '../style.js'

const LABEL = 12

/** The contract of an agent, to be read: who asked for what, what it may, and what it has spent of its budget. */
export function card(dossier: Dossier, paint: Paint): string[] {
  const { contract, asked_by, reused_from, attempts, worktree } = dossier
  const rows: [label: string, text: string][] = []
  const add = (label: string, text: string | null) => text !== null && rows.push([label, text])
  add('asked by', asked_by === null ? 'whoever started the run' : `${asked_by.agent_id}, with call ${asked_by.call_id}`)
  add('task', dossier.task === '' ? null : dossier.task.trim())
  if (reused_from) {
    add('result', `of ${reused_from.agent_id} of run ${reused_from.run_id}, which did the same; nobody ran here`)
  }
  if (contract) for (const [label, text] of contractRows(contract)) add(label, text)
  add('worktree', worktree && `${worktree.path}, on ${worktree.branch} from ${shortCommit(worktree.base)}`)
  for (const { path, how } of worktree?.included ?? []) add('has', `${path}, ${how} from your folder`)
  for (const note of worktree?.notes ?? []) add('note', note)
  add('attempts', attempts > 1 ? `${attempts}` : null)
  if (contract) add('budget', budgetLines(contract.execution.budget, dossier.spent).join('\n'))
  for (const check of contract?.step.checks ?? []) {
    add('check', checkWords(check))
  }
  for (const { field, asked, given, reason } of contract?.adjustments ?? []) {
    add('adjusted', `${field} from ${asked} to ${given}: ${reason}`)
  }
  return rows.flatMap(([label, text]) => labelled(label, text, paint))
}

function contractRows({ agent, model, permissions, workspace, step }: Contract): [string, string | null][] {
  const { allowed_tools, allowed_skills, allowed_mcp_servers } = permissions
  const others = model.allowed.filter((name) => name !== `${model.provider}/${model.model}`)
  return [
    ['criteria', step.success_criteria.length > 0 ? step.success_criteria.join('\n') : null],
    ['given', step.inputs ? step.inputs.map(({ from, outcome }) => `${from} (${outcome})`).join(', ') : null],
    ['profile', agent.profile_id ?? 'none'],
    ['model', `${model.provider}/${model.model} (${sourceInWords(model.source)})${listed(', may use ', others)}`],
    ['mode', `${permissions.mode}; ${questions(permissions)}`],
    ['tools', listed('', allowed_tools) || 'none'],
    ['skills', listed('', allowed_skills) || null],
    ['servers', listed('', allowed_mcp_servers) || null],
    ['may read', layers(permissions.read_paths)],
    ['may write', workspace.isolation === 'read_only' ? 'nothing' : layers(permissions.write_paths)],
    ['owns', workspace.owns.length > 0 ? workspace.owns.join(' ') : null],
    ['rules', rules(permissions)],
    ['network', permissions.network],
    ['delegation', permissions.can_spawn_children ? `${permissions.max_delegation_depth} deep` : 'none'],
  ]
}

function checkWords(check: Check): string {
  if (check.kind === 'command') return check.command
  if (check.kind === 'schema') return `the answer fits ${JSON.stringify(check.schema)}`
  const { exist = [], unchanged = [] } = check
  return [...exist.map((glob) => `${glob} is there`), ...unchanged.map((glob) => `${glob} is not changed`)].join('\n')
}

/** What becomes of a call that the mode wants asked about. */
function questions({ mode, can_ask_person, unasked = mode }: Authority): string {
  if (can_ask_person) return 'what needs a yes is asked'
  if (MODES.indexOf(unasked) <= MODES.indexOf(mode)) return 'what would be asked about is refused'
  return `what ${unasked} mode allows needs no question; other questions are refused`
}

/** A path must match in each layer. */
function layers(globs: readonly (readonly string[])[]): string {
  return globs.map((layer) => (layer.length > 0 ? layer.join(' ') : 'nothing')).join(', and of that ')
}

function rules({ rules }: Authority): string | null {
  const all = rules.flatMap((layer) => layer.rules)
  const lines = all.map(({ decision, tool, pattern }) => `${decision} ${tool}${pattern === null ? '' : ` ${pattern}`}`)
  return lines.length > 0 ? [...new Set(lines)].join('\n') : null
}

const LIMITS: Record<LimitName, [name: string, show: (value: number) => string]> = {
  turns: ['turns', count],
  tool_calls: ['tool calls', count],
  context_tokens: ['tokens a request', count],
  total_tokens: ['tokens', count],
  cost_usd: ['cost', cost],
  wall_ms: ['time', duration],
  sub_agents: ['sub-agents', count],
}

function budgetLines(budget: Budget, spent: Dossier['spent']): string[] {
  return (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const [what, show] = LIMITS[name]
    const limit = budget[name] === null ? 'no limit' : show(budget[name])
    // How large a request may be is no sum that could be used up.
    if (spent === null || name === 'context_tokens') return `${what}: ${limit}`
    const used = name === 'cost_usd' && !spent.priced ? 'unknown' : show(spent.amounts[name])
    return `${what}: ${used}${budget[name] === null ? ', ' : ' of '}${limit}`
  })
}

function listed(before: string, names: readonly string[]): string {
  return names.length > 0 ? `${before}${names.join(' ')}` : ''
}

/** Every line of a text stands under its first, so that nothing in it can pass for a label of ours. */
export function labelled(label: string, text: string, { dim }: Paint): string[] {
  const [first = '', ...rest] = printable(text).split('\n')
  return [`${dim(label.padEnd(LABEL))}${line(first)}`, ...rest.map((more) => `${' '.repeat(LABEL)}${line(more)}`)]
}
