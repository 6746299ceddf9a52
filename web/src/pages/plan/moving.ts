import type { Edge, Layout } from './layout'

export type Way = 'left' | 'right' | 'up' | 'down'

/** Where an arrow key leads from a step: along the lines to the left and right, within its column up and down. */
export function stepTowards<E extends Edge>(id: string, way: Way, layout: Layout<E>): string | null {
  const { places, layers, lines } = layout
  const here = places.get(id)
  if (!here) return null
  if (way === 'up' || way === 'down') {
    const column = layers[here.layer] ?? []
    return column[column.indexOf(id) + (way === 'down' ? 1 : -1)] ?? null
  }
  const joined = lines.flatMap(({ edge }) => {
    if (way === 'right') return edge.from === id ? [edge.to] : []
    return edge.to === id ? [edge.from] : []
  })
  const away = (other: string) => {
    const there = places.get(other)
    return there ? Math.abs(there.layer - here.layer) * 10_000 + Math.abs(there.y - here.y) : Number.POSITIVE_INFINITY
  }
  return joined.sort((a, b) => away(a) - away(b))[0] ?? null
}
