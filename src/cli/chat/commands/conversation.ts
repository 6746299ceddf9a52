import { RetinueError, titleOf } from '../../../index.js'
import { isFree } from '../../stands.js'
import { line } from '../../style.js'
import { sayMessage } from '../message.js'
import { inForeground, type Room } from '../room.js'

/** What was shown while it went on needs no further words. */
const SHOWN = { text: '', data: null }

/** `/plan <goal>` */
export async function plan(room: Room, goal: string, signal: AbortSignal) {
  const answered = await sayMessage(room, goal, signal, 'plan')
  if (answered === 'failed') throw new RetinueError('input', 'The plan was not completed.')
  return SHOWN
}

/** `/resume [run|t1]`: with nothing named, the answer of this session that was interrupted, or a list of what was. */
export async function resume(room: Room, name: string | undefined, signal: AbortSignal) {
  const unfinished = await room.conversation.unfinished()
  if (name === undefined && !unfinished) return listInterrupted(room)
  const tasks = await room.tasks.list()
  const is_task = /^t\d+$/.test(name ?? '')
  const task = is_task ? await room.tasks.find(name as string) : tasks.find(({ run_id }) => run_id === name)
  const run = task ? task.run : name === undefined ? unfinished : await room.retinue.find(name)
  if (!run) throw new RetinueError('input', `${name} did not begin: there is nothing to go on with`)
  if (run.status === 'closed') throw new RetinueError('input', `${name ?? run.run_id} is closed: /show ${run.run_id}`)
  if (run.status === 'running' && !isFree(run, room.retinue))
    throw new RetinueError('held', `Run ${run.run_id} is being worked on: retinue watch ${run.run_id}`)
  if (task) {
    room.tasks.resume(run.run_id)
    return { text: `${task.id} goes on in the background.`, data: { id: task.id, run_id: run.run_id } }
  }
  await inForeground(room, (watching) => room.retinue.resume(run.run_id, watching), signal)
  return SHOWN
}

async function listInterrupted(room: Room) {
  const tasks = new Map((await room.tasks.list()).map(({ id, run_id }) => [run_id, id]))
  const runs = (await room.retinue.runs({ limit: 100 })).filter(
    (run) => run.status === 'interrupted' || isFree(run, room.retinue),
  )
  if (runs.length === 0) return { text: 'Nothing is interrupted.', data: [] }
  const lines = runs.map(
    (run) => `${(tasks.get(run.run_id) ?? '').padEnd(3)} ${run.run_id}  ${line(titleOf(run.task))}`,
  )
  return { text: ['Interrupted; /resume <run> goes on with one:', ...lines].join('\n'), data: runs }
}

/** `/clear` */
export async function clear({ conversation, tasks }: Room) {
  const before = [...conversation.tasks]
  const left = await conversation.leave()
  const along = await tasks.move(before)
  const same = along.length > 0 ? ` At work in it as before: ${along.join(', ')}.` : ''
  const back = left ? ` Back to the one before: retinue chat --resume ${left.session_id}` : ''
  return { text: `A new session.${same}${back}`, data: { left: left?.session_id ?? null, tasks: along } }
}

/** `/exit` */
export async function exit({ leave }: Room) {
  leave()
  return SHOWN
}
