import {
  type Authority,
  allowedUnasked,
  type Call,
  covers,
  type EventData,
  type EventType,
  grantFor,
  type PendingCall,
  permits,
  type Refusal,
  type Rule,
  type ToolStatus,
  type Verdict,
} from '../domain/index.js'
import { resolveToolName } from './aliases.js'
import { readArguments } from './arguments.js'
import { boundDetail, boundOutput } from './bounds.js'
import { onlyLooks } from './commands/looking.js'
import { parseCommand } from './commands/parse.js'
import type { ToolRegistry } from './registry.js'
import type { Plan, PlanResult, Tool, ToolArguments, ToolContext, ToolOutput } from './tool.js'

export type Question = {
  /** Who asks. Absent: the root agent. */
  agent_id?: string
  call_id: string
  tool: string
  summary: string
  reason: string
  /** The whole command or change; null where the summary says it all. */
  detail: string | null
  call: Call
  /** What a standing yes would cover for the rest of the run. null: where a rule wants to be asked each time, none may. */
  grant: Rule | null
}

/** grant: a rule that is not asked about again in this run. */
export type PersonAnswer = { answer: 'allow' | 'deny'; grant: Rule | null; by: string; note: string | null }

/** What the pipeline works in. Everything that it writes down goes through `record`. */
export type Pipeline = {
  registry: ToolRegistry
  authority: Authority
  /** How far below the root the agent is. */
  depth: number
  /** `call_id` is set for each call. Another one as soon as the agent has files of its own. */
  readonly context: ToolContext
  /** Whether the agent has the files that it may change. */
  hasOwnFiles: () => boolean
  /** Gets it such files. false: there are none, and the agent is over. */
  getOwnFiles: () => Promise<boolean>
  /** While nothing else changes the agent's files. */
  alone: <T>(work: () => Promise<T>) => Promise<T>
  /** What a call left in the agent's files goes with it from here on, wherever it goes on. Before its result is known. */
  carryFiles: () => Promise<void>
  now: () => number
  /** Rules that a person granted during the run. */
  grants: () => readonly Rule[]
  /** Tool calls that the budget has left. */
  callsLeft: () => number
  /** The budget had no call left. */
  onBudgetEnd: () => void
  record: <T extends EventType>(type: T, data: EventData<T>) => void
  /** Everything recorded is durable when it resolves. */
  commit: () => Promise<void>
  /** Everything recorded will be durable soon. */
  commitSoon: () => void
  /** Asks the person; null when nobody is there to ask. */
  ask: (question: Question) => Promise<PersonAnswer | null>
  /** Keeps an output that was cut, whole. */
  keepOutput: (text: string) => { digest: string; bytes: number }
  /** Why the context's signal aborted. */
  abortStatus: () => Extract<ToolStatus, 'timeout' | 'cancelled'>
}

type Ready = {
  ok: true
  call: PendingCall
  tool: Tool
  args: ToolArguments
  mended: string[]
  plan: Plan
  subject: Call
  verdict: Verdict
  /** It runs in files that are not the agent's to change, behind a fence that keeps it from that. */
  looks?: true
}
type Refused = {
  ok: false
  call: PendingCall
  tool: string
  summary: string
  code: Refusal
  rule: string | null
  content: string
}

/**
 * The one way a tool call is made, whoever makes it: validate, authorize, record, execute under the deadline, bound
 * the output, record. Calls given together run side by side; the caller gives only such together as read or delegate.
 */
export function callTools(pipeline: Pipeline, calls: readonly PendingCall[]): Promise<void> {
  const changes = calls.some((call) => changesFiles(toolOf(pipeline, call)))
  return changes ? pipeline.alone(() => callTogether(pipeline, calls)) : callTogether(pipeline, calls)
}

