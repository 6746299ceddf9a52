import {
  type Control,
  isAtLeast,
  type Retinue,
  RetinueError,
  type Run,
  type RunOptions,
  type Watching,
} from '../../index.js'
import { type Answered, showAnswer } from './answer.js'
import type { Conversation } from './conversation.js'
import type { Face } from './face.js'
import type { Tasks } from './tasks.js'

/** What a chat is made of, as its commands see it. */
export type Room = {
  retinue: Retinue
  control: Control
  /** In whose name, where it is somebody else's than that of the person whose process this is. */
  as: string | null
  conversation: Conversation
  tasks: Tasks
  face: Face
  /** What the command line said about runs: budgets, network and so on. */
  asked: Partial<RunOptions>
  /** Run by run: the answer that is under way. */
  current: Run | null
  /** The person wants to go. */
  leave: () => void
}

/** What every run of the chat gets. */
export function runOptions({ conversation, as, asked }: Room): Omit<RunOptions, 'task'> {
  const { model, mode } = conversation
  return {
    ...asked,
    ...(as === null ? {} : { principal: as }),
    ...(model === null ? {} : { model }),
    ...(mode === null ? {} : { mode }),
  }
}

/** Works and shows one run in the foreground. */
export async function inForeground(
  room: Room,
  start: (watching: Watching) => Run,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    return await showAnswer(room.face, start, {
      signal,
      begun: (run) => {
        room.current = run
      },
    })
  } finally {
    room.current = null
  }
}

/** Throws where the principal may look but make nobody work. */
export function mayWork({ control }: Room): void {
  const { id, role } = control.principal
  if (isAtLeast(role, 'operator')) return
  throw new RetinueError('denied', `${id} is a ${role}: making agents work needs the role operator`)
}
