/** Where things of a graph are drawn: in columns from left to right, so that all that comes first is further left. */

export type Edge = { from: string; to: string }
export type Point = { x: number; y: number }
export type Sizes = { width: number; height: number; across: number; down: number }

export type Layout<E extends Edge> = {
  /** The left upper corner of each, and the column that it is in. */
  places: Map<string, Point & { layer: number }>
  /** From top to bottom, by column. */
  layers: string[][]
  /** From the right side of one to the left side of another, past whatever is between. */
  lines: { edge: E; points: Point[] }[]
  width: number
  height: number
}

/** One that is drawn, or the place at which a long line passes through a column. */
type Spot = { id: string; edge: boolean; before: Spot[]; after: Spot[]; y: number }

/** How often the order of all columns is gone through, and how often they are moved towards what they are joined to. */
const SWEEPS = 8
const PULLS = 6

/** Pure: the same graph is drawn the same. What depends on itself in a circle is drawn as if the circle began anywhere. */
export function layOut<E extends Edge>(ids: readonly string[], edges: readonly E[], sizes: Sizes): Layout<E> {
  const known = new Set(ids)
  const drawn = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to))
  const layerOf = layersBy(ids, drawn)
  const columns: Spot[][] = []
  const spots = new Map<string, Spot>()
  const add = (id: string, layer: number, edge: boolean): Spot => {
    const spot: Spot = { id, edge, before: [], after: [], y: 0 }
    for (let i = columns.length; i <= layer; i++) columns.push([])
    columns[layer]?.push(spot)
    return spot
  }
  for (const id of ids) spots.set(id, add(id, layerOf.get(id) ?? 0, false))
  const chains = drawn.flatMap((edge) => {
    const chain = chainOf(edge, layerOf, spots, add)
    return chain ? [{ edge, chain }] : []
  })
  lessenCrossings(columns)
  placeColumns(columns, sizes)
  return drawing(columns, chains, sizes)
}

/** The longest way from a beginning: so many columns are left of it. */
function layersBy(ids: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const before = new Map(ids.map((id) => [id, [] as string[]]))
  for (const { from, to } of edges) before.get(to)?.push(from)
  const layers = new Map<string, number>()
  const layerOf = (id: string, under: ReadonlySet<string>): number => {
    const found = layers.get(id)
    if (found !== undefined) return found
    const inside = new Set([...under, id])
    const layer = Math.max(
      -1,
      ...(before.get(id) ?? []).filter((one) => !inside.has(one)).map((one) => layerOf(one, inside)),
    )
    layers.set(id, layer + 1)
    return layer + 1
  }
  for (const id of ids) layerOf(id, new Set())
  return layers
}

/** Both ends of a line and a spot in each column between them; null for one that leads back. */
function chainOf(
  { from, to }: Edge,
  layerOf: ReadonlyMap<string, number>,
  spots: ReadonlyMap<string, Spot>,
  add: (id: string, layer: number, edge: boolean) => Spot,
): Spot[] | null {
  const first = layerOf.get(from) ?? 0
  const last = layerOf.get(to) ?? 0
  if (last <= first) return null
  const chain = [spots.get(from) as Spot]
  for (let layer = first + 1; layer < last; layer++) chain.push(add(`${from}\0${to}`, layer, true))
  chain.push(spots.get(to) as Spot)
  for (const [i, spot] of chain.entries()) {
    const next = chain[i + 1]
    if (!next) continue
    spot.after.push(next)
    next.before.push(spot)
  }
  return chain
}

/** Orders each column by where its neighbours are, forth and back; what crosses least is kept. */
function lessenCrossings(columns: Spot[][]): void {
  let best = columns.map((column) => [...column])
  let fewest = crossings(columns)
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const forth = sweep % 2 === 0
    const order = forth ? columns : columns.toReversed()
    for (const column of order.slice(1)) sortByNeighbours(column, columns, forth ? 'before' : 'after')
    const count = crossings(columns)
    if (count >= fewest) continue
    fewest = count
    best = columns.map((column) => [...column])
  }
  for (const [i, column] of best.entries()) columns[i] = column
}

