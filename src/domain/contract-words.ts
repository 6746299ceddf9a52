import { costInWords, countInWords, NO_LIMIT, timeInWords } from './amounts.js'
import type { Authority } from './authority.js'
import type { Budget, LimitName } from './budget.js'
import type { Adjustment, Check, Contract } from './contract.js'
import type { Dossier } from './dossier.js'
import { shortCommit, sourceInWords } from './in-words.js'
import { MODES } from './modes.js'

/** A line of what can be read about an agent: a label, and a text of one line or more. */
export type LabelledText = { label: string; text: string }

/** All that a person may want to read: who asked for what, what the agent may, and what it has spent of its budget. */
export function dossierRows({ contract, asked_by, reused_from, attempts, worktree, ...dossier }: Dossier) {
  const asker = asked_by === null ? 'whoever started the run' : `${asked_by.agent_id}, with call ${asked_by.call_id}`
  return stated([
    ['asked by', asker],
    ['task', dossier.task === '' ? null : dossier.task.trim()],
    ['result', reused_from && reusedWords(reused_from)],
    ...(contract ? contractTexts(contract) : []),
    ['worktree', worktree && `${worktree.path}, on ${worktree.branch} from ${shortCommit(worktree.base)}`],
    ...(worktree?.included ?? []).map(({ path, how }): Row => ['has', `${path}, ${how} from your folder`]),
    ...(worktree?.notes ?? []).map((note): Row => ['note', note]),
    ['attempts', attempts > 1 ? `${attempts}` : null],
    ['budget', contract && budgetWords(contract.execution.budget, dossier.spent)],
    ...(contract?.step.checks ?? []).map((check): Row => ['check', checkWords(check)]),
    ...(contract?.adjustments ?? []).map((adjustment): Row => ['adjusted', adjustmentWords(adjustment)]),
  ])
}

/** What a contract lets an agent do, and what it is to reach; without its budget, its checks and its adjustments. */
export function contractRows(contract: Contract): LabelledText[] {
  return stated(contractTexts(contract))
}

/** `used`: null where that is not known, or nothing that is used up. `limit`: null: there is none. */
export type BudgetRow = {
  name: LimitName
  what: string
  used: number | null
  limit: number | null
  /** All of it but the name, such as `3 of 40`. */
  text: string
}

/** Every limit of a budget and what was spent of it; null: nobody has begun to. */
export function budgetRows(budget: Budget, spent: Dossier['spent']): BudgetRow[] {
  return (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const [what, words] = LIMITS[name]
    const limit = budget[name]
    const most = limit === null ? NO_LIMIT : words(limit)
    // How large a request may be is no sum that could be used up.
    if (spent === null || name === 'context_tokens') return { name, what, used: null, limit, text: most }
    const used = name === 'cost_usd' && !spent.priced ? null : spent.amounts[name]
    const text = `${used === null ? 'unknown' : words(used)}${limit === null ? ', ' : ' of '}${most}`
    return { name, what, used, limit, text }
  })
}

/** What code checks of an agent's work, a line for each thing. */
export function checkWords(check: Check): string {
  if (check.kind === 'command') return check.command
  if (check.kind === 'schema') return `the answer fits ${JSON.stringify(check.schema)}`
  const { exist = [], unchanged = [], unmarked = [] } = check
  return [
    ...exist.map((glob) => `${glob} is there`),
    ...unchanged.map((glob) => `${glob} is not changed`),
    ...unmarked.map((path) => `no conflict is marked in ${path}`),
  ].join('\n')
}

/** What somebody asked for and did not get. */
export function adjustmentWords({ field, asked, given, reason }: Adjustment): string {
  return `${field} from ${asked} to ${given}: ${reason}`
}

type Row = [label: string, text: string | null]

function stated(rows: readonly Row[]): LabelledText[] {
  return rows.flatMap(([label, text]) => (text === null ? [] : [{ label, text }]))
}

function reusedWords({ agent_id, run_id }: NonNullable<Dossier['reused_from']>): string {
  return `of ${agent_id} of run ${run_id}, which did the same; nobody ran here`
}

function budgetWords(budget: Budget, spent: Dossier['spent']): string {
  return budgetRows(budget, spent)
    .map(({ what, text }) => `${what}: ${text}`)
    .join('\n')
}

function contractTexts({ agent, model, permissions, execution, workspace, step }: Contract): Row[] {
  const { allowed_tools, allowed_skills, allowed_mcp_servers } = permissions
  const others = model.allowed.filter((name) => name !== `${model.provider}/${model.model}`)
  return [
    ['criteria', step.success_criteria.length > 0 ? step.success_criteria.join('\n') : null],
    ['given', step.inputs ? step.inputs.map(({ from, outcome }) => `${from} (${outcome})`).join(', ') : null],
    ['profile', agent.profile_id ?? 'none'],
    ['model', `${model.provider}/${model.model} (${sourceInWords(model.source)})${listed(', may use ', others)}`],
    ['mode', `${permissions.mode}; ${questions(permissions)}`],
    ['worker', execution.label === undefined ? null : `with the label ${execution.label}`],
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

const LIMITS: Record<LimitName, [what: string, words: (value: number) => string]> = {
  turns: ['turns', countInWords],
  tool_calls: ['tool calls', countInWords],
  context_tokens: ['tokens a request', countInWords],
  total_tokens: ['tokens', countInWords],
  cost_usd: ['cost', costInWords],
  wall_ms: ['time', timeInWords],
  sub_agents: ['sub-agents', countInWords],
}

function listed(before: string, names: readonly string[]): string {
  return names.length > 0 ? `${before}${names.join(' ')}` : ''
}
