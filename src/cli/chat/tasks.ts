import {
  doingWords,
  emptyTree,
  growTree,
  type Retinue,
  RetinueError,
  type Run,
  type RunStatus,
  type RunSummary,
  titleOf,
  type Watching,
} from '../../index.js'
import { byYou, cost, duration, line, printable } from '../style.js'
import { reportOf } from './answer.js'
import type { Conversation } from './conversation.js'
import type { Face } from './face.js'
import { hasBegun } from './message.js'

/** Work in the background. `run` is null before it has begun, and where it never came to that: `fault` says why. */
export type Task = {
  /** t1, t2 and so on, in the order of their beginning. */
  id: string
  run_id: string
  run: RunSummary | null
  fault: string | null
  /** This process or another one works on it. */
  at_work: boolean
}

/** `said`: what began it, word for word. `begun`: rejects where it never came to that; `ended` never does. */
type Mine = { run: Run; said: string; begun: Promise<void>; ended: Promise<void> }

/** The work in the background of a session: what this process does, and what others did before it. */
export class Tasks {
  readonly #mine = new Map<string, Mine>()
  readonly #faults = new Map<string, string>()
  readonly #left = new Map<string, string>()
  /** Begun here, and their results were not asked for yet. */
  readonly #unseen = new Set<string>()
  /** By run. An id stays as it is while this process lives, also where its task is taken along into another session. */
  readonly #ids = new Map<string, string>()

  constructor(
    private readonly retinue: Retinue,
    private readonly face: Face,
    private readonly conversation: Conversation,
  ) {}

