import { type Retinue, RetinueError, type Session } from '../../index.js'
import { ChatLoop } from '../chat/chat.js'
import { chatCommands } from '../chat/commands/table.js'
import { createChatCompleter } from '../chat/completing.js'
import { Conversation } from '../chat/conversation.js'
import { plainFace, terminalFace } from '../chat/face.js'
import { farewell } from '../chat/farewell.js'
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
  if (!interactive && process.stdin.isTTY && process.stdout.isTTY)
    process.stderr.write('retinue: TERM=dumb: lines are read as from a pipe, and nobody is asked anything\n')
  if (interactive && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, async (retinue) => {
    const session = await earlierSession(retinue, flags)
    const control = retinue.control(flags.as)
    const { model, mode, ...options } = asked(flags)
    const chosen = { ...(model ? { model } : {}), ...(mode ? { mode } : {}) }
    const { defaults } = await retinue.choices()
    const conversation = new Conversation(retinue, control.principal.id, session, chosen, defaults.mode)
    const screen = interactive
      ? openChatScreen({
          ...{ input: process.stdin, output: process.stdout, env: process.env, history: await said(retinue) },
          complete: (text, cursor) => complete(text, cursor),
        })
      : openPlainScreen({ input: process.stdin, output: process.stdout })
    const face = interactive ? terminalFace(screen, retinue.engine === 'dbos') : plainFace(screen)
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
      const end = await loop.talk(words.length > 0 ? words.join(' ') : null)
      screen.close()
      farewell({ session_id: conversation.session_id, engine: retinue.engine }, end, interactive)
      // What has not stopped by now would be waited for below; it can be resumed like that of a process that was killed.
      if (end.at_once) process.exit(end.code)
      return end.code
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
  const here = runs.filter(({ workspace_root }) => workspace_root === retinue.cwd)
  return here.flatMap(({ said }) => said ?? []).reverse()
}
