import { jsonLanguage } from '@codemirror/lang-json'
import { quoted, type RegistryFault } from '#domain'

type Tree = ReturnType<typeof jsonLanguage.parser.parse>
type Node = Tree['topNode']
export type Place = { from: number; to: number }

/** Where in the text of a registry a fault is: the value that its path leads to, or as far as the path goes. */
export function placesIn(text: string): (fault: RegistryFault) => Place {
  const top = jsonLanguage.parser.parse(text).topNode.firstChild
  return (fault) => (top ? placeBelow(text, top, fault) : { from: 0, to: text.length })
}

function placeBelow(text: string, top: Node, { path, message }: RegistryFault): Place {
  let node = top
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    const next =
      key === undefined ? itemOf(node, Number(index)) : propertyOf(text, node, (name) => name === key)?.lastChild
    // What is missing is shown at the beginning of what it is missing from.
    if (!next) return beginning(node)
    node = next
  }
  const unknown = /^unknown key ("(?:[^"\\]|\\.)*")/.exec(message)?.[1]
  const key = unknown && propertyOf(text, node, (name) => quoted(name) === unknown)?.firstChild
  if (key) return { from: key.from, to: key.to }
  return node.name === 'Object' || node.name === 'Array' ? beginning(node) : { from: node.from, to: node.to }
}

/** Where another agent would be written: at the end of the list, if there is one. */
export function endOfAgents(text: string): { at: number; is_first: boolean } | null {
  const top = jsonLanguage.parser.parse(text).topNode.firstChild
  const list = top && propertyOf(text, top, (name) => name === 'agents')?.lastChild
  if (list?.name !== 'Array') return null
  const last = items(list).at(-1)
  return last ? { at: last.to, is_first: false } : { at: list.from + 1, is_first: true }
}

function beginning({ from }: Node): Place {
  return { from, to: from + 1 }
}

function propertyOf(text: string, object: Node, is: (name: string) => boolean): Node | null {
  if (object.name !== 'Object') return null
  for (let child = object.firstChild; child; child = child.nextSibling) {
    const key = child.name === 'Property' ? child.firstChild : null
    if (key && is(JSON.parse(text.slice(key.from, key.to)) as string)) return child
  }
  return null
}

function itemOf(list: Node, index: number): Node | null {
  return list.name === 'Array' ? (items(list)[index] ?? null) : null
}

/** Without the brackets and commas between them. */
function items(list: Node): Node[] {
  const found: Node[] = []
  for (let child = list.firstChild; child; child = child.nextSibling) {
    if (/^[A-Z]/.test(child.name)) found.push(child)
  }
  return found
}
