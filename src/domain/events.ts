import { z } from 'zod'
import { plural, timeInWords } from './amounts.js'
import { accessSchema, effectSchema } from './authority.js'
import { contractSchema } from './contract.js'
import { define, oneLine } from './define-event.js'
import { endedAs, ownerInWords, resumerInWords, shortCommit, sourceInWords, turnInWords } from './in-words.js'
import { finishReasonSchema, partSchema, usageSchema } from './messages.js'
import { outcomeSchema } from './outcome.js'
import { PLAN_DEFINITIONS } from './plan-events.js'
import { fileChangeSchema, landingSchema, mergeKindSchema } from './receipt.js'
import { resultSchema } from './result.js'
import { decisionSchema, formatRule, ruleSchema } from './rules.js'
import { titleOf } from './title.js'

const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** What ends a model call without an answer. `interrupted` is the process's own death, found on the way back. */
export const MODEL_FAULTS = [
  'rate_limited',
  'overloaded',
  'auth',
  'context_overflow',
  'bad_request',
  'network',
  'bad_output',
  'aborted',
  'interrupted',
] as const
export const modelFaultSchema = z.enum(MODEL_FAULTS)
export type ModelFault = z.infer<typeof modelFaultSchema>

export const purposeSchema = z.enum(['turn', 'report', 'summary'])
export type Purpose = z.infer<typeof purposeSchema>

export const refusalSchema = z.enum(['unknown_tool', 'invalid_arguments', 'denied', 'budget'])
export type Refusal = z.infer<typeof refusalSchema>

export const toolStatusSchema = z.enum(['ok', 'error', 'timeout', 'cancelled', 'interrupted'])
export type ToolStatus = z.infer<typeof toolStatusSchema>

/** A person's answer, as their face gives it. What it leaves out is nothing: no grant, no note. */
export const personAnswerSchema = z.object({
  answer: z.enum(['allow', 'deny']),
  grant: ruleSchema.nullable().default(null),
  by: z.string().default('person'),
  note: z.string().nullable().default(null),
})

/** The state of the world a writing tool expects to change, so that a restart can tell whether it did. */
export const witnessSchema = z.strictObject({ before: z.string().nullable(), after: z.string().nullable() })
export type Witness = z.infer<typeof witnessSchema>

/** What every event about a sub-agent names. */
const subAgent = { sub_agent_id: z.string(), step_idx: z.int().min(0) }

/** Which of a sub-agent's gates, and what it looks at. */
const gate = {
  gate: z.int().min(0),
  kind: z.enum(['command', 'schema', 'paths']),
  what: z.string(),
  /** On what its parent has with its work merged in. Absent: on its own work. */
  after_merge: z.literal(true).optional(),
}

/** Of what was set aside for a sub-agent. */
const spentSchema = z.strictObject({ total_tokens: z.int(), cost_usd: z.number().nullable(), sub_agents: z.int() })

/** From which commit of the parent's tree to which. */
const merge = { before: z.string(), after: z.string(), kind: mergeKindSchema }

