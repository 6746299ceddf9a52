import { api } from './client'

/**
 * The token is in the fragment of the address that `retinue serve` prints, which no server and no log gets to see. It is
 * exchanged for a cookie that scripts cannot read, and taken out of the address.
 */
export async function exchangeToken(location: Location, history: History): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return
  history.replaceState(null, '', location.pathname + location.search)
  await api('/login', { method: 'POST', body: { token } })
}
