import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FanOutOptions, type Mode, nearest, RetinueError, type Run, type SpawnTask } from '../../index.js'
import type { Answered } from './answer.js'
import { addressable, choicesOf } from './choices.js'
import { type Addressed, addressed } from './handles.js'
import { inForeground, mayWork, type Room, runOptions } from './room.js'

/** What a person says: to the root agent, or with a handle in front to one that works for them. */
export async function sayMessage(room: Room, text: string, signal: AbortSignal, mode?: Mode): Promise<Answered> {
  mayWork(room)
  const to = await whom(room, text)
  await checkFinished(room)
  const { session_id } = await room.conversation.say(text)
  const options = { ...runOptions(room), session_id, ...(mode ? { mode } : {}) }
  if (!to) return inForeground(room, (watching) => room.retinue.run({ ...options, ...watching, task: text }), signal)
  const { given, task } = delegated(to, options)
  return inForeground(room, (watching) => room.retinue.fanOut([task], { ...given, ...watching, said: text }), signal)
}

/** Whose name was called, and the profile or handle that it stands for. */
type Whom = Addressed & { profile: string }

/** A run of one sub-agent with the profile that was called. */
export function delegated({ profile, text }: Whom, options: ReturnType<typeof runOptions> & { session_id?: string }) {
  const { profile: _, ...given } = options
  return { task: { task: text, profile } satisfies SpawnTask, given: given satisfies FanOutOptions }
}

/** Resolves when a run is in the log; rejects with why it never came to that. */
export async function hasBegun(run: Run): Promise<void> {
  for await (const _ of run) return
}

/** null: nobody in particular. A word such as @readme that is nobody's name may be a file. */
export async function whom(room: Pick<Room, 'retinue' | 'as'>, message: string): Promise<Whom | null> {
  const to = addressed(message)
  if (!to) return null
  const there = addressable(await choicesOf(room))
  const found = there.find(({ name }) => name === to.handle)
  if (!found) {
    if (existsSync(join(room.retinue.cwd, to.word.slice(1)))) return null
    const names = there.map(({ name }) => name)
    const near = nearest(to.handle, names)
    const meant = near === null ? '' : ` Did you mean ${near}?`
    const known = names.length > 0 ? `There are ${names.join(', ')}.` : 'None is registered: /help agents register'
    throw new RetinueError('not_found', `There is no agent ${to.handle}.${meant} Nothing was sent. ${known}`)
  }
  if (to.text === '') throw new RetinueError('input', `Say what ${to.handle} is to do: ${to.handle} <task>`)
  return { ...to, profile: found.profile }
}

/** What was interrupted comes first: its answer is part of the conversation. */
async function checkFinished({ conversation }: Room): Promise<void> {
  const run = await conversation.unfinished()
  if (!run) return
  const { run_id, status } = run
  throw new RetinueError(
    'held',
    status === 'running'
      ? `Another process works on the last answer of this session (retinue watch ${run_id}): wait for it, or /stop ${run_id}`
      : `The last answer of this session was interrupted: /resume goes on with it, /stop ${run_id} closes it`,
  )
}
