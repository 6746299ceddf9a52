import { PassThrough } from 'node:stream'
import { onTestFinished } from 'vitest'
import { Conversation } from '../../src/cli/chat/conversation.js'
import { plainFace } from '../../src/cli/chat/face.js'
import type { Room } from '../../src/cli/chat/room.js'
import { openPlainScreen } from '../../src/cli/chat/screen.js'
import { Tasks } from '../../src/cli/chat/tasks.js'
import { RunView } from '../../src/cli/view.js'
import type { Retinue, Session } from '../../src/index.js'

type Guest = { as?: string; session?: Session; asked?: Room['asked']; leave?: () => void }

/** What a chat without a terminal is made of; what it shows goes nowhere. */
export function chatRoom(retinue: Retinue, { as, session, asked = {}, leave = () => {} }: Guest = {}): Room {
  const screen = openPlainScreen({ input: new PassThrough(), output: new PassThrough() })
  onTestFinished(() => screen.close())
  const view = () => {
    const shown = new RunView(new PassThrough(), {})
    return { view: shown, watching: {}, close: () => shown.close() }
  }
  const face = { ...plainFace(screen), view }
  const control = retinue.control(as)
  const conversation = new Conversation(retinue, control.principal.id, session ?? null)
  const tasks = new Tasks(retinue, face, conversation)
  onTestFinished(async () => void (await tasks.leave('the test is over')))
  return { retinue, control, conversation, tasks, face, as: as ?? null, asked, current: null, leave }
}
