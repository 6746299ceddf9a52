import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { headersGuard, type NonceVariable } from '../../src/server/guards/headers.js'
import { answerTo } from '../../src/server/refusal.js'
import { Web } from '../../src/server/static.js'
import { makeProject } from '../support/project.js'
import { lab } from './serving-lab.js'

const SCRIPT = `console.log('${'long '.repeat(1000)}')\n`
const FILES = {
  'web/index.html': '<meta name="csp-nonce" content="__NONCE__"><style nonce="__NONCE__"></style>',
  'web/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'web/assets/main-Ab12.js': SCRIPT,
  'secret.txt': 'nothing of the web',
}

/** The files of a folder as they are served, without a socket. */
function web(folder: string) {
  const app = new Hono<NonceVariable>()
  app.onError((error, c) => answerTo(error, c, () => {}))
  app.use(headersGuard(() => 'the-nonce'))
  const files = new Web(folder)
  app.get('*', (c) => files.answer(c))
  return async (path: string, headers: Record<string, string> = {}) => {
    const response = await app.request(path, { headers })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      bytes: Buffer.from(await response.arrayBuffer()),
    }
  }
}

describe('the files of the web app', () => {
  const folder = () => join(makeProject(FILES), 'web')

  it('are sent compressed as the browser takes them, to be kept for ever where a digest is in the name', async () => {
    const get = web(folder())
    const expected = {
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
      'cache-control': 'public, max-age=31536000, immutable',
    }
    const path = '/assets/main-Ab12.js'
    const br = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' })
    expect(br).toMatchObject({ status: 200, headers: { ...expected, 'content-encoding': 'br' } })
    expect(brotliDecompressSync(br.bytes).toString()).toBe(SCRIPT)
    const gz = await get(path, { 'accept-encoding': 'br;q=0, gzip' })
    expect(gz).toMatchObject({ status: 200, headers: { ...expected, 'content-encoding': 'gzip' } })
    expect(gunzipSync(gz.bytes).toString()).toBe(SCRIPT)
    const plain = await get(path)
    expect(plain).toMatchObject({ status: 200, headers: expected })
    expect([plain.bytes.toString(), plain.headers['content-encoding']]).toEqual([SCRIPT, undefined])
    expect(await get(path, { 'if-none-match': plain.headers.etag as string })).toMatchObject({
      status: 304,
      headers: { etag: plain.headers.etag },
    })
    expect(await get('/icon.svg')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' },
    })
  })

  it('are one page for every place in the app, with the nonce of the answer', async () => {
    const get = web(folder())
    for (const path of ['/', '/index.html', '/runs/abc', '/runs/abc/agents/a1', '/agents', '/x.js']) {
      const { status, headers, bytes } = await get(path, { accept: 'text/html,*/*' })
      expect([path, status, headers['cache-control'], bytes.toString()]).toEqual([
        ...[path, 200, 'no-store'],
        '<meta name="csp-nonce" content="the-nonce"><style nonce="the-nonce"></style>',
      ])
      expect(headers['content-security-policy']).toContain("'nonce-the-nonce'")
    }
    expect((await get('/assets/other.js', { accept: '*/*' })).status).toBe(404)
    // As curl asks.
    expect((await get('/', { accept: '*/*' })).headers['content-type']).toBe('text/html; charset=utf-8')
  })

  it('are none but those of its folder, whatever a path says', async () => {
    const get = web(folder())
    const paths = [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/../../secret.txt',
      '//etc/passwd',
      '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
      '/..\\secret.txt',
      '/assets',
      '/icon.svg/',
      '/icon.svg%00',
      '/.',
    ]
    for (const path of paths) {
      const { status, bytes } = await get(path)
      expect([path, status]).toEqual([path, 404])
      expect(bytes.toString()).not.toContain(FILES['secret.txt'])
    }
  })

  it('say what to do where they were not built', async () => {
    const get = web(join(makeProject({}), 'web'))
    const { status, bytes } = await get('/', { accept: 'text/html' })
    expect(status).toBe(503)
    expect(bytes.toString()).toContain('Run <code>npm run build</code>')
  })
})

describe('the web app that was built', () => {
  const built = fileURLToPath(new URL('../../dist/web', import.meta.url))

  it('is served whole over a real socket, and asks for nothing that is not in it', async () => {
    const { ask } = await lab()
    const page = await ask({ headers: { accept: 'text/html' } })
    const nonce = /'nonce-([\w-]+)'/.exec(page.headers['content-security-policy'] as string)?.[1] as string
    expect(page.text).toBe(readFileSync(join(built, 'index.html'), 'utf8').replaceAll('__NONCE__', nonce))
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string)
    expect(named.length).toBeGreaterThan(2)
    for (const path of named) expect([path, (await ask({ path })).status]).toEqual([path, 200])
    // Nothing in the page itself runs or styles: the policy would stop it.
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
    for (const name of readdirSync(join(built, 'assets')))
      expect((await ask({ path: `/assets/${name}` })).bytes.equals(readFileSync(join(built, 'assets', name)))).toBe(
        true,
      )
  })
})
