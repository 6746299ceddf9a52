import type { Node } from 'web-tree-sitter'
import type { CommandWord } from '../../domain/index.js'
import { NUMBER, type Reading, readWord, skipBlanks, type Variables } from './reading.js'

const UNKNOWN: CommandWord = { starts: '', many: true, option: true }

/** All values that the command line gives to each variable by an assignment or a loop, wherever it does so. */
export function variablesIn(reading: Reading, root: Node): Variables {
  const known = new Map<string, CommandWord[]>()
  const add = (name: string, value: CommandWord) => known.set(name, [...(known.get(name) ?? []), value])
  for (const node of root.descendantsOfType(['variable_assignment', 'for_statement', 'c_style_for_statement'])) {
    if (node.type === 'c_style_for_statement' || node.parent?.type === 'c_style_for_statement') {
      for (const [, name] of node.text.matchAll(/([A-Za-z_]\w*)\s*=(?!=)/g)) add(name as string, NUMBER)
    } else if (node.type === 'variable_assignment') {
      const name = node.childForFieldName('name')
      const value = node.childForFieldName('value')
      if (name) add(name.text.split('[')[0] as string, assignedValue(reading, node, value))
    } else {
      const name = node.childForFieldName('variable')?.text ?? ''
      const values = node.childrenForFieldName('value')
      if (values.length === 0) add(name, UNKNOWN)
      for (const value of values) add(name, readWord(reading, value.startIndex).word)
    }
  }
  return known
}

function assignedValue(reading: Reading, assignment: Node, value: Node | null): CommandWord {
  if (/^[A-Za-z_]\w*=$/.test(assignment.text)) return ''
  if (!value || !/^[A-Za-z_]\w*=/.test(assignment.text) || value.type === 'array') return UNKNOWN
  if (value.type === 'arithmetic_expansion') return NUMBER
  const { word, end } = readWord(reading, skipBlanks(reading.text, value.startIndex), true)
  if (end !== value.endIndex) return UNKNOWN
  return typeof word === 'string' ? word : { ...word, many: false }
}
