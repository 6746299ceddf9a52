import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttp } from '../../src/host/http.js'
import { refuseNotPublic } from '../../src/host/http-address.js'
import type { HttpRequest } from '../../src/host/index.js'
import { loopback } from './loopback.js'

const ASK = { timeout_ms: 10_000, max_bytes: 1000 }
const NAMES: Record<string, string[]> = {
  'private.test': ['127.0.0.1'],
  'xn--mnchen-3ya.test': ['127.0.0.1'],
  'both.test': ['127.0.0.1', '127.8.8.8'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'six.test': ['::1'],
  'zero.test': ['0.0.0.0'],
  localhost: ['127.0.0.1'],
  'foo.localhost': ['127.0.0.1'],
  '127.0.0.1.nip.test': ['127.0.0.1'],
}

let server: Awaited<ReturnType<typeof loopback>>
const resolve = async (name: string) => NAMES[name] ?? []
const http = createHttp({ resolve })
const unchecked = createHttp({ resolve, refuse: async () => null })

beforeAll(async () => {
  server = await loopback((request, response) => {
    const [, status, location] = /^\/to\/(\d+)\/([^?]*)$/.exec(request.url ?? '') ?? []
    if (status) response.writeHead(Number(status), { location: decodeURIComponent(location ?? '') }).end('moved')
    else response.end('canary')
  })
})
afterAll(() => server.close())
beforeEach(() => void server.requests.splice(0))

const withPort = (url: string) => url.replaceAll('PORT', String(server.port))

/** Ways to say this machine. The host that a person would have to allow stands beside each. */
const SPELLINGS: [url: string, host: string][] = [
  ['http://127.0.0.1:PORT/', '127.0.0.1'],
  ['http://127.8.8.8:PORT/', '127.8.8.8'],
  ['http://127.1:PORT/', '127.0.0.1'],
  ['http://127.0.1:PORT/', '127.0.0.1'],
  ['http://127.526344:PORT/', '127.8.8.8'],
  ['http://2130706433:PORT/', '127.0.0.1'],
  ['http://0x7f000001:PORT/', '127.0.0.1'],
  ['http://0x7f.0.0.1:PORT/', '127.0.0.1'],
  ['http://0x7f.1:PORT/', '127.0.0.1'],
  ['http://0X7F.0x0.0x0.0x1:PORT/', '127.0.0.1'],
  ['http://0177.0.0.1:PORT/', '127.0.0.1'],
  ['http://0177.1:PORT/', '127.0.0.1'],
  ['http://017700000001:PORT/', '127.0.0.1'],
  ['http://0000177.0.0.01:PORT/', '127.0.0.1'],
  ['http://0x7f.0.01:PORT/', '127.0.0.1'],
  ['http://127.0.0.1.:PORT/', '127.0.0.1'],
  ['http://%31%32%37.0.0.1:PORT/', '127.0.0.1'],
  ['http://127%2e0%2e0%2e1:PORT/', '127.0.0.1'],
  ['http://１２７.０.０.１:PORT/', '127.0.0.1'],
  ['http://①②⑦.⓪.⓪.①:PORT/', '127.0.0.1'],
  ['http://127。0。0。1:PORT/', '127.0.0.1'],
  ['http://127．0．0．1:PORT/', '127.0.0.1'],
  ['http://127.0.\n0.1:PORT/', '127.0.0.1'],
  ['http://127.0.\t0.1:PORT/', '127.0.0.1'],
  ['  http://127.0.0.1:PORT/  ', '127.0.0.1'],
  ['HTTP://127.0.0.1:PORT/', '127.0.0.1'],
  ['http:/127.0.0.1:PORT/', '127.0.0.1'],
  ['http:127.0.0.1:PORT/', '127.0.0.1'],
  ['http:\\\\127.0.0.1:PORT\\', '127.0.0.1'],
  ['http:////127.0.0.1:PORT/', '127.0.0.1'],
  ['http://127.0.0.1:PORT\\@example.org/', '127.0.0.1'],
  ['http://127.0.0.1:PORT?@example.org/', '127.0.0.1'],
  ['http://127.0.0.1:PORT#@example.org/', '127.0.0.1'],
  ['http://0.0.0.0:PORT/', '0.0.0.0'],
  ['http://0:PORT/', '0.0.0.0'],
  ['http://0x0:PORT/', '0.0.0.0'],
  ['http://[::ffff:127.0.0.1]:PORT/', '[::ffff:7f00:1]'],
  ['http://[::ffff:7f00:1]:PORT/', '[::ffff:127.0.0.1]'],
  ['http://[0:0:0:0:0:FFFF:127.0.0.1]:PORT/', '::ffff:7f00:1'],
  ['http://[::ffff:0.0.0.0]:PORT/', '[::ffff:0:0]'],
  ['http://[::1]:PORT/', '::1'],
  ['http://[0:0:0:0:0:0:0:1]:PORT/', '[::1]'],
  ['http://[0000::0001]:PORT/', '[::1]:PORT'],
  ['http://localhost:PORT/', 'localhost'],
  ['http://LOCALHOST:PORT/', 'localhost'],
  ['http://localhost.:PORT/', 'LocalHost'],
  ['http://ｌｏｃａｌｈｏｓｔ:PORT/', 'localhost'],
  ['http://local\u00adhost:PORT/', 'localhost'],
  ['http://foo.localhost:PORT/', 'foo.localhost:PORT'],
  ['http://private.test:PORT/', 'private.test'],
  ['http://PRIVATE.test.:PORT/', 'private.test'],
  ['http://both.test:PORT/', 'both.test'],
  ['http://mapped.test:PORT/', 'mapped.test'],
  ['http://zero.test:PORT/', 'zero.test'],
  ['http://six.test:PORT/', 'six.test'],
  ['http://münchen.test:PORT/', 'xn--mnchen-3ya.test'],
  ['http://127.0.0.1.nip.test:PORT/', '127.0.0.1.nip.test'],
]

describe('an address of this machine', () => {
  it('is not reached, however it is spelled, and would be without the check and where a person allows it', async () => {
    const rows = SPELLINGS.filter(([, host]) => server.ipv6 || !/^(\[?::1|six)/.test(host))
    const told = await Promise.all(
      rows.map(async ([spelling, host]) => {
        const request: HttpRequest = { ...ASK, url: withPort(spelling) }
        const answer = await http.fetch(request)
        return [spelling, host, answer.ok ? 'reached' : answer.code]
      }),
    )
    expect(told).toEqual(rows.map((row) => [...row, 'forbidden_address']))
    expect(server.requests).toEqual([])

    const twins = await Promise.all(
      rows.map(async ([spelling, host]) => {
        const url = withPort(spelling)
        const bare = await unchecked.fetch({ ...ASK, url })
        const allowed = await http.fetch({ ...ASK, url, allow_private: ['other.test', withPort(host)] })
        return [spelling, host, bare.ok && text(bare.body), allowed.ok && text(allowed.body)]
      }),
    )
    expect(twins).toEqual(rows.map((row) => [...row, 'canary', 'canary']))
    console.log(`http: ${rows.length} of ${SPELLINGS.length} spellings of this machine tried, each with its twin`)
  })

  it('is allowed by exactly its host and port', async () => {
    const url = withPort('http://private.test:PORT/')
    const refused = [
      'private',
      'rivate.test',
      '*.test',
      '*',
      'private.test:1',
      'http://private.test',
      '127.0.0.1',
      '',
      ':',
    ]
    for (const entry of refused) {
      expect([entry, await http.fetch({ ...ASK, url, allow_private: [entry] })]).toEqual([
        entry,
        expect.objectContaining({ ok: false, code: 'forbidden_address' }),
      ])
    }
    expect(server.requests).toEqual([])
  })

  it('is not named to whoever asked for a name that leads there', async () => {
    expect(await http.fetch({ ...ASK, url: withPort('http://private.test:PORT/') })).toEqual({
      ok: false,
      code: 'forbidden_address',
      message:
        'the address of private.test is an address of this machine: only addresses of the public internet are fetched',
    })
  })
})

describe('what is no plain web address', () => {
  const urls = [
    'http://example.org@127.0.0.1:PORT/',
    'http://user:pass@127.0.0.1:PORT/',
    'http://@127.0.0.1:PORT@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT%2f@127.0.0.1/',
    'http://[::1%25lo]:PORT/',
    'http://[fe80::1%25eth0]/',
    'http://[::1%lo]:PORT/',
    'http://127.0.0.1..:PORT/',
    'http://localhost..:PORT/',
    'http://127.0.0.256:PORT/',
    'http://4294967296:PORT/',
    'http://0x100000001:PORT/',
    'http://127.0.0.1:99999/',
    'http://./',
    'http:///',
    'http://',
    '//127.0.0.1:PORT/',
    '127.0.0.1:PORT',
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:PORT/_x',
    'data:text/plain,canary',
    'javascript:1',
    'blob:http://127.0.0.1:PORT/x',
    'view-source:http://127.0.0.1:PORT/',
    'unix:/var/run/docker.sock',
    `http://127.0.0.1:PORT/${'a'.repeat(9000)}`,
    '',
  ]

  it('is refused before anything is connected to, even where everything is allowed', async () => {
    const allow_private = ['127.0.0.1', 'localhost', '::1']
    for (const url of urls) {
      const answer = await unchecked.fetch({ ...ASK, url: withPort(url), allow_private })
      expect([url, answer.ok ? 'fetched' : answer.code]).toEqual([url, 'bad_url'])
    }
    expect(server.requests).toEqual([])
  })
})

describe('names that change', () => {
  /** 127.8.8.8 stands for the public internet here, so that a test can reach it. */
  const refuse = async (address: string) => (address === '127.8.8.8' ? null : refuseNotPublic(address))
  const answers = (...lists: string[][]) => {
    let at = -1
    return async () => lists[Math.min(++at, lists.length - 1)] ?? []
  }

  it('a name is resolved once for each connection, and that answer is the one connected to', async () => {
    const rebinding = createHttp({ resolve: answers(['127.8.8.8'], ['127.0.0.1']), refuse })
    const url = withPort('http://rebinding.test:PORT/')
    expect(await rebinding.fetch({ ...ASK, url })).toMatchObject({ ok: true, status: 200 })
    expect(await rebinding.fetch({ ...ASK, url })).toMatchObject({ ok: false, code: 'forbidden_address' })
    expect(server.requests.map(({ address }) => address)).toEqual(['127.8.8.8'])
  })

  it('a name that changes between a redirect and its target is refused there; unchecked it is followed', async () => {
    const url = withPort('http://rebinding.test:PORT/to/302/%3Fsecret')
    const lists = [['127.8.8.8'], ['127.0.0.1']]
    const checked = createHttp({ resolve: answers(...lists), refuse })
    expect(await checked.fetch({ ...ASK, url })).toMatchObject({ ok: false, code: 'forbidden_address' })
    expect(server.requests.map(({ address }) => address)).toEqual(['127.8.8.8'])
    const open = createHttp({ resolve: answers(...lists), refuse: async () => null })
    expect(await open.fetch({ ...ASK, url })).toMatchObject({ ok: true, status: 200 })
    expect(server.requests.map(({ address }) => address)).toEqual(['127.8.8.8', '127.8.8.8', '127.0.0.1'])
  })

  it('of several addresses only the public ones are tried, also when those do not answer', async () => {
    const mixed = createHttp({ resolve: async () => ['127.0.0.1', '127.8.8.8', '::1'], refuse })
    expect(await mixed.fetch({ ...ASK, url: withPort('http://mixed.test:PORT/') })).toMatchObject({ ok: true })
    const closed = withPort('http://mixed.test:1/')
    expect(await mixed.fetch({ ...ASK, url: closed })).toMatchObject({ ok: false, code: 'network' })
    expect(server.requests.map(({ address }) => address)).toEqual(['127.8.8.8'])
  })

  it('a public host cannot redirect to a private one: the redirect is the answer', async () => {
    const public_ = createHttp({ resolve: async () => ['127.8.8.8'], refuse })
    const targets = SPELLINGS.map(([spelling]) => withPort(spelling)).filter((url) =>
      /^http:(\/\/|\\\\)[\x21-\x7e]+$/i.test(url),
    )
    expect(targets.length).toBeGreaterThan(40)
    for (const target of targets) {
      const url = withPort(`http://public.test:PORT/to/302/${encodeURIComponent(target)}`)
      const answer = await public_.fetch({ ...ASK, url })
      expect([target, answer.ok && answer.status]).toEqual([target, 302])
    }
    expect(server.requests.every(({ address }) => address === '127.8.8.8')).toBe(true)
  })
})

describe('kinds of addresses', () => {
  it('knows those that are not of the public internet', async () => {
    const addresses = `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254
      169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1
      198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
      168.63.129.16
      :: ::1 ::2 ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
      ::ffff:168.63.129.16 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1
      64:ff9b::a9fe:a9fe 64:ff9b:1::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1::1 2001:db8::1 2001:10::1
      2001:20::1 2002:7f00:1::1 2002:a00:1::1 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1
      fe80::1%eth0 fec0::1 ff02::1 ff0e::1 4000::1 1::1 nonsense 1.2.3 `
      .trim()
      .split(/\s+/)
    const answers = await Promise.all(
      addresses.map(async (address) => [address, (await refuseNotPublic(address)) !== null]),
    )
    expect(answers.filter(([, refused]) => !refused)).toEqual([])
  })

  it('lets those of the public internet pass', async () => {
    const addresses = `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 93.184.216.34 100.63.255.255 100.128.0.1 126.255.255.255
      128.0.0.1 169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 198.17.255.255
      198.20.0.1 223.255.255.255 168.63.129.17 2606:4700:4700::1111 2a00:1450:4001::1 2001:4860:4860::8888 2400::1
      ::ffff:8.8.8.8 64:ff9b::8.8.8.8`.split(/\s+/)
    const answers = await Promise.all(addresses.map(async (address) => [address, await refuseNotPublic(address)]))
    expect(answers.filter(([, refusal]) => refusal !== null)).toEqual([])
  })
})

function text(body: Uint8Array): string {
  return Buffer.from(body).toString('utf8')
}
