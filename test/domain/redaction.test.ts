import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../src/domain/index.js'
import { ENCODINGS } from '../support/encodings.js'
import '../support/seed.js'

const KEY = 'sk-proj-Zk3v_9Qw-Lm2/xT7+bN4=='
const PASSWORD = 'it\'s "quite" \\ long/für $1 & <you> 100%'
const PEM = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
  'NMoSfm76oqFvAp8Gy0iz5sxj',
  '-----END PRIVATE KEY-----',
].join('\n')
const SECRETS = [
  { name: 'KEY', value: KEY },
  { name: 'PASSWORD', value: PASSWORD },
  { name: 'PEM', value: PEM },
  { name: 'SHORT', value: 'x7-Kq9' },
]
const redactor = createRedactor(SECRETS)

describe.each(SECRETS)('$name', ({ name, value }) => {
  it.each(Object.entries(ENCODINGS))('is found %s', (how, encode) => {
    const encoded = encode(value)
    if (how === 'UTF-16' && /[^\n\x20-\x7e]/.test(value)) return
    const out = redactor.redact(`before ${encoded} after`)
    expect(out).toContain(`[secret ${name}]`)
    expect(out).toMatch(/^before /)
    expect(out).toMatch(/ after$/)
    expect(redactor.findIn(encoded)).toEqual([name])
    const left = out.slice('before '.length, -' after'.length).replaceAll(/\[secret \w+\]/g, '')
    // What stands around it in the encoded text stays; of the secret nothing of any length does.
    for (let i = 0; i + 5 <= value.length; i++) expect(left).not.toContain(value.slice(i, i + 5))
    if (!/columns|bytes?$|JSON|slashes|quotes/.test(how)) expect(left.length).toBeLessThanOrEqual(8)
  })
})