async function callTogether(pipeline: Pipeline, calls: readonly PendingCall[]): Promise<void> {
  const prepared: (Ready | Refused)[] = []
  for (const planned of await Promise.all(calls.map((call) => prepare(pipeline, call)))) {
    const ready = await withOwnFiles(pipeline, planned)
    if (ready === null) return
    prepared.push(ready)
  }
  const admitted: Ready[] = []
  for (const call of prepared) {
    const answer = call.ok ? await admit(pipeline, call) : call
    if (answer.ok) admitted.push(answer)
    else refuse(pipeline, answer)
  }
  if (admitted.length === 0) return
  // Reading changes nothing that a restart would have to know about, so it need not wait for the disk.
  if (admitted.every(({ tool }) => tool.effect === 'read')) pipeline.commitSoon()
  else await pipeline.commit()
  await sideBySide(
    admitted,
    ({ tool }) => tool,
    (call) => execute(pipeline, call),
  )
}

/** Those that servers offer work on files of their own. */
function changesFiles(tool: Tool | null): boolean {
  return tool?.server === undefined && (tool?.effect === 'write' || tool?.effect === 'execute')
}

function toolOf({ registry }: Pipeline, { part }: PendingCall): Tool | null {
  return registry.get(resolveToolName(part.tool) ?? part.tool)
}

/**
 * What changes files is done in those that the agent may change. Where it gets them only now, the call is prepared
 * anew: there may be something else in them. null: it cannot have any.
 */
async function withOwnFiles(pipeline: Pipeline, call: Ready | Refused): Promise<Ready | Refused | null> {
  if (!call.ok || !changesFiles(call.tool) || pipeline.hasOwnFiles() || isHopeless(pipeline, call)) return call
  if (pipeline.context.fence && onlyLooks(call.subject.commands)) return { ...call, looks: true }
  return (await pipeline.getOwnFiles()) ? prepare(pipeline, call.call) : null
}

/** Whether it is going to be refused, whoever is asked. */
function isHopeless(pipeline: Pipeline, call: Ready): boolean {
  const { decision } = call.verdict
  if (decision !== 'ask') return decision === 'deny' || pipeline.callsLeft() <= 0
  const covered = isGrantable(call) && covers(pipeline.grants(), call.subject)
  return !covered && !pipeline.authority.can_ask_person && !isUnasked(pipeline, call)
}

/** Together, but for calls that wait for what the others begin. */
async function sideBySide<C>(
  calls: readonly C[],
  toolFor: (call: C) => Tool | null,
  work: (call: C) => Promise<void>,
): Promise<void> {
  const joins = (call: C) => toolFor(call)?.joins === true
  await Promise.all(calls.filter((call) => !joins(call)).map(work))
  await Promise.all(calls.filter(joins).map(work))
}

/** Whether an agent may run a command that it did not ask for itself: a check of a sub-agent's work. */
export async function judgeCommand(authority: Authority, command: string, sandboxed: boolean): Promise<Verdict> {
  const subject = await commandSubject(command, sandboxed)
  return permits(authority, { tool: 'run_command', effect: 'execute', paths: [], ...subject })
}

/** Arguments that nobody could read are kept with the answer of the model; here a beginning of them is enough. */
const SUMMARY_CHARS = 200

const NOT_STARTED = 'Not started: the run was stopped first.'

/** Settles calls that a dead process had begun: side by side, as they were made. */
export function recoverCalls(pipeline: Pipeline, calls: readonly PendingCall[], may_repeat: boolean): Promise<void> {
  const began = ({ intent }: PendingCall) => (intent ? pipeline.registry.get(intent.tool) : null)
  const recover = () => sideBySide(calls, began, (call) => recoverCall(pipeline, call, may_repeat))
  return calls.some((call) => changesFiles(began(call))) ? pipeline.alone(recover) : recover()
}

/**
 * A call that a dead process had begun is repeated if that is safe or if it can be shown that it did not take
 * effect; shown to have taken effect, it is reported as done; otherwise the agent is told that nobody knows.
 */
