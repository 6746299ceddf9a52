import type { Mode } from '#domain'
import type { StartRun } from '#wire'

/** What somebody has typed and chosen. Empty: nothing is said, so that the settings decide. */
export type RunForm = {
  task: string
  plan: boolean
  /** `pinned`: whoever is pinned. `none`: nobody in particular, whatever is pinned. Else a name or handle. */
  agent: { kind: 'pinned' } | { kind: 'none' } | { kind: 'named'; name: string }
  mode: Mode | ''
  model: string
  turns: string
  tool_calls: string
  total_tokens: string
  cost_usd: string
  minutes: string
}

export type AmountName = 'turns' | 'tool_calls' | 'total_tokens' | 'cost_usd' | 'minutes'

export const NEW_RUN: RunForm = {
  ...{ task: '', plan: false, agent: { kind: 'pinned' }, mode: '', model: '' },
  ...{ turns: '', tool_calls: '', total_tokens: '', cost_usd: '', minutes: '' },
}

export type Fault = { path: string; message: string }
type Order = { ok: true; order: StartRun } | { ok: false; faults: Fault[] }

/** What the server calls them. */
export const LIMITS: Record<AmountName, string> = {
  turns: 'budget.turns',
  tool_calls: 'budget.tool_calls',
  total_tokens: 'budget.total_tokens',
  cost_usd: 'budget.cost_usd',
  minutes: 'budget.wall_ms',
}

/** What the server is asked for, or what cannot be asked for as it is. */
export function orderOf(form: RunForm): Order {
  const faults: Fault[] = []
  const task = form.task.trim()
  if (task === '') faults.push({ path: 'task', message: 'Say what is to be done' })
  const amount = (name: AmountName, whole: boolean): number | undefined => {
    const text = form[name].trim()
    if (text === '') return undefined
    const value = Number(text)
    if (Number.isFinite(value) && value > 0 && (!whole || Number.isInteger(value))) return value
    const number = whole ? 'a whole number' : 'a number'
    faults.push({ path: LIMITS[name], message: `Give ${number} above 0, or nothing for what the settings say` })
    return undefined
  }
  const budget = {
    ...given({ turns: amount('turns', true) }),
    ...given({ tool_calls: amount('tool_calls', true) }),
    ...given({ total_tokens: amount('total_tokens', true) }),
    ...given({ cost_usd: amount('cost_usd', false) }),
    ...given({ wall_ms: inMs(amount('minutes', false)) }),
  }
  if (faults.length > 0) return { ok: false, faults }
  const order: StartRun = {
    task,
    ...(form.plan ? { plan: true } : profileOf(form)),
    ...(form.mode === '' ? {} : { mode: form.mode }),
    ...(form.model.trim() === '' ? {} : { model: form.model.trim() }),
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
  }
  return { ok: true, order }
}

function inMs(minutes: number | undefined): number | undefined {
  return minutes === undefined ? undefined : Math.round(minutes * 60_000)
}

/** Who makes a plan and who carries it out is the plan's to say. */
function profileOf({ agent }: RunForm): Pick<StartRun, 'profile'> {
  if (agent.kind === 'pinned') return {}
  return { profile: agent.kind === 'none' ? null : agent.name }
}

function given<T extends Record<string, number | undefined>>(amount: T): { [K in keyof T]?: number } {
  return Object.values(amount).includes(undefined) ? {} : (amount as { [K in keyof T]: number })
}

/** Faults by the fields that show them, and those that no field shows. */
export function atFields(faults: readonly Fault[], fields: readonly string[]) {
  const at = new Map<string, string>()
  const elsewhere: Fault[] = []
  for (const fault of faults) {
    if (!fields.includes(fault.path)) elsewhere.push(fault)
    else at.set(fault.path, at.has(fault.path) ? `${at.get(fault.path)}; ${fault.message}` : fault.message)
  }
  return { at, elsewhere }
}

/** What happens in a mode where no rule speaks, in a sentence. */
export const MODE_WORDS: Record<Mode, string> = {
  plan: 'Only reads. Nothing is written and no command is run.',
  normal: 'Reads by itself. Asks you before it writes or runs a command.',
  auto: 'Writes in the folder and runs commands in the sandbox by itself. Asks before it goes to the web.',
  dangerous: 'Asks nothing: writes, runs commands with all your rights and goes to the web.',
}
