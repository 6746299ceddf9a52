import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStringCutter } from '../../../src/tools/mcp/cut-strings.js'
import { createMessageReader } from '../../../src/tools/mcp/messages.js'
import '../../support/seed.js'

function cut(text: string, max: number, chunk = 7): string {
  const bytes = Buffer.from(text)
  const cutter = createStringCutter(max)
  const parts: Uint8Array[] = []
  // A fresh copy each time: what comes out may be a view of what went in.
  for (let i = 0; i < bytes.length; i += chunk) parts.push(...cutter(Buffer.from(bytes.subarray(i, i + chunk))))
  return Buffer.concat(parts).toString('utf8')
}

describe('cutting long strings out of JSON as it passes', () => {
  it('leaves what is short enough as it is, byte by byte', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 1, max: 20 }), (json, chunk) => {
        expect(cut(json, 1_000_000, chunk)).toBe(json)
      }),
    )
  })

  it('leaves JSON behind, whatever the text and wherever it is cut, with the beginning of each string', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 60 }))
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 20 }), (list, max, chunk) => {
        const written = JSON.stringify(list)
        const ascii = written.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
        for (const text of [written, ascii]) {
          const kept = JSON.parse(cut(text, max, chunk)) as string[]
          expect(kept).toHaveLength(list.length)
          for (const [i, part] of kept.entries()) {
            const beginning = part.replace(/\[… [\d,]+ bytes left out …\]$/, '')
            if (part !== list[i]) expect(list[i]?.startsWith(beginning)).toBe(true)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('says how much is missing', () => {
    expect(cut('{"a":"0123456789","b":["x"]}', 4)).toBe('{"a":"0123[… 6 bytes left out …]","b":["x"]}')
  })
})

describe('messages out of lines', () => {
  function read(text: string, chunk: number, bounds = { max_message_bytes: 1000, max_string_bytes: 100 }) {
    const heard: unknown[] = []
    const noise: string[] = []
    const reader = createMessageReader(
      bounds,
      (json) => heard.push(json),
      (line) => noise.push(line),
    )
    const bytes = Buffer.from(text)
    let ok = true
    for (let i = 0; i < bytes.length && ok; i += chunk) ok = reader(bytes.subarray(i, i + chunk))
    return { heard, noise, ok }
  }

  it('come out the same however the bytes are dealt out', () => {
    const text = '{"a":"grün 🦉"}\r\n\nnonsense\n[{"b":1},{"b":2}]\n{"c":3}\n{"half":'
    for (let chunk = 1; chunk < 30; chunk++) {
      expect(read(text, chunk)).toEqual({
        heard: [{ a: 'grün 🦉' }, { b: 1 }, { b: 2 }, { c: 3 }],
        noise: ['nonsense'],
        ok: true,
      })
    }
  })

  it('end where one is too long', () => {
    expect(read(`{"a":1}\n${'x'.repeat(1001)}`, 64)).toMatchObject({ heard: [{ a: 1 }], ok: false })
  })
})
