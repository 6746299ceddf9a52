import { printable } from '../style.js'
import { type Editor, replace } from './editor.js'
import { nearestPlace } from './editor-places.js'
import type { Choice, Completion } from './screen.js'

/** What a word may become, shown below the input; one of them is chosen. */
export type Menu = Readonly<{ from: number; to: number; choices: readonly Choice[]; chosen: number }>

/** What Tab makes of the choices: the only one is taken, of several as much as they share, and they are shown. */
export function offered(editor: Editor, completion: Completion): { editor: Editor; menu: Menu | null } {
  const { from, to } = completion
  const choices = usable(completion.choices)
  const [only] = choices
  if (only === undefined) return { editor, menu: null }
  if (choices.length === 1) return { editor: replace(editor, from, to, only.text), menu: null }
  const shared = sharedStart(choices.map(({ text }) => text))
  const given = editor.text.slice(from, to)
  const longer = shared.length > given.length && shared.toLowerCase().startsWith(given.toLowerCase())
  const completed = longer ? replace(editor, from, to, shared) : editor
  return { editor: completed, menu: { from, to: longer ? completed.cursor : to, choices, chosen: 0 } }
}

/** The menu for a text that has changed since. */
export function refreshed(menu: Menu, completion: Completion): Menu | null {
  const choices = usable(completion.choices)
  if (choices.length === 0) return null
  const before = menu.choices[menu.chosen]?.text
  const chosen = choices.findIndex(({ text }) => text === before)
  return { ...completion, choices, chosen: Math.max(0, chosen) }
}

export function taken(editor: Editor, { from, to, choices, chosen }: Menu): Editor {
  return replace(editor, from, to, choices[chosen]?.text ?? '')
}

export function moved(menu: Menu, by: -1 | 1): Menu {
  const { length } = menu.choices
  return { ...menu, chosen: (menu.chosen + by + length) % length }
}

/** The name of a file may have anything in it: what cannot be typed cannot be chosen. */
function usable(choices: Choice[]): Choice[] {
  return choices.filter(({ text }) => printable(text) === text && !/[\n\t]/.test(text))
}

function sharedStart(texts: string[]): string {
  const [first = '', ...others] = texts
  let length = first.length
  for (const text of others) {
    while (!text.startsWith(first.slice(0, length))) length--
  }
  // Not half a character.
  return nearestPlace(first, length) === length ? first.slice(0, length) : ''
}
