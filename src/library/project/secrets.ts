import { passwordsOfStore, type Secret } from '../../domain/index.js'

export type SecretSources = {
  env: Readonly<Record<string, string | undefined>>
  /** Variables whose values are secret whatever they are called. */
  named?: readonly string[]
}

/** Names that say so. `AWS_` and the like hold more than secrets: those are told apart by what comes after. */
const SECRET_NAME =
  /(?:^|_)(?:API_?KEY|APIKEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIALS?|PAT|PASS|AUTH)(?:$|_)|(?:^|_)KEY$|PASSWORD|SECRET|ACCESS_?KEY|^AWS_/i
const HARMLESS_NAME =
  /PUBLIC_?KEY$|_(?:SOCK|METHOD|MODE|URL|REGION|PROFILE|FILE|PATH|DIR|OUTPUT|PAGER|ENDPOINT|ENDPOINT_URL|ENV|HOST|PORT|USER|NAME|TYPE|LENGTH|LIMIT|TTL|COUNT|EXPIRY|EXPIRES_IN|MAX_ATTEMPTS|RETRY_MODE|ACCOUNT_ID|ROLE_ARN|SESSION_NAME)$|^AWS_(?:SDK|EC2|STS|S3|USE|DEFAULT)_/i

/** The secrets in an environment: those that are named, those that look like it, and passwords in addresses. */
export function findSecrets({ env, named = [] }: SecretSources): Secret[] {
  const found: Secret[] = []
  const harmless = harmlessValues(env, named)
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue
    const passwords = passwordsIn(value)
    if (named.includes(name)) found.push({ name, value }, ...take(name, passwords), ...insideJson(name, value))
    else if (passwords.length > 0) found.push(...take(name, passwords))
    else if (isSecretName(name) && !looksLikePath(value) && !harmless.has(value)) {
      found.push({ name, value }, ...insideJson(name, value))
    }
  }
  return found
}

/** The secrets in what is sent with requests, named by where they were configured. */
export function secretsInHeaders(where: string, headers: Readonly<Record<string, string>>): Secret[] {
  return Object.entries(headers).flatMap(([header, value]): Secret[] => {
    if (!/auth|key|token|secret|cookie|password/i.test(header)) return []
    const [, scheme, rest] = /^(Basic|Bearer|Digest|Token|ApiKey)\s+(\S.*)$/i.exec(value) ?? []
    const name = `${where} ${header}`
    const password = scheme?.toLowerCase() === 'basic' ? basicPassword(rest ?? '') : null
    return [{ name, value: rest ?? value }, ...(password ? [{ name, value: password }] : [])]
  })
}

/** The password in the URL of a database that is the store. */
export function secretsOfStore(store: unknown): Secret[] {
  return typeof store === 'string' ? take('the store', passwordsOfStore(store)) : []
}

/** Variables that settings such as `Authorization: Bearer ${NAME}` take a secret from, whatever they are called. */
export function secretVariables(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const secret = /^(?:proxy-)?authorization$|^cookie$/i.test(key) || isSecretName(key.replaceAll('-', '_'))
    return secret ? [...value.matchAll(/\$\{(\w+)/g)].map((match) => match[1] as string) : []
  })
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name)
}

const ORDINARY_NAMES = ['USER', 'LOGNAME', 'HOME', 'PWD', 'HOSTNAME', 'HOST', 'SHELL', 'LANG', 'TERM', 'EDITOR', 'TZ']

/** What is the value of an ordinary variable too cannot be kept secret: the name of the user, the host. */
function harmlessValues(env: SecretSources['env'], named: readonly string[]): Set<string> {
  const values = new Set<string>()
  for (const name of ORDINARY_NAMES) {
    const value = env[name]
    if (value !== undefined && !named.includes(name)) values.add(value)
  }
  return values
}

/** Where a secret is kept is no secret. What has a long mixture of letters and digits in it is no path. */
function looksLikePath(value: string): boolean {
  if (!/^(?:(?:~|\.{1,2})?\/|[A-Za-z]:[\\/])/.test(value) || /[+=\n]/.test(value)) return false
  return !value
    .split(/[\\/]/)
    .some((part) => part.length >= 20 && /\d/.test(part) && /[A-Z]/.test(part) && /[a-z]/.test(part))
}

function take(name: string, values: readonly string[]): Secret[] {
  return values.map((value) => ({ name, value }))
}

/** `scheme://user:password@host`, as it is written and as it is meant; a long user alone is a token. */
function passwordsIn(value: string): string[] {
  const [, user = '', password] = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#:@]*)(?::([^\s/?#@]*))?@/i.exec(value) ?? []
  const secret = password ?? (user.length >= 16 ? user : '')
  if (secret === '') return []
  return [...new Set([secret, decoded(secret)])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A key file as one variable: what it calls secret counts by itself. */
function insideJson(name: string, value: string): Secret[] {
  if (!value.trimStart().startsWith('{')) return []
  try {
    const entries = Object.entries(JSON.parse(value) as Record<string, unknown>)
    return entries.flatMap(([key, item]): Secret[] => {
      const secret = typeof item === 'string' && (/key$/i.test(key) || isSecretName(key))
      return secret ? [{ name: `${name}.${key}`, value: item }] : []
    })
  } catch {
    return []
  }
}

function basicPassword(encoded: string): string | null {
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? null : pair.slice(colon + 1)
}
