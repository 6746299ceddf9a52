import { createKeyReader } from '../chat/keys.js'
import type { Key } from '../chat/keys-sequences.js'
import { LiveScreen, type Size } from '../tree/screen.js'

/** Where a question is asked. */
export type Desk = {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** Ctrl-C twice and Ctrl-D leave, and the question stays open. Default: Ctrl-C is the signal, and Ctrl-D a no. */
  leave?: () => void
}

/** `stopped`: it is not asked any more, and nobody has answered it. */
export type Ended<T> = { kind: 'answer'; value: T } | { kind: 'no' } | { kind: 'stopped' }

export type Prompt<T> = {
  /** What is below the question. `calm`: keys count. */
  lines: (size: Size, calm: boolean) => string[]
  /** `typed`: the key means nothing here, so it was meant for something else. */
  press: (key: Key, columns: number) => Ended<T> | 'taken' | 'typed'
  /** Keys count from the beginning: the person is here because of what they have just pressed. */
  calm?: boolean
}

/** So long nobody may have typed, with the question in sight, before a key can answer it. */
const CALM_MS = 500
/** So soon after the first a second Ctrl-C leaves. */
const AGAIN_MS = 2000

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'

/**
 * Draws a question's lower part and reads keys until it is answered. What was typed before it was seen, or is being
 * typed for something else, answers nothing.
 */
export function prompt<T>(desk: Desk, signal: AbortSignal, { lines, press, ...given }: Prompt<T>): Promise<Ended<T>> {
  const { input, output } = desk
  let calm = given.calm === true
  let calming: NodeJS.Timeout | null = null
  let left_at: number | null = null
  let over = false
  return new Promise((resolve) => {
    const live = new LiveScreen(output, picture, { frame_ms: 30, taken: listen, given: unlisten })
    const keys = createKeyReader(pressed)
    const stop = () => end({ kind: 'stopped' })
    signal.addEventListener('abort', stop)
    if (!calm) waitForCalm()
    live.changed()
    if (signal.aborted) stop()

    function picture(size: Size): string[] {
      const shown = lines(size, calm)
      return left_at === null ? shown : [...shown.slice(0, -1), 'Ctrl-C again leaves; it is asked again on resume']
    }

    function waitForCalm(): void {
      calm = false
      if (calming) clearTimeout(calming)
      calming = setTimeout(() => {
        calm = true
        live.changed()
      }, CALM_MS)
    }

    function pressed(key: Key): void {
      if (key.kind === 'can_disambiguate') return
      const name = key.kind === 'key' ? key.name : null
      if (name === 'ctrl-c') {
        interrupted()
        return
      }
      left_at = null
      if (name === 'ctrl-d') gone()
      // As the terminal does it when it is not raw: to all that belong to the command.
      else if (name === 'ctrl-z') process.kill(0, 'SIGTSTP')
      else answered(calm ? press(key, output.columns || 80) : 'typed')
    }

    function answered(became: Ended<T> | 'taken' | 'typed'): void {
      if (became === 'typed') waitForCalm()
      if (typeof became === 'object') end(became)
      else live.changed()
    }

    function interrupted(): void {
      const now = Date.now()
      if (!desk.leave) process.emit('SIGINT')
      else if (left_at !== null && now - left_at <= AGAIN_MS) desk.leave()
      else {
        left_at = now
        live.changed()
      }
    }

    function gone(): void {
      if (desk.leave) desk.leave()
      else end({ kind: 'no' })
    }

    function end(ended: Ended<T>): void {
      if (over) return
      over = true
      if (calming) clearTimeout(calming)
      signal.removeEventListener('abort', stop)
      live.close()
      resolve(ended)
    }

    function listen(): string {
      input.setRawMode(true)
      input.on('data', keys.push)
      for (const event of ['end', 'close', 'error']) input.on(event, gone)
      input.resume()
      return PASTE_ON
    }

    function unlisten(): string {
      keys.reset()
      input.off('data', keys.push)
      input.pause()
      // A terminal that is gone says so here: somebody must listen still.
      input.setRawMode(false)
      for (const event of ['end', 'close', 'error']) input.off(event, gone)
      return PASTE_OFF
    }
  })
}
