import { widthOf, wrap } from './width.js'

/** The terminal that is drawn on. */
export interface Screen {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

export type Size = { columns: number; rows: number }

type LiveScreenOptions = {
  /** So often it is drawn at most. Somebody who types sees every letter sooner than somebody who watches needs to. */
  frame_ms?: number
  /** The terminal is ours: what else it must be told; the text is written to it. */
  taken?: () => string
  /** The same when it is somebody else's again, whatever the reason. */
  given?: () => string
}

const FRAME_MS = 100
const TICK_MS = 1000

/** Signals that end a process that does not listen to them, without `exit`. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const NO_WRAP = '\u001b[?7l'
const WRAP = '\u001b[?7h'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_LINE = '\u001b[K'
const CLEAR_ALL = '\u001b[H\u001b[2J'
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
const COLOURS = /\u001b\[[\d;]*m/g

/**
 * Lines at the bottom of a terminal that are drawn again in place while others scroll by above them. Plain escape codes:
 * a few lines of text do not need a library that every start would have to load.
 *
 * What is written waits for the next frame, so that a thousand lines cost one drawing. A line that is not complete yet
 * is drawn as part of the picture, and written when it is: nothing depends on where in it the cursor was.
 */
export class LiveScreen {
  #state: 'off' | 'shown' | 'away' = 'off'
  #lines = ''
  #unfinished = ''
  #drawn: string[] = []
  #drawnColumns = 0
  #drawnAt = 0
  #frame: NodeJS.Timeout | null = null
  #tick: NodeJS.Timeout | null = null

  constructor(
    private readonly screen: Screen,
    private readonly picture: (size: Size) => string[],
    private readonly options: LiveScreenOptions = {},
  ) {}

  /** Text that scrolls by; while the terminal is somebody else's it waits. */
  write(text: string): void {
    if (this.#state === 'off') {
      this.screen.write(text)
      return
    }
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) {
      this.#lines += this.#unfinished + text.slice(0, end)
      this.#unfinished = ''
    }
    this.#unfinished += text.slice(end)
    this.changed()
  }

  /** There is something new to see. Draws from the first time on. */
  changed(): void {
    if (this.#state === 'away') return
    if (this.#state === 'off') this.#begin()
    const frame_ms = this.options.frame_ms ?? FRAME_MS
    this.#frame ??= setTimeout(this.#draw, Math.max(0, this.#drawnAt + frame_ms - Date.now())).unref()
  }

  /** Leaves the terminal to somebody else, with the cursor at the beginning of a line, until `back`. */
  away(): void {
    if (this.#state !== 'shown') return
    this.#take()
    this.#state = 'away'
    this.#forgetSignals()
  }

  back(): void {
    if (this.#state !== 'away') return
    this.#state = 'shown'
    this.#hearSignals()
    this.#own()
    this.changed()
  }

  /** An empty screen with nothing but the picture; what had scrolled away is still there. */
  clear(): void {
    if (this.#state !== 'shown') return
    this.screen.write(CLEAR_ALL)
    this.#drawn = []
    this.changed()
  }

  /** Takes the picture away for good; what was written is all there. Says whether there ever was a picture. */
  close(): boolean {
    if (this.#state === 'off') return false
    if (this.#state === 'shown') this.#take()
    else this.screen.write(this.#lines + this.#unfinished)
    this.#state = 'off'
    if (this.#tick) clearInterval(this.#tick)
    this.screen.off('resize', this.#resized)
    process.off('exit', this.#exit)
    this.#forgetSignals()
    return true
  }

  #begin(): void {
    this.#state = 'shown'
    this.screen.on('resize', this.#resized)
    // Whatever ends the process, the terminal gets its cursor back.
    process.on('exit', this.#exit)
    this.#hearSignals()
    this.#tick = setInterval(() => this.changed(), TICK_MS).unref()
    this.#own()
  }

  #hearSignals(): void {
    for (const signal of ENDINGS) process.on(signal, this.#endings[signal])
    process.on('SIGTSTP', this.#stopped)
  }

  /** While the terminal is somebody else's they are too: of two that listen, each would leave a signal to the other. */
  #forgetSignals(): void {
    for (const signal of ENDINGS) process.off(signal, this.#endings[signal])
    process.off('SIGTSTP', this.#stopped)
  }

  #own(): void {
    this.screen.write(`${HIDE_CURSOR}${this.options.taken?.() ?? ''}`)
  }

  readonly #exit = () => void this.close()
  readonly #resized = () => this.changed()

  /** Where nobody else takes care of a signal it does what it would have done without us, after the cursor is back. */
  #ended(signal: NodeJS.Signals): void {
    // Somebody who heard it first may have closed this.
    if (this.#state !== 'shown' || process.listenerCount(signal) > 1) return
    this.close()
    process.kill(process.pid, signal)
  }

  /** One for each: a key that stands for a signal comes without its name. */
  readonly #endings = Object.fromEntries(ENDINGS.map((signal) => [signal, () => this.#ended(signal)])) as Record<
    (typeof ENDINGS)[number],
    () => void
  >

  /** Ctrl-Z: the shell gets a terminal as it knows it. */
  readonly #stopped = () => {
    if (this.#state === 'shown') process.once('SIGCONT', () => this.back())
    this.away()
    process.kill(process.pid, 'SIGSTOP')
  }

  readonly #draw = () => {
    this.#cancelFrame()
    const size = this.#size()
    const unfinished = this.#unfinished === '' ? [] : wrap(this.#unfinished.replaceAll('\t', '    '), size.columns - 1)
    const tail = unfinished.slice(-Math.max(1, Math.floor(size.rows / 3)))
    const lines = [...tail, ...this.picture({ columns: size.columns, rows: size.rows - tail.length })]
    this.#drawnAt = Date.now()
    const same = lines.length === this.#drawn.length && lines.every((line, i) => line === this.#drawn[i])
    if (this.#lines === '' && same && size.columns === this.#drawnColumns) return
    const text = this.#toTop(size) + (this.#lines === '' ? '' : CLEAR_BELOW + this.#lines)
    // Over what was there rather than after clearing it, which would flicker.
    const drawing = lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')
    this.screen.write(`${text}${NO_WRAP}${drawing}${CLEAR_BELOW}${WRAP}\r`)
    this.#lines = ''
    this.#drawn = lines
    this.#drawnColumns = size.columns
  }

  #take(): void {
    this.#cancelFrame()
    const end = this.#unfinished === '' ? '' : `${this.#unfinished}\n`
    const given = this.options.given?.() ?? ''
    this.screen.write(`${this.#toTop(this.#size())}${CLEAR_BELOW}${this.#lines}${end}${given}${SHOW_CURSOR}`)
    this.#lines = ''
    this.#unfinished = ''
    this.#drawn = []
  }

  /** From the beginning of the last line of the picture, where the cursor is left, to its first. */
  #toTop({ columns, rows }: Size): string {
    const above = this.#drawn.slice(0, -1)
    // A terminal that was made narrower has broken the lines it had.
    const rowsAbove =
      columns >= this.#drawnColumns
        ? above.length
        : above.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line.replace(COLOURS, '')) / columns)), 0)
    const up = Math.min(rowsAbove, rows - 1)
    return up > 0 ? `\r\u001b[${up}A` : '\r'
  }

  #size(): Size {
    return { columns: Math.max(2, this.screen.columns || 80), rows: Math.max(2, this.screen.rows || 24) }
  }

  #cancelFrame(): void {
    if (this.#frame) clearTimeout(this.#frame)
    this.#frame = null
  }
}
