import { type Dossier, dossierRows } from '../../index.js'
import { line, type Paint, printable } from '../style.js'

const LABEL = 12

/** The contract of an agent, to be read: who asked for what, what it may, and what it has spent of its budget. */
export function card(dossier: Dossier, paint: Paint): string[] {
  return dossierRows(dossier).flatMap(({ label, text }) => labelled(label, text, paint))
}

/** Every line of a text stands under its first, so that nothing in it can pass for a label of ours. */
export function labelled(label: string, text: string, { dim }: Paint): string[] {
  const [first = '', ...rest] = printable(text).split('\n')
  return [`${dim(label.padEnd(LABEL))}${line(first)}`, ...rest.map((more) => `${' '.repeat(LABEL)}${line(more)}`)]
}
