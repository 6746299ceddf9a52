export type AddressResult = { ok: true; url: string; address: string } | { ok: false; message: string }

/**
 * A URL as it is fetched, and as rules see it: `host[:port]/path`, the host in lower case, without scheme, user,
 * query or fragment, and in one spelling for what a server takes for the same path.
 */
export function readAddress(text: string): AddressResult {
  const given = text.trim()
  if (!URL.canParse(given)) return { ok: false, message: 'url: write a whole address, as in https://example.org/page' }
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, message: `url: only http and https are fetched, not ${url.protocol}` }
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, message: 'url: leave user name and password out of the address' }
  }
  url.hash = ''
  return { ok: true, url: url.href, address: addressOf(url) }
}

function addressOf(url: URL): string {
  const port = url.port === '' ? '' : `:${url.port}`
  const path = url.pathname.replace(/%([0-9a-f]{2})/gi, unescaped).replace(/\/{2,}/g, '/')
  return `${url.hostname.replace(/\.$/, '')}${port}${path}`
}

/** Characters that mean the same whether they are escaped or not. */
function unescaped(escaped: string, hex: string): string {
  const char = String.fromCharCode(Number.parseInt(hex, 16))
  return /[\w.~-]/.test(char) ? char : escaped.toUpperCase()
}
