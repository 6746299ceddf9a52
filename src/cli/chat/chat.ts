import { isCommandLine, RetinueError } from '../../index.js'
import { EXIT } from '../exit.js'
import { line, printable } from '../style.js'
import { cut } from '../tree/width.js'
import { chatCommands, mannersOf } from './commands/table.js'
import { labelOf } from './greeting.js'
import { meant } from './meant.js'
import { sayMessage } from './message.js'
import { saidLines } from './picture.js'
import type { Room } from './room.js'
import type { ChatInput, ChatScreen } from './screen.js'

/** Something that was said and waits for its turn, or has it. */
type Item = { text: string; stop: AbortController }

/**
 * `left`: runs that can be gone on with. `unsent`: what was said and came to nothing. `at_once`: the person did not wait
 * until all that was at work had stopped.
 */
export type ChatEnd = { code: number; left: string[]; unsent: string[]; at_once: boolean }

type Why = 'leave' | 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'bug'

/** So long it may take to leave before the person is told what for. */
const TELL_MS = 1000

/** Talks until the person leaves: one thing after the other, in the order in which it was said. */
export class ChatLoop {
  readonly #queue: Item[] = []
  #current: Item | null = null
  #working: Promise<void> = Promise.resolve()
  /** Commands that are done beside an answer. */
  readonly #beside = new Map<Item, Promise<void>>()
  #failed = false
  /** A bug: the chat ends with it. */
  #broken: { error: unknown } | null = null
  /** The answer that was under way when the person left. */
  #unanswered: { run_id: string; said: string } | null = null
  /** What was said when the person left, and had not begun. */
  readonly #unsent: string[] = []
  #leaving: Why | null = null
  readonly #gone = createGate()
  readonly #hurry = createGate()

  constructor(
    private readonly room: Room,
    private readonly screen: ChatScreen,
  ) {
    room.face.below(({ columns }) => this.#below(columns))
    room.face.onLeave(() => this.#leave('leave'))
  }

  async talk(first: string | null): Promise<ChatEnd> {
    const signals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((why) => ({ why, heard: () => this.#leave(why) }))
    for (const { why, heard } of signals) process.on(why, heard)
    try {
      if (first !== null) this.#said(first)
      void this.#guarded(this.#read())
      await this.#gone.opened
      return await this.#end()
    } finally {
      // A terminal that is gone says so again while the rest is closed, which must not end there.
      for (const { why, heard } of signals) if (why !== 'SIGHUP') process.off(why, heard)
    }
  }

  leave(): void {
    this.#leave('leave')
  }

  get #interactive(): boolean {
    return this.room.face.interactive
  }

  async #read(): Promise<void> {
    for await (const input of this.screen.inputs()) await this.#take(input)
    if (this.#leaving === null) this.#leave('leave')
  }

  async #take(input: ChatInput): Promise<void> {
    if (input.kind === 'said') this.#said(input.text)
    else if (input.kind === 'interrupt') this.#interrupt()
    // A script has said all that it wants done; nobody is kept waiting.
    else if (!this.#interactive) await Promise.race([this.#allDone(), this.#gone.opened])
    if (input.kind === 'leave') this.#leave('leave')
  }

  async #allDone(): Promise<void> {
    await this.#working
    await this.room.tasks.settled()
  }

  #said(said: string): void {
    const text = meant(this.room, said)
    if (text.trim() === '') return
    const item = { text, stop: new AbortController() }
    if (this.#leaving !== null) {
      this.#unsent.push(text)
      return
    }
    if (this.#interactive && this.#current && isCommandLine(text) && mannersOf(this.room, text).at_once) {
      this.#beside.set(
        item,
        this.#guarded(this.#do(item)).finally(() => this.#beside.delete(item)),
      )
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
    while (this.#leaving === null) {
      const item = this.#queue.shift()
      if (!item) break
      this.#current = item
      const busy = !this.#interactive || !isCommandLine(item.text) || mannersOf(this.room, item.text).long
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
    const answered = await sayMessage(this.room, text, stop.signal)
    if (answered === 'left' && this.#unanswered === null) this.#unsent.push(text)
    return answered !== 'failed'
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

  /** What waits behind an answer was said with that in mind: it is not sent, and can be changed. */
  #interrupt(): void {
    const waiting = this.#queue.splice(0)
    if (waiting.length > 0) this.screen.takeBack(waiting.map(({ text }) => text).join('\n'))
    this.#current?.stop.abort()
  }

  #leave(why: Why): void {
    if (this.#leaving !== null) {
      // A terminal that is gone says so more than once.
      if (why !== 'SIGHUP' && why !== 'bug') this.#hurry.open()
      return
    }
    this.#leaving = why
    this.screen.leaving()
    // What waits for something is not waited for; an answer is left as it is, rather than cancelled.
    const { current, tasks } = this.room
    if (current) {
      this.#unanswered = { run_id: current.run_id, said: this.#current?.text ?? '' }
      current.leave(REASON)
    } else this.#current?.stop.abort()
    for (const { stop } of this.#beside.keys()) stop.abort()
    void tasks.leave(REASON)
    this.#gone.open()
  }

  async #end(): Promise<ChatEnd> {
    const telling = setTimeout(() => void this.#guarded(this.#tellWhatFor()), TELL_MS)
    const at_once = await Promise.race([this.#stopped().then(() => false), this.#hurry.opened.then(() => true)])
    clearTimeout(telling)
    if (this.#broken) throw this.#broken.error
    const left: string[] = []
    const unsent: string[] = []
    for (const { run_id, said } of this.#begun()) {
      const run = await this.room.retinue.find(run_id).catch(() => null)
      if (!run) unsent.push(said)
      else if (run.status !== 'closed') left.push(run_id)
    }
    unsent.push(...this.#queue.map(({ text }) => text), ...this.#unsent)
    return { code: this.#code(left.length > 0 || at_once), left, unsent, at_once }
  }

  async #stopped(): Promise<void> {
    await this.#working
    await Promise.all(this.#beside.values())
    await this.room.tasks.leave(REASON)
  }

  #begun(): { run_id: string; said: string }[] {
    return [...(this.#unanswered ? [this.#unanswered] : []), ...this.room.tasks.left]
  }

  #code(interrupted: boolean): number {
    if (this.#leaving === 'SIGTERM' || this.#leaving === 'SIGHUP') return EXIT.terminated
    if (interrupted || this.#leaving === 'SIGINT') return EXIT.interrupted
    return this.#failed && !this.#interactive ? EXIT.failed : EXIT.ok
  }

  async #tellWhatFor(): Promise<void> {
    const { retinue, tasks, face } = this.room
    const names = [...(this.#unanswered ? ['the answer'] : []), ...tasks.ids].join(', ')
    const runs = await Promise.all(this.#begun().map(({ run_id }) => retinue.find(run_id).catch(() => null)))
    const what = runs.includes(null)
      ? `until ${names} can be resumed: MCP servers are being started for it`
      : `until ${names || 'what is under way'} has stopped`
    face.say(`Waiting ${what}. ${this.#interactive ? 'Ctrl-C leaves at once.' : ''}`.trim())
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

const REASON = 'the chat was left'

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