function sortByNeighbours(column: Spot[], columns: readonly Spot[][], side: 'before' | 'after'): void {
  const rows = new Map(columns.flatMap((one) => one.map((spot, row) => [spot, row] as const)))
  const wanted = new Map(
    column.map((spot, row) => [spot, mean(spot[side].map((one) => rows.get(one) ?? 0)) ?? row] as const),
  )
  column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
}

function crossings(columns: readonly Spot[][]): number {
  let count = 0
  for (const [i, column] of columns.entries()) {
    const next = new Map((columns[i + 1] ?? []).map((spot, row) => [spot, row]))
    const ends = column.flatMap((spot) => spot.after.map((one) => next.get(one) ?? 0).sort((a, b) => a - b))
    for (const [k, end] of ends.entries()) for (const other of ends.slice(k + 1)) if (other < end) count++
  }
  return count
}

/** Centres of the spots: as near to their neighbours as the order and the room for each let them be. */
function placeColumns(columns: readonly Spot[][], sizes: Sizes): void {
  for (const column of columns)
    settle(
      column,
      column.map(() => 0),
      sizes,
    )
  for (let pull = 0; pull < PULLS; pull++) {
    const forth = pull % 2 === 0
    for (const column of forth ? columns : columns.toReversed()) {
      const side = forth ? 'before' : 'after'
      settle(
        column,
        column.map((spot) => mean(spot[side].map(({ y }) => y)) ?? spot.y),
        sizes,
      )
    }
  }
  const top = Math.min(0, ...columns.flat().map((spot) => spot.y - roomOf(spot, sizes) / 2))
  for (const spot of columns.flat()) spot.y -= top
}

/** Puts a column where it wants to be, pushes apart what would overlap, and takes back half of how far that moved it. */
function settle(column: readonly Spot[], wanted: readonly number[], sizes: Sizes): void {
  let floor = Number.NEGATIVE_INFINITY
  const put = column.map((spot, i) => {
    const half = (roomOf(spot, sizes) + sizes.down) / 2
    const y = Math.max(wanted[i] ?? 0, floor + half)
    floor = y + half
    return y
  })
  const moved = mean(put.map((y, i) => y - (wanted[i] ?? 0))) ?? 0
  for (const [i, spot] of column.entries()) spot.y = (put[i] ?? 0) - moved
}

/** A line needs little room. */
function roomOf({ edge }: Spot, { height }: Sizes): number {
  return edge ? 4 : height
}

function drawing<E extends Edge>(
  columns: readonly Spot[][],
  chains: readonly { edge: E; chain: Spot[] }[],
  { width, height, across }: Sizes,
): Layout<E> {
  const places: Layout<E>['places'] = new Map()
  const left = new Map<Spot, number>()
  for (const [layer, column] of columns.entries()) {
    const x = layer * (width + across)
    for (const spot of column) {
      left.set(spot, x)
      if (!spot.edge) places.set(spot.id, { x, y: Math.round(spot.y - height / 2), layer })
    }
  }
  const lines = chains.map(({ edge, chain }) => {
    const points = chain.flatMap((spot, i) => {
      const x = left.get(spot) ?? 0
      const y = Math.round(spot.y)
      if (spot.edge)
        return [
          { x, y },
          { x: x + width, y },
        ]
      return [{ x: i === 0 ? x + width : x, y }]
    })
    return { edge, points }
  })
  return {
    ...{ places, lines, layers: columns.map((column) => column.filter(({ edge }) => !edge).map(({ id }) => id)) },
    width: Math.max(0, columns.length * (width + across) - across),
    height: Math.max(0, ...[...places.values()].map(({ y }) => y + height), ...lines.flatMap(lowest)),
  }
}

function lowest({ points }: { points: readonly Point[] }): number[] {
  return points.map(({ y }) => y)
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A line through points as the `d` of an SVG path: level at each of them. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  let { x, y } = first
  let path = `M${x} ${y}`
  for (const point of rest) {
    const bend = (x + point.x) / 2
    path += point.y === y ? `L${point.x} ${point.y}` : `C${bend} ${y} ${bend} ${point.y} ${point.x} ${point.y}`
    x = point.x
    y = point.y
  }
  return path
}
