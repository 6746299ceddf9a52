import { type Choices, type Retinue, type RunSummary, VERSION } from '../../index.js'
import { missingFor } from '../attendance.js'
import { age, line, plural, printable } from '../style.js'
import { reportOf } from './answer.js'
import { choicesOf } from './choices.js'
import type { Room } from './room.js'

/** So many lines of the last answer are shown again. */
const LAST_LINES = 12

/** What somebody should know who sits down. */
export async function greeting(room: Room, resumed: boolean): Promise<string> {
  const { bold, dim, yellow } = room.face.paint
  const { retinue, conversation, tasks } = room
  const runs = await conversation.runs()
  const which = resumed ? `session ${conversation.session_id}, ${plural(runs.length, 'run')}` : 'a new session'
  const { pin } = await choicesOf(room)
  const lines = [
    `${bold(`Retinue ${VERSION}`)} in ${line(retinue.cwd)} ${dim(`· ${which}`)}`,
    dim('/help shows the commands, @handle hands a message to an agent, Esc interrupts, Ctrl-C twice leaves.'),
    ...(pin ? [pinnedLine(pin)] : []),
  ]
  const [last] = runs
  if (last) {
    const said = (last.said ?? last.task).split(/\n\s*\n/, 1)[0] as string
    lines.push('', dim(`${age(last.updated_at, Date.now())}: ${line(said)}`))
    const report = await reportOf(retinue, last.run_id)
    if (report?.text) lines.push(ending(printable(report.text)))
  }
  const unfinished = await conversation.unfinished()
  if (unfinished) {
    lines.push(`${yellow('!')} The last answer ${await standing(retinue, unfinished)}`)
  }
  for (const { id, run } of await tasks.list()) {
    if (!run || run.status === 'closed') continue
    const missing = await missingFor(retinue, run.run_id)
    const works = missing === null ? 'still works' : `waits (${missing})`
    const does = run.status === 'running' ? works : `was interrupted: /resume ${id}`
    lines.push(`${yellow('!')} ${id} ${does}: ${line(run.task.split('\n', 1)[0] as string)}`)
  }
  return lines.join('\n')
}

async function standing(retinue: Retinue, { run_id, status }: RunSummary): Promise<string> {
  if (status !== 'running') return `was interrupted (run ${run_id}): /resume goes on with it`
  const missing = await missingFor(retinue, run_id)
  if (missing !== null) return `is waited for (run ${run_id}). ${missing}`
  return `is being worked on elsewhere: wait for it, or see it with retinue watch ${run_id}`
}

function ending(text: string): string {
  const lines = text.trimEnd().split('\n')
  return lines.length <= LAST_LINES ? lines.join('\n') : ['…', ...lines.slice(-LAST_LINES)].join('\n')
}

/** What stands beside the input: model, mode and who is pinned. */
export async function labelOf(room: Room): Promise<string> {
  const { conversation, asked } = room
  const { pin, defaults } = await choicesOf(room)
  const agent = asked.profile ?? pin?.profile_id
  const mode = conversation.mode ?? defaults.mode
  return [conversation.model ?? defaults.model, `${mode} mode`, agent && `as ${agent}`].filter(Boolean).join(' · ')
}

function pinnedLine({ scope, profile_id, fault }: NonNullable<Choices['pin']>): string {
  const whose = { session: 'for this session', user: 'for you', workspace: 'for this folder', global: 'for everybody' }
  const broken =
    fault === null ? '' : `, but ${line(fault)} Messages fail until it is unpinned: /agents unpin --${scope}`
  return `Pinned ${whose[scope]}: ${line(profile_id)}${broken}`
}
