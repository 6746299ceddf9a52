import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import type { NonceVariable } from './guards/headers.js'
import { Refusal } from './refusal.js'

/** Where the build puts the web app, seen from what it builds. */
declare const RETINUE_WEB: string | undefined

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
}

type Encoding = 'br' | 'gzip' | 'identity'
type File = { type: string; etag: string; bytes: Record<Encoding, Buffer> }

/** The files of the web app. Only what was there at the start is served, by exactly its name. */
export class Web {
  readonly #folder: string
  readonly #names: ReadonlySet<string>
  /** Read and compressed when they are first asked for. */
  readonly #files = new Map<string, Promise<File>>()

  constructor(folder = webFolder()) {
    this.#folder = folder
    this.#names = new Set(filesBelow(folder))
  }

  async answer(c: Context<NonceVariable>): Promise<Response> {
    const name = c.req.path.slice(1)
    if (name !== INDEX && this.#names.has(name)) return this.#file(c, name)
    if (!takesPage(c.req.header('accept') ?? '', name)) {
      throw new Refusal(404, 'not_found', 'There is no such file')
    }
    return this.#names.has(INDEX) ? this.#page(c) : notBuilt()
  }

  async #file(c: Context, name: string): Promise<Response> {
    const { type, etag, bytes } = await this.#load(name)
    const encoding = bestOf(c.req.header('accept-encoding') ?? '')
    // The names of assets have a digest in them: what is under one never changes.
    const cache = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const headers = { 'cache-control': cache, etag: `${etag}-${encoding}"`, vary: 'accept-encoding' }
    if (c.req.header('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
    const encoded: Record<string, string> = encoding === 'identity' ? {} : { 'content-encoding': encoding }
    return new Response(new Uint8Array(bytes[encoding]), { headers: { ...headers, ...encoded, 'content-type': type } })
  }

  /** Every page of the app is this one, with the nonce of this answer in it. */
  async #page(c: Context<NonceVariable>): Promise<Response> {
    const { type, bytes } = await this.#load(INDEX)
    const text = bytes.identity.toString().replaceAll('__NONCE__', c.get('nonce'))
    return new Response(text, { headers: { 'cache-control': 'no-store', 'content-type': type } })
  }

  #load(name: string): Promise<File> {
    const loading = this.#files.get(name) ?? load(join(this.#folder, name))
    this.#files.set(name, loading)
    // One that could not be read is tried again.
    loading.catch(() => this.#files.delete(name))
    return loading
  }
}

const INDEX = 'index.html'

/** Whoever takes anything gets the page, but not for the name of a file that is not there: it would be taken for one. */
function takesPage(accepted: string, name: string): boolean {
  return accepted.includes('text/html') || (accepted.includes('*/*') && extname(name) === '')
}

const compressed = { br: promisify(brotliCompress), gzip: promisify(gzip) }

async function load(path: string): Promise<File> {
  const identity = await readFile(path)
  const [br, gz] = await Promise.all([
    compressed.br(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    compressed.gzip(identity, { level: 9 }),
  ])
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}`
  return { type: TYPES[extname(path)] ?? 'application/octet-stream', etag, bytes: { identity, br, gzip: gz } }
}

/** The smallest of those that a browser takes. */
function bestOf(accepted: string): Encoding {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one))
    .map((one) => one.split(';')[0]?.trim())
  return taken.includes('br') ? 'br' : taken.includes('gzip') ? 'gzip' : 'identity'
}

function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll('\\', '/').replace(/^\//, ''))
  } catch (error) {
    // A checkout that was not built has no such folder: its one page says so.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function webFolder(): string {
  const from = typeof RETINUE_WEB === 'string' ? RETINUE_WEB : '../../dist/web/'
  return fileURLToPath(new URL(from, import.meta.url))
}

function notBuilt(): Response {
  return new Response(
    '<!doctype html><html lang="en"><title>Retinue</title><h1>The web app is not built</h1>' +
      '<p>Run <code>npm run build</code> in the folder of Retinue, then <code>retinue serve</code> again. ' +
      'The API works without it.</p></html>',
    { status: 503, headers: { 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' } },
  )
}
