import { RetinueError, titleOf, type Watching } from '../../../index.js'
import { age, byYou, cost, line, printable } from '../../style.js'
import { reportOf } from '../answer.js'
import { choicesOf } from '../choices.js'
import { delegated, whom } from '../message.js'
import { type Room, runOptions } from '../room.js'
import { stateOf, type Task } from '../tasks.js'

/** `/spawn [@handle] task` */
export async function spawn(room: Room, text: string, signal: AbortSignal) {
  const start = await order(room, text)
  const { id, run_id } = await room.tasks.begin(`/spawn ${text}`, start.run, signal)
  const whose = start.handle === null ? '' : ` ${start.handle}`
  return {
    text: `${id}${whose} works in the background (run ${run_id}). /tasks shows it, /await ${id} waits for it.`,
    data: { id, run_id, handle: start.handle },
  }
}

async function order(room: Room, text: string) {
  const { retinue } = room
  const to = await whom(room, text)
  if (to) {
    const { task, given } = delegated(to, runOptions(room))
    return { handle: to.handle, run: (watching: Watching) => retinue.fanOut([task], { ...given, ...watching }) }
  }
  const options = { ...runOptions(room), ...(await pinned(room)), task: text }
  return { handle: null, run: (watching: Watching) => retinue.run({ ...options, ...watching }) }
}

/** It has a session of its own; what is pinned for this one is meant for it too. */
async function pinned(room: Room): Promise<{ profile?: string }> {
  if (room.asked.profile !== undefined) return {}
  const { pin } = await choicesOf(room)
  return pin?.scope === 'session' ? { profile: pin.handle ?? pin.profile_id } : {}
}

/** `/tasks` */
export async function tasks(room: Room) {
  const all = await room.tasks.list()
  const rows = await Promise.all(
    all.map(async (task) => ({ ...describe(task), doing: line(await room.tasks.doing(task)) })),
  )
  const width = Math.max(0, ...rows.map(({ state }) => state.length))
  const lines = rows.map(({ id, state, title, doing, cost_usd, since }) => {
    const figures = [...(since === null ? [] : [cost(cost_usd), age(since, Date.now())])].join(', ')
    return `${id.padEnd(4)} ${state.padEnd(width)}  ${title}${doing === '' ? '' : ` · ${doing}`}${figures === '' ? '' : ` · ${figures}`}`
  })
  const text = lines.length > 0 ? lines.join('\n') : 'Nothing was begun in the background: /spawn [@handle] task'
  return { text, data: rows }
}

function describe(task: Task) {
  const { id, run_id, run } = task
  const title = run ? line(titleOf(run.task)) : ''
  return { id, run_id, state: stateOf(task), title, cost_usd: run?.cost_usd ?? null, since: run?.created_at ?? null }
}

/** `/await [t1 ...]` */
export async function awaitTasks(room: Room, names: readonly string[], signal: AbortSignal) {
  const all = await room.tasks.list()
  const wanted =
    names.length > 0
      ? await Promise.all(names.map((name) => room.tasks.find(name)))
      : all.filter((task) => room.tasks.isAwaited(task))
  if (wanted.length === 0) return { text: 'Nothing works in the background.', data: [] }
  const gone = wanted.filter(({ at_work, run }) => !at_work && run?.status === 'interrupted')
  if (gone.length > 0) {
    const ids = gone.map(({ id }) => id)
    throw new RetinueError('held', `Nobody works on ${ids.join(', ')}: /resume ${ids[0]} goes on with it`)
  }
  await Promise.all(wanted.map((task) => (task.at_work ? room.tasks.ended(task, signal) : null)))
  if (signal.aborted) return { text: 'Not waiting any longer; the work goes on.', data: [] }
  for (const task of wanted) room.tasks.seen(task)
  const known = new Map((await room.tasks.list()).map((task) => [task.id, task.fault]))
  const reports = await Promise.all(
    wanted.map(async ({ id, run_id }) => {
      return { id, run_id, fault: known.get(id) ?? null, report: await reportOf(room.retinue, run_id) }
    }),
  )
  const text = reports
    .map(({ id, fault, report }) => {
      if (!report) return `${id} ${printable(fault ?? 'did not begin')}`
      const why = report.success ? '' : `: ${line(byYou(report.reason ?? ''))}`
      return `${id} ${report.outcome}${why}${report.text === '' ? '' : `\n${printable(report.text)}`}`
    })
    .join('\n')
  const data = reports.map(({ id, run_id, fault, report }) => ({
    ...{ id, run_id, outcome: report?.outcome ?? null, text: report?.text ?? '' },
    error: report ? report.reason : fault,
  }))
  return { text, data }
}

/** `/stop t1|all|run` */
export async function stop(room: Room, names: readonly string[]) {
  const by = room.control.principal.id
  const open = ({ at_work, run }: Task) => at_work || run?.status === 'interrupted'
  const unfinished = await room.conversation.unfinished()
  const stopped: { id: string; outcome: string }[] = []
  const everything = names.includes('all')
  for (const name of everything ? [] : names) {
    if (unfinished?.run_id.startsWith(name) && name.length >= 3) {
      const { outcome } = await room.retinue.cancel(unfinished.run_id, by, 'stopped in the chat')
      stopped.push({ id: unfinished.run_id, outcome })
      continue
    }
    const task = await room.tasks.find(name)
    if (!open(task)) throw new RetinueError('input', `${task.id} is closed already: ${stateOf(task)}`)
    stopped.push({ id: task.id, outcome: await room.tasks.stop(task, by) })
  }
  const rest = everything ? (await room.tasks.list()).filter(({ at_work }) => at_work) : []
  for (const task of rest) stopped.push({ id: task.id, outcome: await room.tasks.stop(task, by) })
  if (stopped.length === 0) return { text: 'Nothing works in the background.', data: [] }
  return { text: stopped.map(({ id, outcome }) => `${id} is closed: ${outcome}`).join('\n'), data: stopped }
}