async function recoverCall(pipeline: Pipeline, call: PendingCall, may_repeat: boolean): Promise<void> {
  const intent = call.intent as NonNullable<PendingCall['intent']>
  const tool = pipeline.registry.get(intent.tool)
  const state = tool ? await stateOf(tool, intent, contextOf(pipeline, call)) : 'unknown'
  if (state === 'not_done' && may_repeat) {
    const again = await prepare(pipeline, call)
    // What was permitted was this call on these paths; if they lead elsewhere by now, nobody permitted that.
    const same = again.ok && JSON.stringify(again.plan.paths) === JSON.stringify(intent.paths)
    if (again.ok && same && again.verdict.decision !== 'deny') {
      // One that only waited goes on. Said again at each rest, a long list of tasks would be most of the log.
      if (!intent.rested) recordIntent(pipeline, again, intent.attempt + 1)
      await pipeline.commit()
      await execute(pipeline, again)
      return
    }
  }
  if (changesFiles(tool)) await pipeline.carryFiles()
  settle(pipeline.record, intent, state === 'done')
}

/** Calls of a dead process that nobody can look into any more: the agent is told that nobody knows. */
export function giveUpCalls(record: Pipeline['record'], calls: readonly PendingCall[]): void {
  for (const { intent } of calls) if (intent) settle(record, intent, false)
}

function settle(record: Pipeline['record'], intent: NonNullable<PendingCall['intent']>, done: boolean): void {
  const changed = intent.paths.filter((path) => path.access === 'write').map((path) => path.path)
  record('tool.finished', {
    call_id: intent.call_id,
    tool: intent.tool,
    status: done ? 'ok' : 'interrupted',
    content: done ? DONE_BEFORE_RESTART : INTERRUPTED,
    output: null,
    files_read: [],
    files_changed: done ? changed : [],
    duration_ms: 0,
  })
}

const DONE_BEFORE_RESTART =
  'The runtime was restarted during this call. It was checked afterwards: the call had taken effect.'
const INTERRUPTED =
  'Interrupted: the runtime was stopped during this call, and whether it took effect is not known. Look before you repeat it.'

async function stateOf(tool: Tool, intent: EventData<'tool.called'>, context: ToolContext) {
  if (tool.repeatable) return 'not_done'
  if (!tool.recover || !intent.witness) return 'unknown'
  return tool.recover(intent.args, intent.witness, context)
}

async function prepare(pipeline: Pipeline, call: PendingCall): Promise<Ready | Refused> {
  const name = resolveToolName(call.part.tool) ?? call.part.tool
  const refused = (code: Refusal, content: string): Refused => ({
    ok: false,
    call,
    tool: name,
    summary: call.part.args,
    code,
    rule: null,
    content,
  })
  const tool = pipeline.registry.get(name)
  if (!tool) {
    const { allowed_tools } = pipeline.authority
    if (name.startsWith('mcp__') && allowed_tools.includes(name)) {
      return refused(
        'unknown_tool',
        `The MCP server of ${name} is not connected any more. Find another way, or finish.`,
      )
    }
    const offered = allowed_tools.filter((known) => pipeline.registry.get(known)).join(', ') || 'none'
    return refused('unknown_tool', `There is no tool ${call.part.tool}. Tools: ${offered}.`)
  }
  // Said before anything else, since who may not delegate has nothing to plan with.
  const may = tool.effect === 'delegate' ? permits(pipeline.authority, delegating(tool, pipeline.depth)) : null
  if (may?.decision === 'deny') return { ...refused('denied', `Not allowed: ${may.reason}.`), rule: may.rule }
  const read = readArguments(tool, call.part.args)
  if (!read.ok) return refused('invalid_arguments', read.message)
  const masked = pipeline.context.redactor.masksIn(JSON.stringify(read.args))
  if (masked.length > 0) return refused('invalid_arguments', maskedArguments(tool, masked))
  const planned = await plan(tool, read.args, contextOf(pipeline, call))
  if (!planned.ok) {
    const reveals: Call = { tool: name, effect: 'read', paths: planned.reveals ?? [], depth: pipeline.depth }
    const verdict = permits(pipeline.authority, reveals)
    if (planned.reveals && verdict.decision !== 'allow') return refused('denied', `Not allowed: ${verdict.reason}.`)
    return refused('invalid_arguments', planned.message)
  }
  const subject = await subjectOf(pipeline, tool, planned.plan)
  const verdict = permits(pipeline.authority, subject)
  return { ok: true, call, tool, args: read.args, mended: read.mended, plan: planned.plan, subject, verdict }
}

