import { EventEmitter } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { createQuiet } from '../../src/cli/chat/quiet.js'

afterEach(() => {
  vi.useRealTimers()
})

it('lets a question wait until the input is empty and nobody has typed for a moment, or it is not asked any more', async () => {
  vi.useFakeTimers()
  const keyboard = new EventEmitter()
  let draft = ''
  const quiet = createQuiet(keyboard, { drafting: () => draft !== '' })
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
  // A draft is waited for, however long nobody touches it.
  draft = 'half a sentence'
  keyboard.emit('data', 'x')
  void ask()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(asked).toBe(2)
  draft = ''
  keyboard.emit('data', 'y')
  await vi.advanceTimersByTimeAsync(600)
  expect(asked).toBe(2)
  await vi.advanceTimersByTimeAsync(200)
  expect(asked).toBe(3)
  keyboard.emit('data', 'c')
  void ask()
  never.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toBe(4)
})