/** Every event there is. */
export const DEFINITIONS = [
  define(
    'run.created',
    z.strictObject({
      session_id: z.string(),
      task: z.string(),
      workspace_root: z.string(),
      retinue_version: z.string(),
      platform: z.string(),
      /** What stands around commands, and why not more. Nothing degrades silently. */
      sandbox: z.strictObject({ kind: z.string(), reason: z.string() }),
      mcp_servers: z.array(
        z.strictObject({ name: z.string(), state: z.string(), version: z.string().nullable(), tools: z.int() }),
      ),
      /** What there is less of than somebody asked for, or might expect. */
      notes: z.array(z.string()),
      /** Which profiles and agents there were, as a stored blob of names and digests. */
      catalog_digest: digest.optional(),
      /** What a person said to which the result of this program's one task is the answer. */
      said: z.string().optional(),
      /** Who started it. Absent: the person whose process it was. */
      by: z.string().optional(),
      /** Which workers run its agents, and whether somebody can be asked. Absent: the process that started it. */
      engine: z
        .strictObject({
          kind: z.literal('dbos'),
          asks: z.boolean(),
          /** The one of the project's checkouts that it was begun in. */
          checkout: z.string().optional(),
          /** The project whose workers have it: whoever says something to it later may be anywhere. */
          project: z.string().optional(),
          /** Its files, for workers in other checkouts. Absent: it is worked on in its own folder alone. */
          travels: z
            .strictObject({
              base: z.string(),
              /** Commits that a checkout must have for it, and what it has besides, as a stored pack. */
              needs: z.array(z.string()),
              parcel: digest.nullable(),
            })
            .optional(),
        })
        .optional(),
    }),
    (d) => `run created${d.by === undefined ? '' : ` by ${d.by}`}: ${titleOf(d.said ?? d.task)}`,
  ),
  define(
    'agent.started',
    z.strictObject({
      contract: contractSchema,
      task: z.string(),
      /** Messages of earlier runs of the session, as a stored blob. */
      history_digest: digest.nullable(),
      /** Calls that earlier runs of the session made, so that no two have the same id. */
      calls_before: z.int(),
      /** The same for its sub-agents. Absent: none. */
      children_before: z.int().optional(),
    }),
    (d) =>
      `agent started on ${d.contract.model.provider}/${d.contract.model.model} in ${d.contract.permissions.mode} mode`,
  ),
  define(
    'agent.resumed',
    z.strictObject({
      owner: z.string(),
      epoch: z.int(),
      /** What stands around commands from here on. */
      sandbox: z.strictObject({ kind: z.string(), reason: z.string() }),
      notes: z.array(z.string()),
      interrupted_request: z.string().nullable(),
      interrupted_calls: z.array(z.string()),
      /** Who wanted it to go on. Absent: the person whose process it is. */
      by: z.string().optional(),
    }),
    (d) =>
      `resumed by ${resumerInWords(d)}${d.interrupted_calls.length > 0 ? `; interrupted: ${d.interrupted_calls.join(', ')}` : ''}`,
  ),
  /** It rested while others worked for it elsewhere, and goes on: nothing was lost, and nobody had to see to it. */
  define(
    'agent.woken',
    z.strictObject({ owner: z.string(), epoch: z.int() }),
    (d) => `goes on in ${ownerInWords(d.owner)}`,
  ),
  define(
    'model.requested',
    z.strictObject({
      request_id: z.string(),
      purpose: purposeSchema,
      model: z.string(),
      /** Digest of the request as built; replay rebuilds it and compares. */
      request_digest: digest,
      messages: z.int(),
      estimated_tokens: z.int(),
      /** What that many tokens cost to read; null when the price is not known. */
      estimated_usd: z.number().nullable(),
      attempt: z.int(),
    }),
    (d) =>
      `asked ${d.model} for a ${d.purpose}${d.attempt > 1 ? ` (attempt ${d.attempt})` : ''}, about ${plural(d.estimated_tokens, 'token')}`,
  ),
  define(
    'model.responded',
    z.strictObject({
      request_id: z.string(),
      purpose: purposeSchema,
      /** The model that answered, as the provider names it. */
      model: z.string(),
      /** `provider/model` that answered: of a pool, one of its members. */
      answered_by: z.string(),
      /** Members of the pool that were asked before it, or passed over, and why. */
      fell_over: z.array(z.strictObject({ model: z.string(), code: z.string(), message: z.string() })),
      parts: z.array(partSchema),
      finish_reason: finishReasonSchema,
      usage: usageSchema,
      /** Some servers do not count. A budget must hold there too, so the tokens are then estimated. */
      usage_source: z.enum(['provider', 'estimate']),
      /** By the price table; null when the price is not known. */
      cost_usd: z.number().nullable(),
      duration_ms: z.int(),
    }),
    (d) => {
      const calls = d.parts.filter((part) => part.type === 'tool_call').map((part) => part.tool)
      const text = d.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const who = d.fell_over.length > 0 ? `${d.answered_by} (after ${plural(d.fell_over.length, 'other')})` : 'model'
      return calls.length > 0 ? `${who} calls ${calls.join(', ')}` : `${who} answers: ${oneLine(text)}`
    },
  ),
  define(
    'model.failed',
    z.strictObject({
      request_id: z.string(),
      code: modelFaultSchema,
      message: z.string(),
      retry_after_ms: z.int().nullable(),
      /** What it may have cost all the same, estimated. */
      spent_tokens: z.int(),
      spent_usd: z.number().nullable(),
      duration_ms: z.int(),
    }),
    (d) => `model call failed, ${d.code}: ${oneLine(d.message)}`,
  ),
  define(
    'permission.asked',
    z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      summary: z.string(),
      reason: z.string(),
      /** The whole command or change that the person is shown, or its head and tail. Absent: the summary says it all. */
      detail: z.string().optional(),
      /** It is the head and tail. */
      detail_cut: z.literal(true).optional(),
      /** What a standing yes would cover. Absent: there is only a yes to this once. */
      grant: ruleSchema.optional(),
    }),
    (d) => `asks: ${oneLine(d.summary)}`,
  ),
  define(
    'permission.answered',
    z.strictObject({
      call_id: z.string(),
      answer: z.enum(['allow', 'deny']),
      /** What is not asked again in this run. */
      grant: ruleSchema.nullable(),
      by: z.string(),
      note: z.string().nullable(),
    }),
    (d) => `${d.by} answers ${d.answer}${d.grant ? ` and ${formatRule(d.grant)} for the rest of the run` : ''}`,
  ),
  define(
    'tool.called',
    z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      args: z.record(z.string(), z.json()),
      /** What was mended in the arguments before they were valid. */
      mended: z.array(z.string()),
      effect: effectSchema,
      summary: z.string(),
      paths: z.array(z.strictObject({ path: z.string(), access: accessSchema })),
      decision: decisionSchema,
      rule: z.string(),
      witness: witnessSchema.nullable(),
      attempt: z.int(),
    }),
    (d) => `${d.tool} ${oneLine(d.summary)}${d.attempt > 1 ? ` (attempt ${d.attempt})` : ''}`,
  ),
  define(
    'tool.refused',
    z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      /** What was to be done. */
      summary: z.string(),
      code: refusalSchema,
      rule: z.string().nullable(),
      content: z.string(),
    }),
    (d) => `${d.tool} ${oneLine(d.summary)} refused, ${d.code}: ${oneLine(d.content)}`,
  ),
  define(
    'tool.finished',
    z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      status: toolStatusSchema,
      /** What the model gets to see: the output, or the head and tail of it. */
      content: z.string(),
      /** The whole output, where `content` is a cut. */
      output: z.strictObject({ digest, bytes: z.int() }).nullable(),
      files_read: z.array(z.string()),
      files_changed: z.array(z.string()),
      /** The sub-agents whose results are in it. Absent: none. */
      delivers: z.array(z.string()).optional(),
      duration_ms: z.int(),
    }),
    (d) =>
      `${d.tool} ${d.status} in ${timeInWords(d.duration_ms)}${d.files_changed.length > 0 ? `, changed ${d.files_changed.join(', ')}` : ''}`,
  ),
  define(
    'context.masked',
    z.strictObject({ call_ids: z.array(z.string()), estimated_tokens: z.int() }),
    (d) => `masked ${plural(d.call_ids.length, 'old tool result')}`,
  ),
  define(
    'context.summarized',
    z.strictObject({
      request_id: z.string(),
      summary: z.string(),
      /** How many messages after the task it stands for. */
      replaced_messages: z.int(),
      /** Or how many of the session before it. Absent: none. */
      replaced_history: z.int().min(1).optional(),
    }),
    (d) =>
      d.replaced_history === undefined
        ? `summarized ${plural(d.replaced_messages, 'message')}`
        : `summarized ${plural(d.replaced_history, 'message')} of the session`,
  ),
  define(
    'budget.exceeded',
    z.strictObject({ limit: z.string(), allowed: z.number(), spent: z.number(), message: z.string() }),
    (d) => d.message,
  ),
  define(
    'run.cancel_requested',
    z.strictObject({ by: z.string(), reason: z.string() }),
    (d) => `cancel requested by ${d.by}: ${d.reason}`,
  ),
  define(
    'agent.cancel_requested',
    z.strictObject({ by: z.string(), reason: z.string() }),
    (d) => `cancel of this sub-agent requested by ${d.by}: ${d.reason}`,
  ),
  define(
    'agent.subagent_created',
    z.strictObject({
      ...subAgent,
      /** The call that asked for it, and which of several of that call it is. */
      call_id: z.string(),
      index: z.int().min(0),
      contract: contractSchema,
      /** What the sub-agent is told. */
      task: z.string(),
      /** Under which its result may be used again in this session. null: not at all. */
      cache_key: z.string().nullable(),
      /** Whose merge conflict it resolves, beginning with that merge. Absent: it has a task of its own. */
      repairs: z.strictObject({ sub_agent_id: z.string(), base: z.string() }).optional(),
    }),
    ({ sub_agent_id, contract }) => {
      const { model, agent, permissions, execution, step, adjustments } = contract
      const where = execution.label === undefined ? '' : `, for a worker with the label ${execution.label}`
      const clamped = adjustments.length > 0 ? `; adjusted: ${adjustments.map(({ field }) => field).join(', ')}` : ''
      const profile = agent.profile_id === null ? '' : `${agent.profile_id} `
      return `${profile}${sub_agent_id} created on ${model.provider}/${model.model} (${sourceInWords(model.source)}) in ${permissions.mode} mode${where}: ${oneLine(step.title)}${clamped}`
    },
  ),
  define(
    'agent.subagent_reused',
    z.strictObject({
      ...subAgent,
      call_id: z.string(),
      index: z.int().min(0),
      title: z.string(),
      cache_key: z.string(),
      /** Whose result it is. */
      from: z.strictObject({ run_id: z.string(), agent_id: z.string() }),
      result: resultSchema,
    }),
    (d) => `${d.sub_agent_id} is not run: the same was done by ${d.from.agent_id} of run ${d.from.run_id}`,
  ),
  define(
    'agent.subagent_started',
    z.strictObject({ ...subAgent, contract: contractSchema, task: z.string() }),
    (d) => `sub-agent started: ${oneLine(d.contract.step.title)}`,
  ),
  define(
    'agent.subagent_attempt',
    z.strictObject({
      ...subAgent,
      attempt: z.int().min(1),
      /** How the attempt before it ended; null for the first. */
      after: z.strictObject({ outcome: outcomeSchema, reason: z.string().nullable() }).nullable(),
    }),
    (d) => `attempt ${d.attempt}${d.after ? ` after ${d.after.outcome}: ${oneLine(d.after.reason ?? '')}` : ''}`,
  ),
  define(
    'agent.subagent_waiting_for_merge',
    z.strictObject({ ...subAgent, result: resultSchema }),
    (d) => `sub-agent has its result, ${d.result.outcome}, and waits to be joined`,
  ),
  define(
    'agent.subagent_failed',
    z.strictObject({ ...subAgent, result: resultSchema }),
    (d) => `${d.sub_agent_id} failed, ${d.result.outcome}: ${oneLine(d.result.reason ?? '')}`,
  ),
  define(
    'agent.subagent_admitted',
    z.strictObject({
      ...subAgent,
      /** The commit of its parent's tree that its own begins with. */
      base: z.string(),
      /** Earlier sub-agents that may write the same files, and were closed first. */
      after: z.array(z.string()),
    }),
    (d) =>
      `${d.sub_agent_id} may write, from ${shortCommit(d.base)}${d.after.length > 0 ? `, now that ${d.after.join(', ')} closed` : ''}`,
  ),
  define(
    'agent.workspace_awaited',
    z.strictObject({
      /** Earlier sub-agents of its parent that may write the same files and are not closed. */
      behind: z.array(z.string()).min(1),
    }),
    (d) => (d.behind[0] === 'root' ? turnInWords(d.behind) : `${turnInWords(d.behind)}: what they own may overlap`),
  ),
  define(
    'agent.worktree_created',
    z.strictObject({
      branch: z.string(),
      /** Relative to the folder of the run. */
      path: z.string(),
      base: z.string(),
      /** What of the person's ignored files it has. */
      included: z.array(z.strictObject({ path: z.string(), how: z.enum(['linked', 'copied']) })),
      /** What it has less of than somebody might expect. */
      notes: z.array(z.string()),
      /** Of a run that travels: where it is. */
      checkout: z.string().optional(),
    }),
    (d) => `works in ${d.path} from here on, on ${d.branch} from ${shortCommit(d.base)}`,
  ),
  /** It goes on in another checkout of the project, with what was carried there. What git ignores stays behind. */
  define(
    'agent.worktree_moved',
    z.strictObject({
      checkout: z.string(),
      commit: z.string(),
      included: z.array(z.strictObject({ path: z.string(), how: z.enum(['linked', 'copied']) })),
      notes: z.array(z.string()),
    }),
    (d) => `its worktree is in another checkout from here on, at ${shortCommit(d.commit)}`,
  ),
  /** Whoever goes on with it, wherever that is, has its files as they were here. */
  define(
    'agent.files_carried',
    z.strictObject({
      commit: z.string(),
      /** What those who know what it began with and was carried before need to have it; null: nothing. */
      parcel: z.strictObject({ digest, bytes: z.int() }).nullable(),
      /** What no commit can have. Absent: nothing. */
      uncommittable: z.array(z.string()).optional(),
      /** It is not what is in its tree, but what this sub-agent begins with. */
      begins: z.string().optional(),
    }),
    (d) =>
      `${d.begins === undefined ? 'its files are' : `${d.begins} begins with`} ${shortCommit(d.commit)} for everybody${d.parcel ? `, ${d.parcel.bytes} bytes` : ''}`,
  ),
  define(
    'agent.setup_started',
    z.strictObject({ command: z.string() }),
    (d) => `makes its worktree ready: ${oneLine(d.command)}`,
  ),
  define(
    'agent.setup_finished',
    z.strictObject({
      command: z.string(),
      passed: z.boolean(),
      /** What came out: its beginning and end. */
      detail: z.string(),
      /** The whole output, where `detail` is a cut. */
      output: z.strictObject({ digest, bytes: z.int() }).nullable(),
      duration_ms: z.int(),
    }),
    (d) => `worktree made ready${d.passed ? '' : ', which failed'}: ${oneLine(d.command)}`,
  ),
  define(
    'agent.worktree_failed',
    z.strictObject({ message: z.string() }),
    (d) => `no worktree to write in: ${oneLine(d.message)}`,
  ),
  define(
    'agent.work_taken',
    z.strictObject({ ...subAgent, commit: z.string(), files: z.array(fileChangeSchema) }),
    (d) => `work of ${d.sub_agent_id} is ${shortCommit(d.commit)}, ${plural(d.files.length, 'file')}`,
  ),
  define(
    'agent.merge_started',
    z.strictObject({ ...subAgent, ...merge }),
    (d) => `merges ${d.sub_agent_id}: ${shortCommit(d.before)} to ${shortCommit(d.after)}`,
  ),
  define(
    'agent.merge_taken_back',
    z.strictObject({ ...subAgent, before: z.string(), after: z.string(), reason: z.string() }),
    (d) => `merge of ${d.sub_agent_id} taken back: ${oneLine(d.reason)}`,
  ),
  define(
    'agent.worktree_merged',
    z.strictObject({ ...subAgent, ...merge, files: z.array(fileChangeSchema) }),
    (d) =>
      `${d.sub_agent_id} merged${d.kind === 'fast_forward' ? ' by fast-forward' : ''}, ${plural(d.files.length, 'file')}`,
  ),
  define(
    'run.landing',
    z.strictObject({ base: z.string(), commit: z.string(), into: z.enum(['changes', 'commit']) }),
    (d) => `brings ${shortCommit(d.commit)} into the folder`,
  ),
  define('run.landed', landingSchema, (d) => `${plural(d.files.length, 'file')} brought into the folder`),
  define('run.kept', landingSchema, (d) => `kept on ${d.branch}: ${oneLine(d.reason ?? '')}`),
  define(
    'agent.gate_started',
    z.strictObject({ ...subAgent, ...gate }),
    (d) => `checks ${d.sub_agent_id}${d.after_merge ? ' after the merge' : ''}: ${oneLine(d.what)}`,
  ),
  define(
    'agent.gate_checked',
    z.strictObject({
      ...subAgent,
      ...gate,
      passed: z.boolean(),
      /** Why not, or what came out: its beginning and end. */
      detail: z.string(),
      /** The whole output, where `detail` is a cut. */
      output: z.strictObject({ digest, bytes: z.int() }).nullable(),
      duration_ms: z.int(),
    }),
    (d) =>
      `check of ${d.sub_agent_id}${d.after_merge ? ' after the merge' : ''} ${d.passed ? 'passed' : 'failed'}: ${oneLine(d.what)}`,
  ),
  define(
    'agent.subagent_settled',
    z.strictObject({ ...subAgent, used: spentSchema }),
    (d) => `${d.sub_agent_id} has done its work and waits to be joined: what it did not use is given back`,
  ),
  define(
    'agent.subagent_closed',
    z.strictObject({
      ...subAgent,
      final_status: z.enum(['completed', 'failed']),
      close_reason: z.string(),
      /** As it stands after the gates. */
      result: resultSchema,
      /** What it really spent of what was set aside for it, all below it included. */
      used: spentSchema,
    }),
    (d) => `${d.sub_agent_id} closed, ${endedAs(d.final_status, d.result.outcome)}: ${oneLine(d.close_reason)}`,
  ),
  define(
    'agent.results_delivered',
    z.strictObject({ sub_agent_ids: z.array(z.string()), content: z.string() }),
    (d) => `results of ${d.sub_agent_ids.join(', ')} handed over, since nobody had asked for them`,
  ),
  ...PLAN_DEFINITIONS,
  define('agent.finished', z.strictObject({ result: resultSchema }), (d) => `agent finished: ${d.result.outcome}`),
  define(
    'run.closed',
    z.strictObject({ outcome: outcomeSchema, reason: z.string(), text: z.string() }),
    (d) => `run closed, ${d.outcome}: ${oneLine(d.reason)}`,
  ),
] as const

