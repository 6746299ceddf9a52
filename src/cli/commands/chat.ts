import { type Retinue, RetinueError, type Session } from '../../index.js'
import { ChatLoop } from '../chat/chat.js'
import { chatCommands } from '../chat/commands/table.js'
import { createChatCompleter } from '../chat/completing.js'
import { Conversation } from '../chat/conversation.js'
import { plainFace, terminalFace } from '../chat/face.js'
import { greeting, labelOf } from '../chat/greeting.js'
import type { Room } from '../chat/room.js'
import { openChatScreen, openPlainScreen } from '../chat/screen.js'
import { Tasks } from '../chat/tasks.js'
import { asked, type ContractFlags } from '../contract-flags.js'
import { EXIT } from '../exit.js'
import { type WorkOptions, withRetinue } from '../open.js'
import { offerTrust } from '../trust.js'

type ChatFlags = WorkOptions & ContractFlags & { continue?: boolean; resume?: string; as?: string }

/** So much of what was said in this folder before can be got back with the arrow keys. */
const HISTORY = 200

export async function chat(words: string[], flags: ChatFlags): Promise<number> {
  const interactive = isInteractive()
  if (interactive && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, async (retinue) => {
    const session = await earlierSession(retinue, flags)
    const control = retinue.control(flags.as)
    const { model, mode, ...options } = asked(flags)
    const conversation = new Conversation(retinue, control.principal.id, session, {
      ...(model ? { model } : {}),
      ...(mode ? { mode } : {}),
    })
    const screen = interactive
      ? openChatScreen({
          ...{ input: process.stdin, output: process.stdout, env: process.env, history: await said(retinue) },
          complete: (text, cursor) => complete(text, cursor),
        })
      : openPlainScreen({ input: process.stdin, output: process.stdout })
    const face = interactive ? terminalFace(screen) : plainFace(screen)
    const tasks = new Tasks(retinue, face, conversation)
    const room: Room = {
      ...{ retinue, control, conversation, tasks, face, as: flags.as ?? null, asked: options, current: null },
      leave: () => loop.leave(),
    }
    const loop = new ChatLoop(room, screen)
    const complete = createChatCompleter(room, chatCommands(room, new AbortController().signal))
    try {
      if (interactive) {
        face.say(await greeting(room, session !== null))
        screen.label(await labelOf(room))
      }
      const { code, left } = await loop.talk(words.length > 0 ? words.join(' ') : null)
      screen.close()
      farewell(conversation.session_id, left, interactive)
      return code
    } finally {
      screen.close()
    }
  })
}

function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb'
}

async function earlierSession(retinue: Retinue, flags: ChatFlags): Promise<Session | null> {
  if (flags.resume !== undefined) {
    const session = await retinue.sessions.find(flags.resume)
    if (session.workspace_root === retinue.cwd) return session
    const there = session.workspace_root
    throw new RetinueError(
      'input',
      `Session ${session.session_id} belongs to ${there}: go on there, or with --cwd ${there}`,
    )
  }
  if (!flags.continue) return null
  const [last] = await retinue.sessions.list({ limit: 1 })
  if (!last) throw new RetinueError('not_found', 'There is no session to continue in this folder')
  return last
}

/** What was said before, oldest first. */
async function said(retinue: Retinue): Promise<string[]> {
  const runs = await retinue.runs({ limit: HISTORY })
  // What a program handed out is not what somebody typed.
  return runs
    .map(({ task }) => task)
    .filter((task) => !/\n\n\{"tasks":/.test(task))
    .reverse()
}

/** What is at work no longer, and how to get back to it. */
function farewell(session_id: string | null, left: readonly string[], interactive: boolean): void {
  const out = interactive ? process.stdout : process.stderr
  for (const run_id of left) out.write(`Still to be done, go on with: retinue resume ${run_id}\n`)
  if (session_id !== null && interactive) out.write(`Back to this session: retinue chat --resume ${session_id}\n`)
}
