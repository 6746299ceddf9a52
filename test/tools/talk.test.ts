import { describe, expect, it } from 'vitest'
import { workbench } from './workbench.js'

describe('ask_user', () => {
  it('gives the answer of the person', async () => {
    const { call, asked, plan } = await workbench({}, { answer: 'blue' })
    expect(await call('ask_user', { question: 'Which?', options: ['red', 'blue'] })).toEqual({
      ok: true,
      content: 'blue',
    })
    expect(asked).toEqual([{ call_id: 'c1', text: 'Which?', options: ['red', 'blue'] }])
    expect(await plan('ask_user', { question: 'Which\none?' })).toEqual({
      ok: true,
      plan: { summary: 'ask: Which one?', paths: [] },
    })
  })

  it('says when nobody answered', async () => {
    const { call, asked } = await workbench()
    expect(await call('ask_user', { question: 'Which?' })).toEqual({ ok: false, content: 'no person answered' })
    expect(asked).toEqual([{ call_id: 'c1', text: 'Which?', options: [] }])
  })
})

describe('read_output', () => {
  const whole = Array.from({ length: 100 }, (_, i) => `row ${i + 1}`).join('\n')

  it('shows a part and says how to go on', async () => {
    const { call } = await workbench({}, { outputs: { c7: 'abcdefghij' } })
    expect(await call('read_output', { output: 'c7', offset: 2, limit: 3 })).toEqual({
      ok: true,
      content: '[characters 2 to 5 of 10; go on with offset 5]\ncde',
    })
    expect(await call('read_output', { output: 'c7' })).toEqual({
      ok: true,
      content: '[characters 0 to 10 of 10]\nabcdefghij',
    })
    expect(await call('read_output', { output: 'c7', offset: 10 })).toEqual({
      ok: false,
      content: 'offset 10 is past the end: the output has 10 characters',
    })
  })

  it('never shows so much that it would be cut again, and gets through any text', async () => {
    const text = '😀'.repeat(500)
    const { call } = await workbench({}, { outputs: { c7: text }, limits: { output_chars: 301 } })
    let seen = ''
    for (let turns = 0; seen.length < text.length && turns < 20; turns++) {
      const output = await call('read_output', { output: 'c7', offset: seen.length, limit: 5000 })
      const content = 'content' in output ? output.content : ''
      expect(content.length).toBeLessThanOrEqual(301)
      seen += content.slice(content.indexOf('\n') + 1)
    }
    expect(seen).toBe(text)
  })

  it('gets on from every offset, by one character at least', async () => {
    const { call } = await workbench({}, { outputs: { c7: '😀a' } })
    expect(await call('read_output', { output: 'c7', limit: 1 })).toMatchObject({
      content: '[characters 0 to 2 of 3; go on with offset 2]\n😀',
    })
    expect(await call('read_output', { output: 'c7', offset: 1 })).toMatchObject({
      content: '[characters 0 to 3 of 3]\n😀a',
    })
  })

  it('finds lines, with the offset to read on from', async () => {
    const { call } = await workbench({}, { outputs: { c7: whole } })
    expect(await call('read_output', { output: 'c7', search: 'row 9' })).toMatchObject({
      content: expect.stringMatching(/^\[11 lines found\]\n9 \(offset 48\): row 9\n90 \(offset 614\): row 90\n/),
    })
    expect(whole.slice(614, 620)).toBe('row 90')
    expect(await call('read_output', { output: 'c7', search: 'nope' })).toEqual({
      ok: true,
      content: '[no line contains "nope"]',
    })
  })

  it('bounds what it finds, in lines and in number', async () => {
    const long = `${'x'.repeat(1000)}needle${'y'.repeat(1000)}`
    const { call } = await workbench({}, { outputs: { c7: long, c8: whole }, limits: { output_chars: 400 } })
    const found = await call('read_output', { output: 'c7', search: 'needle' })
    expect('content' in found && found.content.length).toBeLessThan(350)
    expect('content' in found && found.content).toContain('xneedley')
    expect(await call('read_output', { output: 'c8', search: 'row' })).toMatchObject({
      content: expect.stringMatching(/^\[100 lines found, the first 9 shown\]\n/),
    })
  })

  it('says what an unknown output is', async () => {
    const { call } = await workbench()
    expect(await call('read_output', { output: 'c9' })).toEqual({
      ok: false,
      content: 'there is no output "c9": take the id from a note that says characters were left out or removed',
    })
  })
})
