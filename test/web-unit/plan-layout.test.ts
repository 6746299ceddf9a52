import { describe, expect, it } from 'vitest'
import { type Edge, type Layout, layOut, pathOf } from '../../web/src/pages/plan/layout'
import { stepTowards, type Way } from '../../web/src/pages/plan/moving'

const SIZES = { width: 100, height: 40, across: 20, down: 10 }

function edges(...pairs: string[]): Edge[] {
  return pairs.map((pair) => {
    const [from = '', to = ''] = pair.split('>')
    return { from, to }
  })
}

/** How often two lines between the same two columns cross. */
function crossings({ lines }: Layout<Edge>): number {
  const parts = lines.flatMap(({ points }) => points.slice(1).map((to, i) => ({ from: points[i] ?? to, to })))
  const crossed = parts.flatMap((a, i) =>
    parts.slice(i + 1).filter((b) => a.from.x === b.from.x && (a.from.y - b.from.y) * (a.to.y - b.to.y) < 0),
  )
  return crossed.length
}

describe('where the steps of a plan are drawn', () => {
  it('puts each step right of all that it depends on, as far left as that lets it be', () => {
    const layout = layOut(['a', 'b', 'c', 'd', 'e'], edges('a>b', 'b>d', 'a>d', 'c>d'), SIZES)
    expect(layout.layers).toEqual([['a', 'c', 'e'], ['b'], ['d']])
    const lefts = ['a', 'b', 'c', 'd', 'e'].map((id) => layout.places.get(id)?.x)
    expect(lefts).toEqual([0, 120, 0, 240, 0])
    expect(layout.width).toBe(340)
  })

  it('draws nothing over something else', () => {
    const ids = Array.from({ length: 60 }, (_, i) => `s${i}`)
    const joined = ids.flatMap((to, i) => (i < 4 ? [] : [`s${Math.floor(i / 3)}>${to}`, `s${i - 3}>${to}`]))
    const { places, height, layers } = layOut(ids, edges(...joined), SIZES)
    for (const layer of layers) {
      const tops = layer.map((id) => places.get(id)?.y ?? Number.NaN)
      for (const [i, top] of tops.entries()) {
        expect(top).toBeGreaterThanOrEqual(0)
        expect(top + SIZES.height).toBeLessThanOrEqual(height)
        if (i > 0) expect(top - (tops[i - 1] ?? 0)).toBeGreaterThanOrEqual(SIZES.height + SIZES.down - 1)
      }
    }
  })

  it('orders steps so that lines which need not cross do not', () => {
    const ids = ['a', 'b', 'c', 'z', 'y', 'x']
    const layout = layOut(ids, edges('a>x', 'b>y', 'c>z'), SIZES)
    expect(crossings(layout)).toBe(0)
  })

  it('leads a long line around what is between', () => {
    const layout = layOut(['a', 'b', 'c'], edges('a>b', 'b>c', 'a>c'), SIZES)
    const long = layout.lines.find(({ edge }) => edge.from === 'a' && edge.to === 'c')
    const [, enters, leaves] = long?.points ?? []
    const { y } = layout.places.get('b') ?? { y: 0 }
    expect(long?.points.length).toBe(4)
    expect([enters?.x, leaves?.x]).toEqual([120, 220])
    expect(enters?.y).toBe(leaves?.y)
    expect((enters?.y ?? y) < y || (enters?.y ?? y) > y + SIZES.height).toBe(true)
  })

  it('draws the same the same, and forgets lines to what is not there', () => {
    const of = () => layOut(['a', 'b'], edges('a>b', 'a>gone', 'a>a'), SIZES)
    expect(of()).toEqual(of())
    expect(of().lines.map(({ edge }) => edge)).toEqual(edges('a>b'))
    expect(layOut([], [], SIZES)).toEqual({ places: new Map(), layers: [], lines: [], width: 0, height: 0 })
  })

  it('ends on a plan that goes in a circle', () => {
    const { layers } = layOut(['a', 'b'], edges('a>b', 'b>a'), SIZES)
    expect(layers.flat().sort()).toEqual(['a', 'b'])
  })

  it('lays out a plan of a hundred steps while nobody waits', () => {
    const ids = Array.from({ length: 100 }, (_, i) => `s${i}`)
    const joined = ids.flatMap((to, i) =>
      ids.slice(Math.max(0, i - 20), Math.max(0, i - 15)).map((from) => `${from}>${to}`),
    )
    const began = performance.now()
    layOut(ids, edges(...joined), SIZES)
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('writes a line level at both ends', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 20, y: 10 },
      { x: 40, y: 10 },
    ]
    expect(pathOf(points)).toBe('M0 0C10 0 10 10 20 10L40 10')
    expect(pathOf([])).toBe('')
  })
})

describe('arrow keys in a plan', () => {
  const layout = layOut(['a', 'b', 'c', 'd'], edges('a>c', 'b>d', 'a>d'), SIZES)
  const go = (from: string, ...ways: Way[]) => ways.map((way) => stepTowards(from, way, layout))

  it('go along the lines, and within a column', () => {
    expect(go('a', 'left', 'right', 'up', 'down')).toEqual([null, 'c', null, 'b'])
    expect(go('d', 'left', 'right', 'up', 'down')).toEqual(['b', null, 'c', null])
    expect(go('gone', 'left')).toEqual([null])
  })
})
