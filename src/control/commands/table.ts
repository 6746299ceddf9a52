import { codePoints, plainLine } from '../../domain/index.js'

const WIDTH = 80
/** A first column wider than this has its second one on the next line. */
const WIDEST = 26

/** Two columns for a terminal: the second is wrapped beside the first. Texts may come from anywhere. */
export function table(rows: readonly (readonly [string, string])[], indent = 2): string[] {
  const plain = rows.map(([left, right]) => [plainLine(left), plainLine(right)] as const)
  const widths = plain.map(([left]) => codePoints(left)).filter((width) => width <= WIDEST)
  const column = indent + Math.max(0, ...widths) + 2
  return plain.flatMap(([left, right]) => {
    const lines = wrapped(right, WIDTH - column).map((line) => `${' '.repeat(column)}${line}`)
    const head = `${' '.repeat(indent)}${left}`
    const [first = '', ...rest] = lines
    if (codePoints(head) + 2 > column) return [head, ...lines]
    return [`${head.padEnd(column + head.length - codePoints(head))}${first.slice(column)}`.trimEnd(), ...rest]
  })
}

/** In lines of so many characters at most, but for words that are longer. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && codePoints(last) + 1 + codePoints(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else if (word !== '') lines.push(word)
  }
  return lines
}
