import { isCommandLine, RetinueError, type Run } from '../../index.js'
import { EXIT } from '../exit.js'
import { line, printable } from '../style.js'
import { cut } from '../tree/width.js'
import { chatCommands, isDoneAtOnce, takesLong } from './commands/table.js'
import { labelOf } from './greeting.js'
import { sayMessage } from './message.js'
import { saidLines } from './picture.js'
import type { Room } from './room.js'
import type { ChatInput, ChatScreen } from './screen.js'

/** Something that was said and waits for its turn, or has it. */
type Item = { text: string; stop: AbortController }

/** `left`: runs that can be gone on with. */
type ChatEnd = { code: number; left: string[] }

/** Talks until the person leaves: one thing after the other, in the order in which it was said. */
export class ChatLoop {
  readonly #queue: Item[] = []
  #current: Item | null = null
  #working: Promise<void> = Promise.resolve()
  /** Commands that are done beside an answer. */
  readonly #beside = new Set<Promise<void>>()
  #failed = false
  /** A bug: the chat ends with it. */
  #broken: { error: unknown } | null = null
  /** The answer that was under way when the person left. */
  #unanswered: Run | null = null
  #leaving: string | null = null
  #left: () => void = () => {}
  readonly #gone = new Promise<void>((resolve) => {
    this.#left = resolve
  })

  constructor(
    private readonly room: Room,
    private readonly screen: ChatScreen,
  ) {
    room.face.below(({ columns }) => this.#below(columns))
  }

  async talk(first: string | null): Promise<ChatEnd> {
    const interrupt = () => (this.#interactive ? this.#interrupt() : this.#leave('SIGINT'))
    const terminate = () => this.#leave('SIGTERM')
    process.on('SIGINT', interrupt)
    process.on('SIGTERM', terminate)
    process.on('SIGHUP', terminate)
    const inputs = this.screen.inputs()[Symbol.asyncIterator]()
    try {
      if (first !== null) this.#said(first)
      while (this.#leaving === null) {
        const next = await Promise.race([inputs.next(), this.#gone])
        if (!next || next.done) break
        await this.#take(next.value)
      }
      return await this.#end()
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', terminate)
      process.off('SIGHUP', terminate)
    }
  }

  leave(): void {
    this.#leave('leave')
  }

  get #interactive(): boolean {
    return this.room.face.interactive
  }

  async #take(input: ChatInput): Promise<void> {
    if (input.kind === 'said') this.#said(input.text)
    else if (input.kind === 'interrupt') this.#interrupt()
    // A script has said all that it wants done; nobody is kept waiting.
    else if (!this.#interactive) await Promise.race([this.#allDone(), this.#gone])
    if (input.kind === 'leave') this.#leave('leave')
  }

  async #allDone(): Promise<void> {
    await this.#working
    await this.room.tasks.settled()
  }

  #said(text: string): void {
    if (text.trim() === '') return
    const item = { text, stop: new AbortController() }
    if (this.#interactive && this.#current && isCommandLine(text) && isDoneAtOnce(text)) {
      const doing = this.#guarded(this.#do(item)).finally(() => this.#beside.delete(doing))
      this.#beside.add(doing)
      return
    }
    this.#queue.push(item)
    this.screen.changed()
    if (!this.#current) this.#working = this.#guarded(this.#workOff())
  }

  async #guarded(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#broken = { error }
      this.#leave('bug')
    }
  }

  async #workOff(): Promise<void> {
    for (let item = this.#queue.shift(); item && this.#leaving === null; item = this.#queue.shift()) {
      this.#current = item
      const busy = !this.#interactive || !isCommandLine(item.text) || takesLong(item.text)
      this.screen.busy(busy)
      await this.#do(item)
      this.#current = null
      this.screen.busy(false)
    }
    this.#current = null
    this.screen.busy(false)
  }

  async #do(item: Item): Promise<void> {
    const { face } = this.room
    if (this.#interactive) face.say(saidLines(item.text, face.paint).trimEnd())
    try {
      const ok = isCommandLine(item.text) ? await this.#command(item) : await this.#message(item)
      if (!ok) this.#failed = true
    } catch (error) {
      if (!(error instanceof RetinueError)) throw error
      this.#failed = true
      face.say(`${face.paint.red('✗')} ${printable(error.message)}`)
    }
    await this.#label()
  }

  async #message({ text, stop }: Item): Promise<boolean> {
    return (await sayMessage(this.room, text, stop.signal)) !== 'failed'
  }

  async #command({ text, stop }: Item): Promise<boolean> {
    const { control, conversation, face } = this.room
    // A pin for the session needs one to hold in.
    const { session_id } = await conversation.open()
    const commands = chatCommands(this.room, stop.signal)
    const { outcome, text: said } = await control.execute(text, { session_id }, commands)
    if (said !== '') face.say(outcome === 'success' ? said : `${face.paint.red('✗')} ${said}`)
    return outcome === 'success'
  }

  async #label(): Promise<void> {
    this.screen.label(await labelOf(this.room))
  }

  #interrupt(): void {
    if (!this.room.face.asksInBackground()) this.#current?.stop.abort()
  }

  #leave(why: string): void {
    if (this.#leaving !== null) return
    this.#leaving = why
    // What waits for something is not waited for; an answer is left as it is, rather than cancelled.
    this.#unanswered = this.room.current
    if (this.#unanswered) this.#unanswered.leave('the chat was left')
    else this.#current?.stop.abort()
    this.#left()
  }

  async #end(): Promise<ChatEnd> {
    const answer = this.#unanswered
    await this.#working
    await Promise.all(this.#beside)
    const begun = [...(answer ? [answer.run_id] : []), ...(await this.room.tasks.leave('the chat was left'))]
    if (this.#broken) throw this.#broken.error
    const left: string[] = []
    for (const run_id of begun) {
      const run = await this.room.retinue.find(run_id).catch(() => null)
      if (run && run.status !== 'closed') left.push(run_id)
    }
    if (this.#leaving === 'SIGTERM') return { code: EXIT.terminated, left }
    if (left.length > 0 || this.#leaving === 'SIGINT') return { code: EXIT.interrupted, left }
    return { code: this.#failed && !this.#interactive ? EXIT.failed : EXIT.ok, left }
  }

  /** What waits for its turn, and what works in the background. */
  #below(columns: number): string[] {
    const { dim } = this.room.face.paint
    const short = (text: string) => dim(cut(text, Math.max(1, columns - 1)))
    const { ids } = this.room.tasks
    return [
      ...this.#queue.map(({ text }) => short(`queued: ${line(text)}`)),
      ...(ids.length > 0 ? [short(`in the background: ${ids.join(', ')} (/tasks)`)] : []),
    ]
  }
}
