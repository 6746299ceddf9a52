/** So long nobody has typed before a question takes the keyboard. */
const QUIET_MS = 700

type Quiet = {
  /** Whether something stands in the input that was not sent. */
  drafting: () => boolean
  now?: () => number
}

/**
 * Resolves when the input is empty and the person has not typed for a moment: a question that came up under their fingers
 * would be answered by what was meant for the input.
 */
export function createQuiet(input: NodeJS.EventEmitter, { drafting, now = Date.now }: Quiet) {
  let typed_at = 0
  let look = () => {}
  input.on('data', () => {
    typed_at = now()
    look()
  })
  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const left = typed_at + QUIET_MS - now()
      if (left <= 0 && !drafting()) return
      // A draft goes by what is typed; whoever types it is waited for as long as that takes.
      await new Promise<void>((resolve) => {
        const timer = left > 0 ? setTimeout(done, left) : undefined
        signal.addEventListener('abort', done, { once: true })
        look = done
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    }
  }
}