/** A mask means nothing to a file, a command or a search; written over what has the secret, it would destroy it. */
function maskedArguments({ name }: Tool, names: readonly string[]): string {
  const masks = names.map((secret) => `[secret ${secret}]`).join(', ')
  const what = `The arguments have ${masks} in them, which stands for a value that you cannot see`
  if (name !== 'write_file' && name !== 'edit_file') return `${what}: leave it out.`
  return `${what}: writing it would destroy that value. Change only the text around it, with edit_file.`
}

async function plan(tool: Tool, args: ToolArguments, context: ToolContext): Promise<PlanResult> {
  try {
    return await tool.plan(args, context)
  } catch (error) {
    return { ok: false, message: insideFailure(tool, error) }
  }
}

function contextOf({ context }: Pipeline, { part }: PendingCall, looks = false): ToolContext {
  const { fence } = context
  return { ...context, call_id: part.call_id, ...(looks && fence ? { fence: { ...fence, write_paths: [[]] } } : {}) }
}

function delegating(tool: Tool, depth: number): Call {
  return { tool: tool.name, effect: tool.effect, paths: [], depth }
}

async function subjectOf({ context, depth }: Pipeline, tool: Tool, plan: Plan): Promise<Call> {
  const { paths, address, skill } = plan
  const call: Call = {
    tool: tool.name,
    effect: tool.effect,
    paths,
    ...(address === undefined ? {} : { address }),
    ...(skill === undefined ? {} : { skill }),
    ...(tool.server === undefined ? {} : { server: tool.server }),
    depth,
  }
  if (plan.command === undefined) return call
  return { ...call, ...(await commandSubject(plan.command, context.fence !== null)) }
}

async function commandSubject(
  command: string,
  sandboxed: boolean,
): Promise<Pick<Call, 'commands' | 'unclear' | 'sandboxed'>> {
  const parsed = await parseCommand(command)
  return parsed.ok ? { commands: parsed.parts, sandboxed } : { commands: null, unclear: parsed.why, sandboxed }
}

/** Budget and permission; a person is asked where the verdict says so. Records the intent of what is admitted. */
async function admit(pipeline: Pipeline, call: Ready): Promise<Ready | Refused> {
  const refused = (code: Refusal, content: string): Refused => {
    const { summary } = call.plan
    return { ok: false, call: call.call, tool: call.tool.name, summary, code, rule: call.verdict.rule, content }
  }
  if (pipeline.callsLeft() <= 0) {
    pipeline.onBudgetEnd()
    return refused('budget', 'Not called: the budget of tool calls is used up.')
  }
  let { decision } = call.verdict
  if (decision === 'ask' && isGrantable(call) && covers(pipeline.grants(), call.subject)) decision = 'allow'
  if (decision === 'deny') return refused('denied', `Not allowed: ${call.verdict.reason}.`)
  if (decision === 'ask' && isUnasked(pipeline, call)) {
    const unasked: Ready = {
      ...call,
      verdict: { ...call.verdict, decision: 'allow', rule: `${call.verdict.rule}, unasked` },
    }
    recordIntent(pipeline, unasked, 1)
    return unasked
  }
  if (decision === 'ask') {
    const answer = await ask(pipeline, call)
    if (!answer && pipeline.context.signal.aborted) return refused('denied', NOT_STARTED)
    if (!answer) {
      const nobody = `Not allowed: ${call.verdict.reason}, and there is nobody to ask.`
      // Whoever reads this may sit in front of the run, and wonder.
      const how = pipeline.depth > 0 ? ' Sub-agents ask a person where delegation.ask_person is on.' : ''
      return refused('denied', `${nobody}${how} Find another way, or finish.`)
    }
    // Anything but a clear yes is a no, whatever the person's code gives back.
    if (answer.answer !== 'allow') {
      const note = answer.note ? `: ${answer.note}` : ''
      const who = answer.by === 'nobody' ? `Not allowed${note}` : `${answer.by} said no${note}`
      return refused('denied', `${who}. Find another way, or finish.`)
    }
  }
  recordIntent(pipeline, call, 1)
  return call
}

