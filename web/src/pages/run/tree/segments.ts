import { type View, xOf } from './scale'

type SpanLike<K extends string> = { kind: K; from: number; to: number | null }

/** A piece of an agent's bar. `others`: how many spans besides it are in the pixels that it is drawn on. */
export type Segment<K extends string> = { kind: K; from: number; to: number; x: number; width: number; others: number }

/** What is narrower is drawn together with what is beside it. */
const LEAST_PX = 1

/**
 * The pieces of one bar that are in view. `origin`: when the run began; `now`: where a span ends that has not ended. An
 * agent that calls a thousand tools in a second has some pixels, not a thousand elements.
 */
export function segmentsOf<K extends string>(
  spans: readonly SpanLike<K>[],
  { origin, now, view, width }: { origin: number; now: number; view: View; width: number },
): Segment<K>[] {
  const segments: Segment<K>[] = []
  let narrow: Narrow<K> | null = null
  const flush = () => {
    if (narrow) segments.push(drawn(narrow))
    narrow = null
  }
  for (let i = firstInView(spans, origin + view.from); i < spans.length; i++) {
    const span = spans[i] as SpanLike<K>
    const from = span.from - origin
    const to = (span.to ?? Math.max(now, span.from)) - origin
    if (from > view.to) break
    if (to < view.from || span.kind === 'ended') continue
    const x = xOf(Math.max(from, view.from), view, width)
    const end = xOf(Math.min(to, view.to), view, width)
    if (end - x >= LEAST_PX) {
      flush()
      segments.push({ kind: span.kind, from, to, x, width: end - x, others: 0 })
      continue
    }
    if (narrow && x - narrow.x >= LEAST_PX) flush()
    narrow = joined(narrow, { kind: span.kind, from, to, x })
  }
  flush()
  return segments
}

type Piece<K> = { kind: K; from: number; to: number; x: number }
type Narrow<K> = Piece<K> & { longest: number; count: number }

/** Of several the one that lasted longest gives its name. There may be very many: the one that grows is changed. */
function joined<K>(narrow: Narrow<K> | null, piece: Piece<K>): Narrow<K> {
  const lasted = piece.to - piece.from
  if (!narrow) return { ...piece, longest: lasted, count: 1 }
  narrow.to = piece.to
  narrow.count++
  if (lasted > narrow.longest) {
    narrow.longest = lasted
    narrow.kind = piece.kind
  }
  return narrow
}

function drawn<K extends string>({ kind, from, to, x, count }: Narrow<K>): Segment<K> {
  return { kind, from, to, x, width: LEAST_PX, others: count - 1 }
}

/** Spans follow each other, so that those before the view need not be gone through. */
function firstInView(spans: readonly SpanLike<string>[], from: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { to } = spans[middle] as SpanLike<string>
    if (to !== null && to < from) low = middle + 1
    else high = middle
  }
  return low
}

/** How long each kind lasted in all, longest first, for those who do not see the bar. */
export function lastedOf<K extends string>(spans: readonly SpanLike<K>[], now: number): { kind: K; ms: number }[] {
  const sums = new Map<K, number>()
  for (const { kind, from, to } of spans) {
    if (kind === 'ended') continue
    sums.set(kind, (sums.get(kind) ?? 0) + Math.max(0, (to ?? now) - from))
  }
  return [...sums].map(([kind, ms]) => ({ kind, ms })).sort((a, b) => b.ms - a.ms)
}
