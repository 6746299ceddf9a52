/** Whether a store is named by the URL of a PostgreSQL database, rather than by a file. */
export function isDatabaseUrl(store: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(store)
}

/** Why a text cannot name a store, or null. It may hold a password, so nothing of it is repeated. */
export function storeAddressFault(store: string): string | null {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(store) ?? []
  if (scheme === undefined) return /^postgres(?:ql)?:/i.test(store) ? MISSING_SLASH : null
  if (!isDatabaseUrl(store)) return `a store is a file or a postgres:// URL, and ${scheme}:// is neither`
  if (URL.canParse(store)) return null
  return 'the URL cannot be read: it is postgres://user@host:5432/database, and # / ? @ in a password are %23 %2F %3F %40'
}

const MISSING_SLASH = 'the URL lacks a slash: it is postgres://user@host:5432/database'

/** The passwords that a store's URL has in it, as they are written and as they are meant. */
export function passwordsOfStore(store: string): string[] {
  if (!isDatabaseUrl(store) || !URL.canParse(store)) return []
  const { password, searchParams } = new URL(store)
  const given = [password, unescaped(password), ...searchParams.getAll('password')]
  return [...new Set(given.filter((text) => text !== ''))]
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