/** A standing yes answers for the mode only: not for a rule that wants to be asked, nor for commands without a fence. */
function isGrantable({ verdict, subject }: Ready): boolean {
  return verdict.by === 'mode' && subject.sandboxed !== false
}

/** What a contract answers for a person who cannot be asked: for the mode only, like a standing yes. */
function isUnasked({ authority }: Pipeline, call: Ready): boolean {
  return call.verdict.by === 'mode' && allowedUnasked(authority, call.subject)
}

async function ask(pipeline: Pipeline, call: Ready): Promise<PersonAnswer | null> {
  const { call_id } = call.call.part
  const { summary } = call.plan
  const { reason } = call.verdict
  const tool = call.tool.name
  const detail = call.plan.detail ?? null
  const grant = isGrantable(call) ? grantFor(call.subject) : null
  pipeline.record('permission.asked', {
    ...{ call_id, tool, summary, reason },
    // Before it is cut: half a secret would not be found.
    ...(detail === null ? {} : boundDetail(pipeline.context.redactor.redact(detail))),
    ...(grant === null ? {} : { grant }),
  })
  await pipeline.commit()
  const question = { call_id, tool, summary, reason, detail, call: call.subject, grant }
  const answer = pipeline.authority.can_ask_person ? await pipeline.ask(question) : null
  const nobody = { answer: 'deny', grant: null, by: 'nobody', note: 'no person can be asked' } as const
  pipeline.record('permission.answered', { call_id, ...(answer ?? nobody) })
  return answer
}

function recordIntent(pipeline: Pipeline, ready: Ready, attempt: number): void {
  const { tool, plan, verdict } = ready
  pipeline.record('tool.called', {
    call_id: ready.call.part.call_id,
    tool: tool.name,
    args: ready.args,
    mended: ready.mended,
    effect: tool.effect,
    summary: plan.summary,
    paths: plan.paths,
    decision: verdict.decision,
    rule: verdict.rule,
    witness: plan.witness ?? null,
    attempt,
  })
}

function refuse(pipeline: Pipeline, refused: Refused): void {
  const { call, tool, code, rule, content } = refused
  const summary =
    refused.summary.length > SUMMARY_CHARS ? `${refused.summary.slice(0, SUMMARY_CHARS)}…` : refused.summary
  pipeline.record('tool.refused', { call_id: call.part.call_id, tool, summary, code, rule, content })
}

async function execute(pipeline: Pipeline, ready: Ready): Promise<void> {
  const started = pipeline.now()
  const output = await run(ready, contextOf(pipeline, ready.call, ready.looks))
  if (changesFiles(ready.tool) && !ready.looks) await pipeline.carryFiles()
  // Before it is cut: half a secret would not be found.
  output.content = pipeline.context.redactor.redact(output.content)
  const { call_id } = ready.call.part
  const bounded = boundOutput(output.content, { max_chars: pipeline.context.limits.output_chars, call_id })
  pipeline.record('tool.finished', {
    call_id,
    tool: ready.tool.name,
    status: pipeline.context.signal.aborted && !output.ok ? pipeline.abortStatus() : output.ok ? 'ok' : 'error',
    content: bounded.content,
    output: bounded.cut ? pipeline.keepOutput(output.content) : null,
    files_read: output.files_read ?? [],
    files_changed: output.files_changed ?? [],
    ...(output.delivers && output.delivers.length > 0 ? { delivers: output.delivers } : {}),
    duration_ms: pipeline.now() - started,
  })
}

/** A tool that throws has a bug; the agent gets to know, and goes on. */
async function run(ready: Ready, context: ToolContext): Promise<ToolOutput> {
  if (context.signal.aborted) return { ok: false, content: NOT_STARTED }
  try {
    // The plan names the real paths, and those were judged: whatever leads elsewhere by now is refused.
    const exact = { ...context, workspace: context.workspace.exact() }
    return await ready.tool.execute(ready.args, exact, ready.plan)
  } catch (error) {
    return { ok: false, content: insideFailure(ready.tool, error) }
  }
}

function insideFailure(tool: Tool, error: unknown): string {
  return `${tool.name} failed inside: ${error instanceof Error ? error.message : String(error)}`
}
