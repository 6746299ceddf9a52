import { z } from 'zod'
import { explainFailure, isSessionLost } from './failure.js'
import { type ListedTool, type Opened, openSession, orAborted, type Session, type Surroundings } from './session.js'
import type { McpTarget } from './settings.js'
import { callAsTask, needsTask } from './tasks.js'

export type CallOptions = {
  signal: AbortSignal
  timeout_ms: number
  onProgress: (text: string) => void
}

export type CallResult = { ok: true; answer: Record<string, unknown> } | { ok: false; message: string }

/** The one connection to a server that all agents of a run share. */
export type Connection = {
  /** As it was when the run began. */
  first: Session
  /** What the server lists now under that name; null when it has it no more. */
  current: (name: string) => ListedTool | null
  call: (name: string, args: Record<string, unknown>, options: CallOptions) => Promise<CallResult>
  close: () => Promise<void>
}

export type ConnectionEvents = {
  /** The list may have changed: the server said so, or it was started again. */
  onList: (tools: readonly ListedTool[]) => void
}

/** A server that dies is started again once, when it is needed next; after that its tools say so. */
const RESTARTS = 1
const REFRESH_MS = 10_000

/** Loose, because content of a kind that is not known here is still an answer. */
const answerSchema = z.looseObject({})

export async function openConnection(
  name: string,
  target: McpTarget,
  around: Surroundings,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<{ ok: true; connection: Connection } | { ok: false; message: string }> {
  const closed = new AbortController()
  let session: Session | null = null
  let listed = new Map<string, ListedTool>()
  let restarts = 0
  let restarting: Promise<Opened> | null = null
  let refreshing: Promise<void> | null = null
  let isStale = false
  /**
   * Sessions that the server has forgotten, and how many calls use each session. One is closed when the last call on it
   * is over, because what another agent is still waiting for there may yet be answered.
   */
  const lost = new Set<Session>()
  const uses = new Map<Session, number>()

  /** One at a time, and again as long as the server says that it has changed meanwhile. */
  const refresh = async () => {
    while (isStale && session?.isOpen()) {
      isStale = false
      try {
        take(await session.listTools(AbortSignal.any([closed.signal, AbortSignal.timeout(REFRESH_MS)])))
      } catch {
        // The old list stays; a call of what is gone is answered by the server itself.
      }
    }
  }
  const onToolsChanged = () => {
    isStale = true
    refreshing ??= refresh().finally(() => {
      refreshing = null
    })
  }
  const take = ({ tools }: { tools: readonly ListedTool[] }) => {
    listed = byName(tools)
    events.onList(tools)
  }
  const open = async (until: AbortSignal): Promise<Opened> => {
    const opened = await openSession(target, around, { onToolsChanged }, until)
    if (!opened.ok) return opened
    session = opened.session
    take(session)
    // It may have said so while its list was being read.
    if (isStale) onToolsChanged()
    return opened
  }
  const programs = () => namedFiles(target, around)
  const programsAtFirst = await programs()
  const opened = await open(signal)
  if (!opened.ok) return opened
  const first = opened.session

  const live = async (): Promise<Opened> => {
    const now = session ?? first
    if (now.isOpen() && !lost.has(now)) return { ok: true, session: now }
    if (closed.signal.aborted) return { ok: false, message: `the connection to ${name} is closed` }
    restarting ??= restart(lost.has(now) ? 'it has forgotten the session' : now.ending()).finally(() => {
      restarting = null
    })
    return restarting
  }
  const restart = async (ending: string): Promise<Opened> => {
    // What is reached over the network is away now and then in the course of things; a process is not.
    if (target.kind === 'stdio' && restarts >= RESTARTS) {
      return { ok: false, message: `the server ${name} has ended again and is not started any more: ${ending}` }
    }
    const changed = firstDifference(programsAtFirst, await programs())
    if (changed !== null) return { ok: false, message: changedProgram(name, ending, changed) }
    restarts++
    const again = await open(closed.signal)
    return again.ok ? again : { ok: false, message: `the server ${name} has ended (${ending}), and ${again.message}` }
  }

  const call = async (tool: string, args: Record<string, unknown>, options: CallOptions): Promise<CallResult> => {
    const first = await attempt(tool, args, options)
    // The server has not looked at a call of a session that it does not know.
    return 'isLost' in first ? attempt(tool, args, options) : first
  }
  const attempt = async (
    tool: string,
    args: Record<string, unknown>,
    options: CallOptions,
  ): Promise<CallResult | (CallResult & { isLost: true })> => {
    const { signal, timeout_ms } = options
    let used: Session | null = null
    try {
      const ready = await orAborted(live(), signal)
      if (!ready.ok) return ready
      if (refreshing) await orAborted(refreshing, signal)
      const definition = listed.get(tool)
      if (!definition) return { ok: false, message: `the server ${name} no longer has the tool ${tool}` }
      used = ready.session
      uses.set(used, (uses.get(used) ?? 0) + 1)
      return { ok: true, answer: await request(used, definition, args, options) }
    } catch (error) {
      if (signal.aborted) return { ok: false, message: 'Cancelled: the server was told to stop.' }
      const ending = (used ?? first).ending()
      const message = explainFailure(error, { name, kind: target.kind, ending, timeout_ms, library: around.library })
      if (!used || target.kind === 'stdio' || !isSessionLost(error, around.library)) return { ok: false, message }
      lost.add(used)
      return { ok: false, message, isLost: true }
    } finally {
      if (used) await leave(used)
    }
  }
  const leave = async (used: Session) => {
    const left = (uses.get(used) ?? 1) - 1
    uses.set(used, left)
    if (left > 0) return
    uses.delete(used)
    if (lost.delete(used)) await used.close()
  }

  const request = async (
    { client }: Session,
    definition: ListedTool,
    args: Record<string, unknown>,
    { signal, timeout_ms, onProgress }: CallOptions,
  ): Promise<Record<string, unknown>> => {
    const params = { name: definition.name, arguments: args }
    const options = {
      signal,
      timeout: timeout_ms,
      maxTotalTimeout: timeout_ms,
      onprogress: (progress: Progress) => onProgress(progressText(progress)),
    }
    if (client.getProtocolEra() !== 'modern') {
      if (needsTask(definition)) return orAborted(callAsTask(client, params, options), signal)
      return orAborted(client.request({ method: 'tools/call', params }, answerSchema, options), signal)
    }
    // Without its output schema: the library would throw an answer away that does not fit it.
    const { outputSchema: _, ...toolDefinition } = definition
    type Definition = NonNullable<NonNullable<Parameters<typeof client.callTool>[1]>['toolDefinition']>
    return orAborted(
      client.callTool(params, { ...options, toolDefinition: toolDefinition as unknown as Definition }),
      signal,
    )
  }

  const close = async () => {
    closed.abort(new Error('closed'))
    await restarting
    await Promise.all([...lost, ...(session ? [session] : [])].map((each) => each.close()))
  }
  return { ok: true, connection: { first, current: (tool) => listed.get(tool) ?? null, call, close } }
}

/** A server is not fenced, so a file of the workspace, which agents may write, is run as it was when it was trusted. */
async function namedFiles(target: McpTarget, { servers, root }: Surroundings): Promise<Record<string, string>> {
  if (target.kind === 'http') return {}
  const { command, env, cwd } = target
  return servers.namedFiles({ command, env, cwd: cwd ?? root }, root)
}

function firstDifference(before: Record<string, string>, now: Record<string, string>): string | null {
  return Object.keys({ ...before, ...now }).find((path) => before[path] !== now[path]) ?? null
}

function changedProgram(name: string, ending: string, path: string): string {
  const why = `${path}, which its command names, has changed in the workspace since it was started`
  return `the server ${name} has ended (${ending}) and is not started again: ${why}. A person has to look at the change.`
}

type Progress = { progress: number; total?: number | undefined; message?: string | undefined }

function progressText({ progress, total, message }: Progress): string {
  const done = total === undefined ? `${progress}` : `${progress} of ${total}`
  return message === undefined ? `${done}\n` : `${done}: ${message.slice(0, 500)}\n`
}

/** The first of a name counts. */
function byName(tools: readonly ListedTool[]): Map<string, ListedTool> {
  return new Map([...tools].reverse().map((tool) => [tool.name, tool]))
}
