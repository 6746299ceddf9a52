import { setImmediate } from 'node:timers/promises'
import type { StoredEvent } from '../domain/index.js'
import type { Store } from './store.js'

/** So many events are read at once: a long log must not keep this process from everything else. */
const PAGE = 500

/** Events of a run page by page, up to the last that there is, with a turn for everything else between two of them. */
export async function* eventPages(
  store: Pick<Store, 'read'>,
  { after = 0, ...query }: { run_id: string; agent_id?: string; after?: number },
): AsyncGenerator<StoredEvent[], void, void> {
  for (let position = after; ; await setImmediate()) {
    const page = await store.read({ ...query, after: position, limit: PAGE })
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    position = page.at(-1)?.position ?? position
  }
}
