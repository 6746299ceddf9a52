import { type RefObject, useEffect, useRef } from 'react'
import type { Looking } from './use-view'

/** One notch of a wheel zooms by about a fifth. */
const PER_PIXEL = 0.002

/** Ctrl and the wheel zoom where the pointer is, a sideways wheel and dragging the axis move along. */
export function useZoomInput(
  grid: RefObject<HTMLElement | null>,
  axis: RefObject<HTMLElement | null>,
  looking: Looking,
): void {
  const latest = useRef(looking)
  latest.current = looking
  useEffect(() => {
    const [area, ruler] = [grid.current, axis.current]
    if (!area || !ruler) return
    const wheel = (event: WheelEvent) => {
      const { left, width } = ruler.getBoundingClientRect()
      const where = (event.clientX - left) / width
      if (where < 0 || width === 0) return
      if (event.ctrlKey || event.metaKey) {
        // Not React's: a listener that the browser waits for, so that it does not zoom the page.
        event.preventDefault()
        latest.current.zoom(Math.exp(event.deltaY * PER_PIXEL), Math.min(1, where))
        return
      }
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX
      if (Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY) || latest.current.fits) return
      event.preventDefault()
      latest.current.pan(sideways / width)
    }
    const press = (down: PointerEvent) => {
      ruler.setPointerCapture(down.pointerId)
      let x = down.clientX
      const move = (event: PointerEvent) => {
        latest.current.pan((x - event.clientX) / ruler.clientWidth)
        x = event.clientX
      }
      ruler.addEventListener('pointermove', move)
      ruler.addEventListener('lostpointercapture', () => ruler.removeEventListener('pointermove', move), { once: true })
    }
    area.addEventListener('wheel', wheel, { passive: false })
    ruler.addEventListener('pointerdown', press)
    return () => {
      area.removeEventListener('wheel', wheel)
      ruler.removeEventListener('pointerdown', press)
    }
  }, [grid, axis])
}
