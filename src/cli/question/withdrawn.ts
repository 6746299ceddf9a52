import { AnsweredElsewhere, answerInWords } from '../../index.js'
import { line } from '../style.js'

/** It is not asked any more: answered elsewhere, or, if it still is open, asked again when the run goes on. */
export function withdrawn({ reason }: AbortSignal, say: (text: string) => void): null {
  say(
    reason instanceof AnsweredElsewhere
      ? `  → answered elsewhere by ${line(reason.by)}: ${line(answerInWords(reason.answer))}`
      : '  → not answered',
  )
  return null
}
