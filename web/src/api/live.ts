import { api } from './client'
import { currentEntry, onEntry } from './entry'

/**
 * How the connection is: for people who wonder whether what they see is what is. `busy`: the server is there, and has no
 * room for another stream.
 */
export type Connection = 'connecting' | 'live' | 'lost' | 'busy' | 'ended'

export type Listening = {
  /** The address, with what was seen last where the stream can go on from there. */
  url: () => string
  /** By the name of the message. */
  on: Record<string, (data: unknown) => void>
  connection: (state: Connection) => void
}

/** How long after a failure it is tried again. */
const AGAIN_MS = 2_000

/**
 * Listens to a stream of the server until it is told to stop. A window that nobody sees holds no connection: browsers
 * allow six for a server, and the stream goes on where it was when the window is seen again. Without a key it waits for
 * one.
 */
export function listen({ url, on, connection }: Listening): () => void {
  let source: EventSource | null = null
  let timer: number | undefined
  let over = false
  const close = () => {
    source?.close()
    source = null
    window.clearTimeout(timer)
  }
  const open = () => {
    close()
    if (over || document.hidden || currentEntry().missing) return
    const opened = new EventSource(url())
    source = opened
    opened.onopen = () => connection('live')
    // Not left to the browser: it would ask for the same address again, from a beginning that was seen long ago.
    opened.onerror = async () => {
      // Closed already: there was an answer, and it was no stream. Browsers do not say which.
      const refused = opened.readyState === EventSource.CLOSED
      close()
      if (!refused) connection('lost')
      timer = window.setTimeout(open, AGAIN_MS)
      const is_there = await api('/me').then(
        () => true,
        () => false,
      )
      if (refused && source === null && !over) connection(is_there ? 'busy' : 'lost')
    }
    for (const [name, take] of Object.entries(on)) {
      opened.addEventListener(name, (message) => take(JSON.parse((message as MessageEvent<string>).data)))
    }
    opened.addEventListener('end', () => {
      over = true
      close()
      connection('ended')
    })
  }
  const seen = () => (document.hidden ? close() : open())
  document.addEventListener('visibilitychange', seen)
  const forget = onEntry(() => source === null && open())
  connection('connecting')
  open()
  return () => {
    over = true
    close()
    document.removeEventListener('visibilitychange', seen)
    forget()
  }
}
