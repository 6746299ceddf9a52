import {
  emptyTree,
  growTree,
  type Retinue,
  RetinueError,
  type Run,
  type RunOptions,
  type RunStatus,
  type RunSummary,
} from '../../index.js'
import { cost, duration, line, printable } from '../style.js'
import { doingWords } from '../tree/words.js'
import { PROGRAM, reportOf } from './answer.js'
import type { Conversation } from './conversation.js'
import type { Face } from './face.js'

/** Work in the background. `run` is null before it has begun, and where it never came to that: `fault` says why. */
export type Task = {
  /** t1, t2 and so on, in the order of their beginning in the session. */
  id: string
  run_id: string
  run: RunSummary | null
  fault: string | null
  /** This process or another one works on it. */
  at_work: boolean
}

type Order = { task: string; handle: string | null; options: Omit<RunOptions, 'task' | 'session_id'> }

/** The work in the background of a session: what this process does, and what others did before it. */
export class Tasks {
  readonly #mine = new Map<string, { run: Run; ended: Promise<void> }>()
  readonly #faults = new Map<string, string>()

  constructor(
    private readonly retinue: Retinue,
    private readonly face: Face,
    private readonly conversation: Conversation,
  ) {}

  /** How many this process works on. */
  get under_way(): number {
    return this.#mine.size
  }

  /** Ids of those that this process works on. */
  get ids(): string[] {
    return this.conversation.tasks.flatMap((run_id, i) => (this.#mine.has(run_id) ? [`t${i + 1}`] : []))
  }

  async begin({ task, handle, options }: Order): Promise<string> {
    await this.conversation.open()
    const id = `t${this.conversation.tasks.length + 1}`
    const person = this.face.person(id)
    const given = { ...options, ...(person ? { person } : {}) }
    const run =
      handle === null ? this.retinue.run({ ...given, task }) : this.retinue.fanOut([{ task, profile: handle }], given)
    await this.#take(run)
    return id
  }

  /** Goes on with one whose process is gone. */
  async resume(id: string, run_id: string): Promise<void> {
    const person = this.face.person(id)
    await this.#take(this.retinue.resume(run_id, person ? { person } : {}))
  }

  async #take(run: Run): Promise<void> {
    const ended = run.result().then(
      () => this.#ended(run.run_id),
      (error: unknown) => this.#failed(run.run_id, error),
    )
    this.#mine.set(run.run_id, { run, ended })
    await this.conversation.addTask(run.run_id)
    this.face.changed()
  }

  async #ended(run_id: string): Promise<void> {
    this.#mine.delete(run_id)
    const report = await reportOf(this.retinue, run_id)
    const id = this.#idOf(run_id)
    if (report) this.face.say(this.#announcement(id, run_id, report))
    this.face.changed()
  }

  #announcement(id: string, run_id: string, report: NonNullable<Awaited<ReturnType<typeof reportOf>>>): string {
    const { green, red, dim } = this.face.paint
    const { success, outcome, reason, text, result } = report
    const mark = success ? green('✓') : red('✗')
    const gist = line(success ? firstWords(text) : (reason ?? ''))
    const figures = [cost(result.cost_usd), duration(result.duration_ms), `/await ${id}`, `retinue show ${run_id}`]
    return `${mark} ${id} ${outcome}${gist === '' ? '' : `: ${gist}`} ${dim(`· ${figures.join(' · ')}`)}`
  }

  #failed(run_id: string, error: unknown): void {
    this.#mine.delete(run_id)
    this.face.changed()
    if (error instanceof RetinueError && error.code === 'abandoned') return
    const message = error instanceof Error ? error.message : String(error)
    this.#faults.set(run_id, message)
    this.face.say(`${this.face.paint.red('✗')} ${this.#idOf(run_id)} failed: ${printable(message)}`)
  }

  #idOf(run_id: string): string {
    const i = this.conversation.tasks.indexOf(run_id)
    return i < 0 ? run_id : `t${i + 1}`
  }

  async list(): Promise<Task[]> {
    return Promise.all(
      this.conversation.tasks.map(async (run_id, i) => {
        const run = await this.retinue.find(run_id).catch(() => null)
        const fault = this.#faults.get(run_id) ?? null
        return { id: `t${i + 1}`, run_id, run, fault, at_work: this.#mine.has(run_id) || run?.status === 'running' }
      }),
    )
  }

  /** By t1, by its run or a beginning of it. */
  async find(name: string): Promise<Task> {
    const all = await this.list()
    const exact = all.find(({ id, run_id }) => id === name || run_id === name)
    const fitting = exact ? [exact] : all.filter(({ run_id }) => name.length >= 3 && run_id.startsWith(name))
    if (fitting.length === 1) return fitting[0] as Task
    const there = all.length === 0 ? 'nothing was begun in the background (/spawn)' : all.map(({ id }) => id).join(', ')
    throw new RetinueError('not_found', `There is no task "${name}" in this session. There is: ${there}`)
  }

  /** What it does now, in words. */
  async doing(task: Task): Promise<string> {
    if (task.fault !== null) return task.fault
    if (!task.run) return task.at_work ? 'begins' : 'did not begin'
    if (task.run.status === 'interrupted') return `its process is gone: /resume ${task.id}`
    if (task.run.status === 'closed') return firstWords((await reportOf(this.retinue, task.run_id))?.text ?? '')
    const tree = emptyTree()
    for (const event of await this.retinue.events(task.run_id)) growTree(tree, event)
    const { root } = tree
    if (!root) return ''
    const [only] = root.children
    return doingWords(root.model === PROGRAM && only ? only : root)
  }

  /** Resolves when it is closed or has failed, wherever it runs; also when the signal says not to wait any longer. */
  async ended({ run_id }: Task, signal: AbortSignal): Promise<void> {
    const mine = this.#mine.get(run_id)
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (signal.aborted) resolve()
    })
    if (mine) return Promise.race([mine.ended, stopped])
    for await (const event of this.retinue.follow(run_id, signal)) if (event.type === 'run.closed') return
  }

  async stop(task: Task, by: string): Promise<string> {
    const mine = this.#mine.get(task.run_id)
    if (!mine) return (await this.retinue.cancel(task.run_id, by, 'stopped in the chat')).outcome
    mine.run.cancel('stopped in the chat')
    await mine.ended
    return (await this.retinue.result(task.run_id))?.outcome ?? 'stopped'
  }

  /** Takes what is still at work along into another session. */
  async move(from: readonly string[]): Promise<void> {
    for (const run_id of from) if (this.#mine.has(run_id)) await this.conversation.addTask(run_id)
  }

  /** Leaves everything as it is, to be resumed. Resolves with the runs that were left. */
  async leave(reason: string): Promise<string[]> {
    const mine = [...this.#mine.values()]
    for (const { run } of mine) run.leave(reason)
    await Promise.all(mine.map(({ ended }) => ended))
    return mine.map(({ run }) => run.run_id)
  }

  /** Resolves when all that this process works on is done. */
  async settled(): Promise<void> {
    while (this.#mine.size > 0) await Promise.all([...this.#mine.values()].map(({ ended }) => ended))
  }
}

export function stateOf(task: Task): RunStatus | string {
  if (!task.run) return task.at_work ? 'running' : task.fault === null ? 'not begun' : 'failed'
  return task.run.status === 'closed' ? (task.run.outcome ?? 'closed') : task.run.status
}

function firstWords(text: string): string {
  const first = text.trim().split('\n', 1)[0] as string
  return first.length > 60 ? `${first.slice(0, 59)}…` : first
}
