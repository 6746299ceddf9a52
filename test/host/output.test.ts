import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BoundedBytes, WholeCharacters } from '../../src/host/output.js'

it('keeps everything up to the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.nat(30), (chunks, room) => {
      const all = Buffer.concat(chunks)
      const kept = new BoundedBytes(all.length + room)
      for (const chunk of chunks) kept.push(Buffer.from(chunk))
      expect(kept.read()).toEqual({ text: all.toString('utf8'), dropped: 0 })
      expect(kept.bytes).toBe(all.length)
    }),
  )
})

it('keeps the first and the last half beyond it, and counts the rest', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii', maxLength: 30 })), fc.nat(40), (chunks, limit) => {
      const all = chunks.join('')
      fc.pre(all.length > limit)
      const kept = new BoundedBytes(limit)
      for (const chunk of chunks) kept.push(Buffer.from(chunk))
      const tail = Math.floor(limit / 2)
      const dropped = all.length - limit
      const first = all.slice(0, limit - tail)
      const last = all.slice(all.length - tail)
      expect(kept.read()).toEqual({ text: `${first}\n[... ${dropped} bytes left out ...]\n${last}`, dropped })
    }),
  )
})

it('leaves out characters that the cut would break', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.integer({ min: 8, max: 40 }), (chunks, limit) => {
      fc.pre(!chunks.join('').includes('\uFFFD'))
      const kept = new BoundedBytes(limit)
      for (const chunk of chunks) kept.push(Buffer.from(chunk))
      const { text, dropped } = kept.read()
      expect(text).not.toContain('\uFFFD')
      const notice = dropped > 0 ? Buffer.byteLength(`\n[... ${dropped} bytes left out ...]\n`) : 0
      expect(Buffer.byteLength(text) - notice + dropped).toBe(kept.bytes)
    }),
  )
})

it('hands on whole characters only, and loses no byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(7)), (bytes, sizes) => {
      const whole = new WholeCharacters()
      const pieces: Buffer[] = []
      let from = 0
      for (const size of [...sizes, bytes.length]) {
        pieces.push(Buffer.from(whole.push(Buffer.from(bytes.subarray(from, from + size)))))
        from = Math.min(bytes.length, from + size)
      }
      pieces.push(whole.end())
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 5 }), (text, size) => {
      const whole = new WholeCharacters()
      const bytes = Buffer.from(text)
      let read = ''
      for (let i = 0; i < bytes.length; i += size) read += whole.push(bytes.subarray(i, i + size)).toString('utf8')
      expect(read).toBe(bytes.toString('utf8'))
    }),
  )
})
