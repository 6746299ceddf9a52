import type * as Yaml from 'yaml'

export type Path = readonly (string | number)[]

/** Counts levels on the tokens, whose parser keeps a stack of its own, before anything that recurses sees them. */
export function isNestedDeeper(tokens: Iterable<Yaml.CST.Token>, levels: number): boolean {
  const open: [token: Yaml.CST.Token, depth: number][] = []
  for (const token of tokens) open.push([token, 0])
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next
    if (depth > levels) return true
    if (token.type === 'document' && token.value) open.push([token.value, depth])
    if (!('items' in token)) continue
    for (const { key, value } of token.items) {
      if (key) open.push([key, depth + 1])
      if (value) open.push([value, depth + 1])
    }
  }
  return false
}

/** Where the deepest node of the path is that the text has. A value that is not written stands where its key does. */
export function offsetOf(yaml: typeof Yaml, document: Yaml.Document.Parsed, path: Path, at: 'key' | 'value'): number {
  let node: unknown = document.contents
  let offset = document.contents?.range?.[0] ?? 0
  for (const [depth, step] of path.entries()) {
    if (yaml.isAlias(node)) node = node.resolve(document)
    if (yaml.isSeq(node)) node = node.items[Number(step)]
    else if (yaml.isMap(node)) {
      const pair = node.items.find(({ key }) => yaml.isScalar(key) && String(key.value ?? '') === String(step))
      if (!pair || !yaml.isScalar(pair.key)) return offset
      offset = pair.key.range?.[0] ?? offset
      if (at === 'key' && depth === path.length - 1) return offset
      node = pair.value
    } else return offset
    const range = yaml.isNode(node) ? node.range : null
    if (range && range[1] > range[0]) offset = range[0]
  }
  return offset
}
