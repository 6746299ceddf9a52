import type { AgentMemory, Message, RunRow } from '../../domain/index.js'
import { historyOf } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import { RetinueError } from '../errors.js'
import { fanOutResults, isFanOut } from '../programs/fan-out.js'
import { isProgram } from '../programs/programs.js'
import type { RunReader } from './reader.js'

type Parts = {
  store: Store
  reader: RunReader
  /** Throws where a run is of another folder. */
  belongsHere: (run: RunRow) => void
}

export const NO_SESSION: { messages: Message[]; calls: number; children: number } = {
  messages: [],
  calls: 0,
  children: 0,
}

/** What runs of a session go on from. */
export class Conversations {
  constructor(private readonly parts: Parts) {}

  /**
   * What a session has come to: how many calls and sub-agents it had, and its conversation. A program takes no part in
   * that one: it reads nothing of it, and of what it does only what a person said and the answer to it is part of it.
   */
  async session(session_id: string, is_program: boolean): Promise<typeof NO_SESSION> {
    const rows = await this.parts.store.runs({ session_id })
    const [last] = rows
    if (!last) {
      // One that somebody has begun, in which nothing was said yet.
      if (await this.parts.store.record('session', session_id)) return NO_SESSION
      throw new RetinueError('not_found', `There is no session ${session_id} in this store`)
    }
    this.parts.belongsHere(last)
    if (last.status !== 'closed') {
      throw new RetinueError('held', `The last run of this session is not closed: retinue resume ${last.run_id}`)
    }
    const { memory } = await this.parts.reader.root(last.run_id)
    const { children_before, children, calls_made: calls } = memory
    const counts = { calls, children: children_before + children.length }
    return { ...counts, messages: is_program ? [] : await this.#conversation(rows.map(({ run_id }) => run_id)) }
  }

  /** `run_ids`: newest first. Each run of an agent has in its own history what was said before it. */
  async #conversation(run_ids: readonly string[]): Promise<Message[]> {
    const since: Message[] = []
    for (const run_id of run_ids) {
      const run = await this.parts.reader.root(run_id)
      if (!isProgram(run.memory.contract)) return [...conversation(run), ...since]
      since.unshift(...(await this.#asked(run_id, run.memory)))
    }
    return since
  }

  /** What a person asked of one agent by its name, and what that answered. */
  async #asked(run_id: string, memory: AgentMemory): Promise<Message[]> {
    const [created] = await this.parts.store.read({ run_id, limit: 1 })
    if (created?.type !== 'run.created' || created.data.said === undefined) return []
    const [result] = isFanOut(memory.contract)
      ? await fanOutResults(memory, (digest) => this.parts.store.blob(digest))
      : [{ success: true, details: memory.result?.text ?? '', outcome: '', error: '' }]
    const failed = result?.success === false ? `[${result.outcome}: ${result.error}]` : ''
    const text = [result?.details ?? '', failed].filter((part) => part !== '').join('\n\n') || '[no answer]'
    return [
      { role: 'user', content: created.data.said },
      { role: 'assistant', parts: [{ type: 'text', text }] },
    ]
  }
}

/** What a run started from, and what it added. */
function conversation({ memory, material }: Awaited<ReturnType<RunReader['root']>>): Message[] {
  const closed = memory.messages.filter((message, i) => {
    // A run that was stopped between a call and its result ends with calls that no provider would take back.
    const open = message.role === 'assistant' && message.parts.some((part) => part.type === 'tool_call')
    return !(open && i === memory.messages.length - 1)
  })
  return [...historyOf(memory, material.history), ...closed]
}
