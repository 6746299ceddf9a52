/** How long nothing is sent before a sign of life is, and how long a reader may take nothing before it is dropped. */
export type StreamTimes = { heart_ms: number; stuck_ms: number }

export const STREAM_TIMES: StreamTimes = { heart_ms: 15_000, stuck_ms: 30_000 }

/** A server-sent event. JSON has no line ends in it, so it is one line of data. */
export function message(name: string, json: string, id?: number): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`
}

const HEART = ': here\n\n'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies would keep the events until there are enough of them.
  'x-accel-buffering': 'no',
}

export type EventStream = { response: Response; close: () => void }

/**
 * Sends what comes, one message at a time: the next is asked for when the reader has taken the last, so that a slow one
 * makes nobody keep anything for it. `ended` is called once, whatever ended it.
 */
export function eventStream(
  messages: AsyncIterator<string, void>,
  { heart_ms, stuck_ms }: StreamTimes,
  ended: () => void,
): EventStream {
  const encoder = new TextEncoder()
  let pending: Promise<IteratorResult<string, void>> | null = null
  let timer: NodeJS.Timeout | undefined
  let over = false
  const end = (how: () => void) => {
    if (over) return
    over = true
    clearTimeout(timer)
    ended()
    how()
  }
  const heart = Symbol('heart')
  const next = () => {
    pending ??= messages.next()
    const beat = new Promise<typeof heart>((resolve) => {
      timer = setTimeout(resolve, heart_ms, heart)
    })
    return Promise.race([pending, beat])
  }
  let close = () => {}
  let drop = (_why: string) => {}
  const watch = () => {
    timer = setTimeout(() => drop(`A watcher took nothing for ${stuck_ms / 1000} s and was dropped.`), stuck_ms)
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        close = () => end(() => controller.close())
        // The words go to the log of the server; the connection is cut, and whoever still is there takes it up again.
        drop = (why) => end(() => controller.error(why))
        // Somebody may never begin to read.
        watch()
      },
      pull: async (controller) => {
        clearTimeout(timer)
        try {
          const taken = await next()
          clearTimeout(timer)
          if (over) return
          if (taken === heart) controller.enqueue(encoder.encode(HEART))
          else {
            pending = null
            if (taken.done) return close()
            controller.enqueue(encoder.encode(taken.value))
          }
          watch()
        } catch (error) {
          drop(`A watcher was dropped: ${error instanceof Error ? error.message : String(error)}`)
        }
      },
      cancel: () => end(() => {}),
    },
    { highWaterMark: 0 },
  )
  return { response: new Response(body, { headers: HEADERS }), close: () => close() }
}
