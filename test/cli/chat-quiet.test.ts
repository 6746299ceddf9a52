import { EventEmitter } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { createQuiet } from '../../src/cli/chat/quiet.js'

afterEach(() => {
  vi.useRealTimers()
})

it('lets a question wait until nobody has typed for a moment, or is not asked any more', async () => {
  vi.useFakeTimers()
  const keyboard = new EventEmitter()
  const quiet = createQuiet(keyboard)
  const never = new AbortController()
  let asked = 0
  const ask = () => quiet(never.signal).then(() => asked++)
  await ask()
  expect(asked).toBe(1)
  keyboard.emit('data', 'a')
  void ask()
  await vi.advanceTimersByTimeAsync(500)
  keyboard.emit('data', 'b')
  await vi.advanceTimersByTimeAsync(500)
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(300)
  expect(asked).toBe(2)
  keyboard.emit('data', 'c')
  void ask()
  never.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toBe(3)
})