  /** Ids of those that this process works on. */
  get ids(): string[] {
    return this.conversation.tasks.flatMap((run_id) => (this.#mine.has(run_id) ? [this.#idOf(run_id)] : []))
  }

  /** Resolves when it is in the log, or when the signal says not to wait for that; rejects with why it never came to it. */
  async begin(
    said: string,
    start: (watching: Watching) => Run,
    signal: AbortSignal,
  ): Promise<{ id: string; run_id: string }> {
    const { run, begun } = this.#take(said, start)
    const { run_id } = run
    await this.conversation.addTask(run_id)
    this.face.changed()
    const id = this.#idOf(run_id)
    try {
      await Promise.race([begun, aborted(signal)])
    } catch (error) {
      if (!(error instanceof RetinueError)) throw error
      throw new RetinueError(error.code, `${id} did not begin: ${error.message}`)
    }
    // Nobody waits for it any longer who could be told.
    begun.catch((error: unknown) => this.#tell(run_id, error))
    return { id, run_id }
  }

  /** Goes on with one whose process is gone. */
  resume(run_id: string): void {
    this.#take(`/resume ${run_id}`, (watching) => this.retinue.resume(run_id, watching))
    this.face.changed()
  }

  #take(said: string, start: (watching: Watching) => Run): Mine {
    const person = this.face.person(() => this.#idOf(run.run_id))
    const run = start(person ? { person } : {})
    const begun = hasBegun(run)
    begun.catch(() => {})
    const ended = run
      .result()
      .then(() => this.#ended(run.run_id))
      .catch((error: unknown) => this.#failed(run.run_id, begun, error))
    const mine = { run, said, begun, ended }
    this.#mine.set(run.run_id, mine)
    this.#unseen.add(run.run_id)
    return mine
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
    const words = success ? line(titleOf(text)) : line(byYou(reason ?? ''))
    const figures = [cost(result.cost_usd), duration(result.duration_ms), `/await ${id}`, `retinue show ${run_id}`]
    return `${mark} ${id} ${outcome}${words === '' ? '' : `: ${words}`} ${dim(`· ${figures.join(' · ')}`)}`
  }

  async #failed(run_id: string, begun: Promise<void>, error: unknown): Promise<void> {
    this.#mine.delete(run_id)
    this.face.changed()
    if (error instanceof RetinueError && error.code === 'abandoned') return
    this.#faults.set(run_id, messageOf(error))
    // Why it did not begin is told to whoever waits for that.
    await begun.then(
      () => this.#tell(run_id, error),
      () => {},
    )
  }

  #tell(run_id: string, error: unknown): void {
    this.face.say(`${this.face.paint.red('✗')} ${this.#idOf(run_id)} failed: ${printable(messageOf(error))}`)
  }

  #idOf(run_id: string): string {
    for (const each of this.conversation.tasks) if (!this.#ids.has(each)) this.#ids.set(each, this.#nextId())
    return this.#ids.get(run_id) ?? run_id
  }

  #nextId(): string {
    return `t${1 + Math.max(0, ...[...this.#ids.values()].map((id) => Number(id.slice(1))))}`
  }

  /** Also what another process began in this session. */
  async list(): Promise<Task[]> {
    await this.conversation.refresh()
    return Promise.all(
      this.conversation.tasks.map(async (run_id) => {
        const run = await this.retinue.find(run_id).catch(() => null)
        const fault = this.#faults.get(run_id) ?? null
        return {
          id: this.#idOf(run_id),
          run_id,
          run,
          fault,
          at_work: this.#mine.has(run_id) || run?.status === 'running',
        }
      }),
    )
  }

  /** By t1, by its run or a beginning of it. */
  async find(name: string): Promise<Task> {
    const all = await this.list()
    const exact = all.find(({ id, run_id }) => id === name || run_id === name)
    const fitting = exact ? [exact] : all.filter(({ run_id }) => name.length >= 3 && run_id.startsWith(name))
    if (fitting.length === 1) return fitting[0] as Task
    const there =
      all.length === 0
        ? 'Nothing was begun in the background: /spawn [@handle] task'
        : `There is ${all.map(({ id }) => id).join(', ')}.`
    throw new RetinueError('not_found', `There is no task "${name}" in this session. ${there}`)
  }

  /** What it does now, in words. */
  async doing(task: Task): Promise<string> {
    if (task.fault !== null) return task.fault
    if (!task.run) return task.at_work ? 'begins' : 'did not begin'
    if (task.run.status === 'interrupted')
      return `${task.run.paused ? 'paused' : 'its process is gone'}: /resume ${task.id}`
    if (task.run.status === 'closed') return titleOf((await reportOf(this.retinue, task.run_id))?.text ?? '')
    const tree = emptyTree()
    for (const event of await this.retinue.events(task.run_id)) growTree(tree, event)
    const { root } = tree
    if (!root) return ''
    const [only] = root.children
    return line(doingWords(task.run.fan_out && only ? only : root))
  }

  /** Resolves when it is closed or has failed, wherever it runs; also when the signal says not to wait any longer. */
  async ended({ run_id }: Task, signal: AbortSignal): Promise<void> {
    const mine = this.#mine.get(run_id)
    if (mine) return Promise.race([mine.ended, aborted(signal)])
    for await (const event of this.retinue.follow(run_id, signal)) if (event.type === 'run.closed') return
  }

  /** Whether there is something to wait for or to see: what is done sooner than one asks is not lost. */
  isAwaited({ run_id, at_work }: Task): boolean {
    return at_work || this.#unseen.has(run_id)
  }

  seen({ run_id }: Pick<Task, 'run_id'>): void {
    this.#unseen.delete(run_id)
  }

  async stop(task: Task, by: string): Promise<string> {
    const mine = this.#mine.get(task.run_id)
    if (!mine) return (await this.retinue.cancel(task.run_id, by, 'stopped in the chat')).outcome
    mine.run.cancel('stopped in the chat')
    await mine.ended
    return (await this.retinue.result(task.run_id))?.outcome ?? 'stopped'
  }

  /** Takes what is still at work along into another session, under the ids it has. Resolves with these. */
  async move(from: readonly string[]): Promise<string[]> {
    const along = from.filter((run_id) => this.#mine.has(run_id)).map((run_id) => [run_id, this.#idOf(run_id)] as const)
    this.#ids.clear()
    for (const [run_id, id] of along) this.#ids.set(run_id, id)
    for (const [run_id] of along) await this.conversation.addTask(run_id)
    return along.map(([, id]) => id)
  }

  /** What was left, with what began it. */
  get left(): { run_id: string; said: string }[] {
    return [...this.#left].map(([run_id, said]) => ({ run_id, said }))
  }

  /** Leaves everything as it is, to be resumed. Resolves when it has stopped. */
  async leave(reason: string): Promise<void> {
    const mine = [...this.#mine.values()]
    for (const { run, said } of mine) {
      this.#left.set(run.run_id, said)
      run.leave(reason)
    }
    await Promise.all(mine.map(({ ended }) => ended))
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
}
