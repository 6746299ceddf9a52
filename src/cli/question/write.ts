import { inputOf, pressed } from '../chat/editor-input.js'
import { inputLines, textColumns } from '../chat/picture.js'
import { paintFor } from '../style.js'
import { cut } from '../tree/width.js'
import { type Desk, type Ended, prompt } from './prompt.js'

/** A text of one's own. What is pasted is part of it and does not end it. */
export function write(desk: Desk, signal: AbortSignal, options: { calm: boolean }): Promise<Ended<string>> {
  const paint = paintFor(desk.output, process.env)
  let state = inputOf([])
  return prompt<string>(desk, signal, {
    calm: options.calm,
    lines: (size, calm) => [
      ...inputLines(state, size, { busy: false, leaving: false, label: '', paint }).slice(0, -1),
      paint.dim(cut(calm ? 'Enter sends · Alt-Enter new line · Esc says nothing' : '…', size.columns - 1)),
    ],
    press(key, columns) {
      if (key.kind === 'key' && key.name === 'escape') return { kind: 'no' }
      const moment = { columns: textColumns(columns), busy: false, leaving: false, now: Date.now() }
      const { state: next, wish } = pressed(state, key, moment)
      // There is nothing to complete and nothing to search.
      state = { ...next, search: null }
      return wish?.kind === 'said' ? { kind: 'answer', value: wish.text } : 'taken'
    },
  })
}
