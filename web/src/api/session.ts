import type { LoggedIn } from '#wire'
import { ApiError, api } from './client'
import { changeEntry } from './entry'
import { keepKey } from './key'

/**
 * The token is in the fragment of the address that `retinue serve` prints, which no server and no log gets to see. It is
 * exchanged for a cookie that scripts cannot read, and taken out of the address. True: there was one, and it was taken.
 */
export async function exchangeToken(location: Location, history: History): Promise<boolean> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return false
  history.replaceState(history.state, '', location.pathname + location.search)
  return enter(token)
}

/** True: the token was taken. What was wrong with one that was not is told by the frame. */
export async function enter(token: string): Promise<boolean> {
  try {
    const { key } = await api<LoggedIn>('/login', { method: 'POST', body: { token } })
    keepKey(key)
    changeEntry({ missing: false, refused: null })
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    changeEntry({ refused: { error, again: () => void enter(token) } })
    return false
  }
}
