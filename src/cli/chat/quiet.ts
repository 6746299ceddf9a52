/** So long nobody has typed before a question takes the keyboard. */
const QUIET_MS = 700

/**
 * Resolves when the person has not typed for a moment: a question that came up under their fingers would be answered by
 * what was meant for the input.
 */
export function createQuiet(input: NodeJS.EventEmitter, now: () => number = Date.now) {
  let typed_at = 0
  input.on('data', () => {
    typed_at = now()
  })
  return async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const left = typed_at + QUIET_MS - now()
      if (left <= 0 || signal.aborted) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, left)
        signal.addEventListener('abort', done, { once: true })
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    }
  }
}
