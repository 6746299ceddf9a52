import { z } from 'zod'
import { seconds } from '../text.js'
import { STREAM_ENDED } from './http.js'
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
  const opened = await open(signal)
  if (!opened.ok) return opened
  const first = opened.session

  const live = async (): Promise<Opened> => {
    const now = session ?? first
    if (now.isOpen()) return { ok: true, session: now }
    if (closed.signal.aborted) return { ok: false, message: `the connection to ${name} is closed` }
    restarting ??= restart(now.ending()).finally(() => {
      restarting = null
    })
    return restarting
  }
  const restart = async (ending: string): Promise<Opened> => {
    if (restarts >= RESTARTS) {
      return { ok: false, message: `the server ${name} has ended again and is not started any more: ${ending}` }
    }
    restarts++
    const again = await open(closed.signal)
    return again.ok ? again : { ok: false, message: `the server ${name} has ended (${ending}), and ${again.message}` }
  }

  const call = async (tool: string, args: Record<string, unknown>, options: CallOptions): Promise<CallResult> => {
    const { signal, timeout_ms } = options
    let used = first
    try {
      const ready = await orAborted(live(), signal)
      if (!ready.ok) return ready
      if (refreshing) await orAborted(refreshing, signal)
      const definition = listed.get(tool)
      if (!definition) return { ok: false, message: `the server ${name} no longer has the tool ${tool}` }
      used = ready.session
      const answer = await request(used, definition, args, options)
      // What is reached over the network loses sessions in the course of things; a process does not.
      if (target.kind === 'http') restarts = 0
      return { ok: true, answer }
    } catch (error) {
      if (signal.aborted) return { ok: false, message: 'Cancelled: the server was told to stop.' }
      return { ok: false, message: await failure(error, used, timeout_ms) }
    }
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

  const failure = async (error: unknown, used: Session, timeout_ms: number): Promise<string> => {
    const { SdkError, SdkErrorCode, SdkHttpError, ProtocolError } = around.library
    const unknown = 'whether it took effect is not known. Look before you repeat it.'
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      return `${name} did not answer within ${seconds(timeout_ms)} and was told to stop; ${unknown}`
    }
    const isCut = error instanceof ProtocolError && error.code === STREAM_ENDED
    if (error instanceof ProtocolError && !isCut) return `${name}: ${error.message}`
    if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
      return `${name} gave an answer that is none: ${error.message.slice(0, 500)}`
    }
    if (target.kind === 'stdio') return `the server ${name} ended during the call; ${unknown} (${used.ending()})`
    // A session that the server has forgotten, or a server that is gone: the next call opens a new one.
    await used.close()
    if (isCut) return `the connection to ${name} ended during the call; ${unknown}`
    const isRefused = error instanceof SdkHttpError
    return `${name} ${isRefused ? 'refused the call' : 'cannot be reached'}: ${(error as Error).message.slice(0, 500)}`
  }

  const close = async () => {
    closed.abort(new Error('closed'))
    await restarting
    await session?.close()
  }
  return { ok: true, connection: { first, current: (tool) => listed.get(tool) ?? null, call, close } }
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
