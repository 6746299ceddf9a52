/** The part of a run's time that is looked at, in milliseconds since it began. */
export type View = { from: number; to: number }

/** So much of the time is shown at the least. */
const LEAST_MS = 20

/** Zooms around a point, `where` it is between 0 (left) and 1 (right). It never shows more than there is. */
export function zoomed(view: View, factor: number, where: number, whole: View): View {
  const length = Math.min(whole.to - whole.from, Math.max(LEAST_MS, (view.to - view.from) * factor))
  const fixed = view.from + (view.to - view.from) * where
  return within({ from: fixed - length * where, to: fixed + length * (1 - where) }, whole)
}

/** Moves by a share of what is shown. */
export function panned(view: View, share: number, whole: View): View {
  const by = (view.to - view.from) * share
  return within({ from: view.from + by, to: view.to + by }, whole)
}

/** The same length inside of the whole; all of it where it is longer. */
function within({ from, to }: View, whole: View): View {
  const length = to - from
  if (length >= whole.to - whole.from) return { ...whole }
  const start = Math.min(Math.max(from, whole.from), whole.to - length)
  return { from: start, to: start + length }
}

export function xOf(at: number, view: View, width: number): number {
  return ((at - view.from) / (view.to - view.from)) * width
}

/** Steps between ticks that people count in. */
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000]
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1_440]
const STEPS = [...STEPS_MS, ...MINUTES.map((minutes) => minutes * 60_000)]

export type Tick = { at: number; x: number; text: string }

/** Where the axis is marked, with at least `room` pixels between two marks. */
export function ticksOf(view: View, width: number, room = 84): { step: number; ticks: Tick[] } {
  const length = view.to - view.from
  if (width <= 0 || length <= 0) return { step: length, ticks: [] }
  const wanted = (length / width) * room
  const day = STEPS[STEPS.length - 1] as number
  const step = STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / day) * day
  const ticks: Tick[] = []
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    ticks.push({ at, x: xOf(at, view, width), text: tickText(at, step) })
  }
  return { step, ticks }
}

/** With as many parts as the step between ticks needs. */
export function tickText(at: number, step: number): string {
  if (at === 0) return '0'
  if (step < 1_000) return `${(at / 1_000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} s`
  const seconds = Math.round(at / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return step < 60_000 ? `${minutes}:${two(seconds % 60)}` : `${minutes} min`
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${two(minutes % 60)}`}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