type Definition = (typeof DEFINITIONS)[number]
export type EventType = Definition['type']
export type EventData<T extends EventType> = z.infer<Extract<Definition, { type: T }>['data']>

/** An event as it is written. */
export type NewEvent = { [T in EventType]: { type: T; version: 1; at: number; data: EventData<T> } }[EventType]

/** Where the store put it. */
export type Placement = {
  run_id: string
  agent_id: string
  /** Position in the agent's own stream, from 1, without gaps. */
  seq: number
  /** Position in the run, from 1, without gaps, in commit order. */
  position: number
  /** Chained over the agent's stream: a changed row breaks it, and every row after it. */
  digest: string
}

/** An event in its place in an agent's own stream: all that the agent's state depends on. */
export type AgentEvent = NewEvent & Pick<Placement, 'run_id' | 'agent_id' | 'seq'>

/** An event as it is read. */
export type StoredEvent = NewEvent & Placement

export const MANIFEST: ReadonlyMap<string, Definition> = new Map(DEFINITIONS.map((d) => [d.type, d]))

export type EventParse =
  | { ok: true; event: NewEvent }
  | { ok: false; reason: 'unknown_event' | 'bad_payload'; message: string }

/** Reads an event that crosses a border: the log, the wire. */
export function parseEvent(type: string, version: number, at: number, data: unknown): EventParse {
  const definition = MANIFEST.get(type)
  if (!definition || definition.version !== version) {
    return {
      ok: false,
      reason: 'unknown_event',
      message: `no event ${type} version ${version} in this version of Retinue`,
    }
  }
  const parsed = definition.data.safeParse(data)
  if (!parsed.success) return { ok: false, reason: 'bad_payload', message: `${type}: ${z.prettifyError(parsed.error)}` }
  // The data itself, not zod's copy of it: that has its keys in another order, and requests are compared by bytes.
  return { ok: true, event: { type, version, at, data } as NewEvent }
}

/** One line for the condensed timeline. */
export function summarize(event: NewEvent): string {
  const definition = MANIFEST.get(event.type) as { summary: (data: unknown) => string }
  return definition.summary(event.data)
}