describe('a redactor', () => {
  it('leaves text without secrets as it is', () => {
    const strings = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: fc.constantFrom(...'\\%&\'"ux0123456789abcdefAZ+/=-_ \n\0\u001b[;'), maxLength: 300 }),
    )
    fc.assert(
      fc.property(strings, (text) => {
        expect(redactor.redact(text)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  it('lets no secret through, whatever it is and wherever it stands', () => {
    const secret = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 80 }).filter(isTaken)
    const around = fc.string({ unit: 'grapheme', maxLength: 40 })
    const encoding = fc.constantFrom(...Object.entries(ENCODINGS).filter(([how]) => how !== 'UTF-16'))
    fc.assert(
      fc.property(secret, around, around, encoding, (value, before, after, [, encode]) => {
        const encoded = encode(value)
        const one = createRedactor([{ name: 'IT', value }])
        const out = one.redact(`${before} ${encoded} ${after}`)
        expect(out).toContain('[secret IT]')
        expect(out).not.toContain(value)
        expect(out).not.toContain(encoded)
        expect(
          new TextDecoder().decode(one.redactBytes(new TextEncoder().encode(`${before} ${encoded} ${after}`))),
        ).toBe(out)
      }),
      { numRuns: 3000 },
    )
  })

  it('finds a secret that begins with the same character again and again, wherever it stands', () => {
    for (const value of ['aaaaaaab9', '-----x9K', '0000000a1', 'ababababc', '====ab=c']) {
      const one = createRedactor([{ name: 'IT', value }])
      for (let before = 0; before < 9; before++) {
        for (const encode of Object.values(ENCODINGS)) {
          expect(one.redact(`${' '.repeat(before)}${encode(value)}`)).toContain('[secret IT]')
        }
      }
    }
  })

  it('redacts a text in pieces as it does the whole', () => {
    const word = fc.oneof(
      fc.constantFrom(...SECRETS.flatMap(({ value }) => Object.values(ENCODINGS).map((encode) => encode(value)))),
      fc.constantFrom(
        KEY.slice(0, 12),
        PASSWORD.slice(0, 9),
        'plain',
        '\\',
        '\\u00',
        '%4',
        '&am',
        'x7-',
        'QUJD',
        '7 3',
      ),
      fc.string({ maxLength: 20 }),
    )
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 6 }),
        fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 30 }),
        (words, sizes) => {
          const text = words.join(' ')
          const stream = redactor.stream()
          let out = ''
          for (let at = 0, i = 0; at < text.length; i++) {
            const size = (sizes[i % sizes.length] ?? 0) + 1
            out += stream.push(text.slice(at, at + size))
            at += size
          }
          out += stream.end()
          expect(out).toBe(redactor.redact(text))
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('holds back no more of a text in pieces than could be the beginning of a secret', () => {
    const stream = redactor.stream()
    expect(stream.push('Nothing of the kind is in this sentence. ').length).toBeGreaterThan(36)
    expect(stream.push(`And here is ${KEY.slice(0, 20)}`)).not.toContain(KEY.slice(0, 6))
    expect(stream.push(`${KEY.slice(20)} and more`)).toMatch(/\[secret KEY\] and mo/)
    expect(stream.found()).toEqual(['KEY'])
  })

  it('knows each line of a secret, and the greater part of a long one', () => {
    const [, first = '', second = ''] = PEM.split('\n')
    expect(redactor.redact(`a ${first} b\n  12\t${second};\n`)).toBe('a [secret PEM] b\n  12\t[secret PEM];\n')
    expect(redactor.redact(`a ${Buffer.from(PEM.slice(10, 180)).toString('base64')} b`)).toMatch(
      /^a .{0,24}\[secret PEM\].{0,8} b$/,
    )
    expect(redactor.redact('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----')
    const long = createRedactor([{ name: 'LONG', value: PEM.split('\n')[1] ?? '' }])
    expect(long.redact(`${first.slice(0, 40)}…`)).toBe('[secret LONG]…')
    expect(long.redact(`${first.slice(0, 20)}…`)).toBe(`${first.slice(0, 20)}…`)
  })

  it('finds wrapped base64 in listings and differences', () => {
    const encoded =
      Buffer.from(`${'x'.repeat(50)}${PASSWORD}`)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    for (const before of ['    1\t', '+', '-', '> ', '      ']) {
      expect(redactor.redact(encoded.map((line) => `${before}${line}`).join('\n'))).toContain('[secret PASSWORD]')
    }
  })

  it('redacts every string of a value, keys too, and gives back what it was given where there is nothing', () => {
    const clean = { a: ['x', { b: null, c: 1.5 }], d: true }
    expect(redactor.redactAll(clean)).toBe(clean)
    const found = { [`k ${KEY}`]: ['x', { b: KEY }], same: clean }
    const out = redactor.redactAll(found)
    expect(out).toEqual({ 'k [secret KEY]': ['x', { b: '[secret KEY]' }], same: clean })
    expect(out.same).toBe(clean)
  })

  it('leaves JSON that it redacts JSON', () => {
    const values = fc.array(fc.oneof(fc.constantFrom(...SECRETS.map(({ value }) => value)), fc.string()), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(values, fc.constantFrom(...Object.values(ENCODINGS)), (texts, encode) => {
        const json = JSON.stringify({ command: texts.map(encode).join('') })
        expect(() => JSON.parse(redactor.redact(json))).not.toThrow()
      }),
      { numRuns: 2000 },
    )
  })

  it('does not touch a digest that has a short secret in it by chance', () => {
    const hex = createRedactor([{ name: 'HEX', value: 'c0ffee' }])
    const digest = `${'0123456789abcdef'.repeat(3)}01c0ffee89abcdef`
    expect(hex.redact(digest)).toBe(digest)
    expect(hex.redact(`${digest} `)).not.toBe(`${digest} `)
    const whole = createRedactor([{ name: 'KEY', value: digest }])
    expect(whole.redact(digest)).toBe('[secret KEY]')
  })

  it('says what it does not take, and why', () => {
    const given = ['abc', 'localhost', '123456', 'aaaaaaaa', '  x \n', 'good-one-9', 'retinue', 'created'].map(
      (value, i) => ({
        name: `V${i}`,
        value,
      }),
    )
    const made = createRedactor(given)
    expect(made.names).toEqual(['V5'])
    expect(made.ignored).toEqual([
      { name: 'V0', reason: 'it is shorter than 6 characters' },
      { name: 'V1', reason: 'it is an ordinary word' },
      { name: 'V2', reason: 'it is an ordinary number' },
      { name: 'V3', reason: 'it has fewer than three different characters' },
      { name: 'V4', reason: 'it is shorter than 6 characters' },
      { name: 'V6', reason: 'it is a word that the log itself is made of' },
      { name: 'V7', reason: 'it is a word that the log itself is made of' },
    ])
    expect(made.redact('abc localhost 123456 good-one-9')).toBe('abc localhost 123456 [secret V5]')
  })

  it('takes time in proportion to the text, whatever is in it', () => {
    const periodic = `${'ab'.repeat(2000)}c`
    const many = Array.from({ length: 20 }, (_, i) => ({ name: `S${i}`, value: `sk-proj-${'x'.repeat(20)}-${i}-end` }))
    const slow = createRedactor([...SECRETS, ...many, { name: 'PERIODIC', value: periodic }])
    const texts = [
      'ab',
      'a',
      '\\',
      '&',
      '&#',
      "'",
      '%',
      '%2',
      '\\u00',
      'sk-proj-',
      '0x',
      '\n',
      'QUJD\n',
      '\0',
      PEM.slice(0, 90),
    ]
    for (const part of texts) {
      const time = (size: number) => {
        const text = part.repeat(Math.ceil(size / part.length))
        const started = performance.now()
        slow.redact(text)
        return performance.now() - started
      }
      time(20_000)
      // Eight times the text may take far more than eight times as long on a busy machine, but not 64 times.
      expect(time(800_000), JSON.stringify(part)).toBeLessThan(40 * Math.max(time(100_000), 10))
    }
  })
})

function isTaken(value: string): boolean {
  return createRedactor([{ name: 'IT', value }]).names.length === 1 && value === value.trim()
}
