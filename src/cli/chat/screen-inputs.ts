import type { ChatInput } from './screen.js'

/** What the person did, in order, for one reader. */
export function createInputs() {
  const waiting: ChatInput[] = []
  let closed = false
  /** Nothing is given out meanwhile. */
  let held = false
  let wake = () => {}

  return {
    add(input: ChatInput): void {
      if (!closed) waiting.push(input)
      wake()
    },
    hold(is: boolean): void {
      held = is
      wake()
    },
    close(): void {
      closed = true
      wake()
    },
    async *all(): AsyncGenerator<ChatInput> {
      for (;;) {
        if (closed) return
        const next = held ? undefined : waiting.shift()
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
