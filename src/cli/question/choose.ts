import type { Key } from '../chat/keys-sequences.js'
import { type Paint, paintFor } from '../style.js'
import type { Size } from '../tree/screen.js'
import { cut, wrap } from '../tree/width.js'
import { type Desk, type Ended, prompt } from './prompt.js'

export type ChoiceOptions = {
  labels: readonly string[]
  /** The one that Enter takes where nothing was chosen. null: it takes none. */
  chosen: number | null
  /** What Esc means. */
  escape: string
}

/** A digit and an Enter that come so close together were not pressed one after the other. */
const TOGETHER_MS = 20

/** One of several, by arrow keys or its number and then Enter. Letters and what is pasted choose nothing. */
export function choose(desk: Desk, signal: AbortSignal, options: ChoiceOptions): Promise<Ended<number>> {
  const { labels } = options
  const paint = paintFor(desk.output, process.env)
  let chosen = options.chosen
  let numbered_at = 0
  let strayed = false
  return prompt<number>(desk, signal, {
    lines: (size, calm) => [
      ...optionLines(labels, chosen, size, paint),
      paint.dim(cut(calm ? hint() : strayed ? STRAYED : '…', size.columns - 1)),
    ],
    press(key) {
      const became = pressed(key)
      strayed = became === 'typed'
      if (strayed) chosen = options.chosen
      return became
    },
  })

  function pressed(key: Key): Ended<number> | 'taken' | 'typed' {
    const name = key.kind === 'key' ? key.name : null
    if (name === 'escape') return { kind: 'no' }
    if (name === 'up') return move(chosen === null ? 0 : chosen - 1)
    if (name === 'down') return move(chosen === null ? 0 : chosen + 1)
    if (name === 'enter') {
      if (Date.now() - numbered_at < TOGETHER_MS) return 'typed'
      return chosen === null ? 'taken' : { kind: 'answer', value: chosen }
    }
    const number = key.kind === 'text' && /^[1-9]$/.test(key.text) ? Number(key.text) : null
    if (number === null || number > labels.length) return 'typed'
    numbered_at = Date.now()
    return move(number - 1)
  }

  /** Not round and round: where one end is a yes, it is never one key behind the no at the other. */
  function move(to: number): 'taken' {
    chosen = Math.max(0, Math.min(labels.length - 1, to))
    return 'taken'
  }

  function hint(): string {
    return `↑ ↓ or 1 to ${Math.min(9, labels.length)}, then Enter · Esc ${options.escape}`
  }
}

const STRAYED = 'What is typed here answers nothing; arrow keys and Enter do, in a moment'

function optionLines(labels: readonly string[], chosen: number | null, { columns, rows }: Size, paint: Paint) {
  const width = Math.max(8, columns - 1 - MARK.length)
  const texts = labels.map((label, i) => `${i + 1} ${label}`)
  const whole = texts.map((text) => wrap(text, width))
  const room = Math.max(1, rows - 2)
  const fits = whole.flat().length <= room
  const first = fits ? 0 : Math.max(0, Math.min((chosen ?? 0) - Math.floor(room / 2), labels.length - room))
  const shown = fits ? whole : texts.slice(first, first + room).map((text) => [cut(text, width)])
  return shown.flatMap((parts, i) =>
    parts.map((part, j) => {
      if (first + i !== chosen) return `${' '.repeat(MARK.length)}${part}`
      return `${j === 0 ? MARK : ' '.repeat(MARK.length)}${paint.bold(part)}`
    }),
  )
}

/** Not a colour: what is chosen is seen where there are none. */
const MARK = '❯ '
