import { type AgentMemory, isOpen, left, reduce } from '../../src/domain/index.js'
import type { StoredEvent } from '../../src/index.js'

type Money = 'total_tokens' | 'cost_usd'
const MONEY: Money[] = ['total_tokens', 'cost_usd']
/** Sums of fractions are not exact. */
const NEARLY = 1e-9

type Account = {
  parent: string | null
  memory: AgentMemory
  /** What its own calls cost, by the events alone. */
  own: Record<Money, number>
  /** By how much its worst call went past what it had left. */
  past: Record<Money, number>
  /** What it had left when its call was made. */
  before: Record<Money, number>
}

/**
 * Goes through the log of a run and holds, at every event and for every agent, what budgets promise: each call is made
 * with enough left for what it is expected to cost; what an agent and all below it spent passes its budget by no more
 * than one call for each of them; what is set aside is what open sub-agents may spend; nobody has more sub-agents,
 * calls, turns or levels than it may. Answers with what is wrong.
 */
export function auditBudgets(
  events: readonly StoredEvent[],
  max_depth: number,
): { faults: string[]; agents: Account[] } {
  const accounts = new Map<string, Account>()
  const faults: string[] = []
  for (const event of events) {
    const { agent_id, type } = event
    const account = accounts.get(agent_id)
    const fault = (what: string) => faults.push(`at ${event.position}, ${agent_id} ${type}: ${what}`)
    let memory: AgentMemory | null
    try {
      memory = reduce(account?.memory ?? null, event)
    } catch (error) {
      fault(String(error))
      return { faults, agents: [...accounts.values()] }
    }
    if (!memory) continue
    if (!account) {
      const { parent } = memory.contract
      accounts.set(agent_id, { parent: parent.agent_id, memory, own: none(), past: none(), before: none() })
      if (parent.depth > max_depth) fault(`is at depth ${parent.depth}`)
      continue
    }
    if (type === 'model.requested') request(account, event, fault)
    if (type === 'model.responded' || type === 'model.failed') answer(account, event)
    account.memory = memory
    reserved(memory, fault)
    for (const above of line(accounts, agent_id)) spent(accounts, above, fault)
  }
  return { faults, agents: [...accounts.values()] }
}

type Fault = (what: string) => void

function request(account: Account, { data }: Extract<StoredEvent, { type: 'model.requested' }>, fault: Fault): void {
  for (const name of MONEY) {
    account.before[name] = left(account.memory.ledger, name)
    const expected = name === 'total_tokens' ? data.estimated_tokens : (data.estimated_usd ?? 0)
    if (account.before[name] < expected) fault(`has ${account.before[name]} ${name} left and expects ${expected}`)
  }
}

function answer(account: Account, event: Extract<StoredEvent, { type: 'model.responded' | 'model.failed' }>): void {
  const cost =
    event.type === 'model.responded'
      ? {
          total_tokens: event.data.usage.input_tokens + event.data.usage.output_tokens,
          cost_usd: event.data.cost_usd ?? 0,
        }
      : { total_tokens: event.data.spent_tokens, cost_usd: event.data.spent_usd ?? 0 }
  for (const name of MONEY) {
    account.own[name] += cost[name]
    account.past[name] = Math.max(account.past[name], cost[name] - account.before[name])
  }
}

function reserved({ ledger, children, contract }: AgentMemory, fault: Fault): void {
  const open = children
    .filter((child) => isOpen(child) && !child.settled)
    .map((child) => child.contract?.execution.budget)
  for (const name of ['total_tokens', 'cost_usd', 'sub_agents'] as const) {
    const sum = open.reduce((total, budget) => total + (budget?.[name] ?? 0), 0)
    if (Math.abs(ledger.reserved[name] - sum) > NEARLY) fault(`${ledger.reserved[name]} ${name} set aside, not ${sum}`)
  }
  for (const name of ['tool_calls', 'turns'] as const) {
    if (ledger.spent[name] > contract.execution.budget[name]) fault(`${ledger.spent[name]} ${name}`)
  }
}

function spent(accounts: Map<string, Account>, id: string, fault: Fault): void {
  const all = [...accounts.entries()].filter(([one]) => line(accounts, one).includes(id)).map(([, account]) => account)
  const { budget } = (accounts.get(id) as Account).memory.contract.execution
  for (const name of MONEY) {
    const limit = budget[name]
    if (limit === null) continue
    const total = all.reduce((sum, { own }) => sum + own[name], 0)
    const flying = all.reduce((sum, { past }) => sum + past[name], 0)
    if (total > limit + flying + NEARLY)
      fault(`${id} may spend ${limit} ${name}, ${total} are spent, ${flying} in flight`)
  }
  const below = all.reduce((sum, { memory }) => sum + memory.children.filter(({ contract }) => contract).length, 0)
  if (below > budget.sub_agents) fault(`${id} has ${below} of ${budget.sub_agents} sub-agents`)
}

/** An agent and all above it. */
function line(accounts: Map<string, Account>, id: string): string[] {
  const above = accounts.get(id)?.parent ?? null
  return above === null ? [id] : [id, ...line(accounts, above)]
}

function none(): Record<Money, number> {
  return { total_tokens: 0, cost_usd: 0 }
}
