import { expect, it, vi } from 'vitest'
import { createClock } from '../../src/host/clock.js'

it('tells whole milliseconds close to the wall clock, never backwards', () => {
  const clock = createClock()
  const before = Date.now()
  const now = clock.now()
  // This process may stand still between any two of these lines.
  expect(now).toBeGreaterThan(before - 50)
  expect(now).toBeLessThan(Date.now() + 50)
  const times = Array.from({ length: 10_000 }, clock.now)
  expect(times.every(Number.isInteger)).toBe(true)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

it('does not follow the wall clock when somebody sets it back', () => {
  const clock = createClock()
  const before = clock.now()
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  try {
    expect(clock.now()).toBeGreaterThanOrEqual(before)
  } finally {
    vi.useRealTimers()
  }
})

it('sleeps for at least the time asked for', async () => {
  const clock = createClock()
  const before = performance.now()
  await clock.sleep(20)
  expect(performance.now() - before).toBeGreaterThanOrEqual(20)
})

it('wakes at once on abort, before or during the sleep, without an error', async () => {
  const clock = createClock()
  await clock.sleep(1_000_000, AbortSignal.abort())
  const controller = new AbortController()
  const sleep = clock.sleep(3_000_000_000, controller.signal)
  controller.abort()
  await sleep
})

it('does not take a very long sleep for a very short one', async () => {
  const controller = new AbortController()
  let woken = false
  const sleep = createClock()
    .sleep(2 ** 31 + 1000, controller.signal)
    .then(() => {
      woken = true
    })
  await createClock().sleep(20)
  expect(woken).toBe(false)
  controller.abort()
  await sleep
})
