import { expect, it } from 'vitest'
import { asMarkdown } from '../../web/src/parts/markdown-bounds'

it('shows what people write as Markdown, all of it', () => {
  const texts = [
    '',
    '# Done\n\n- a\n  - b\n    1. c\n\n> quoted\n> > twice\n',
    `${'-'.repeat(200)}\n${'='.repeat(200)}\n| a | b |\n|${'-'.repeat(90)}|---|`,
    `\`\`\`\n${' '.repeat(80)}deep code\n\`\`\``,
    '**bold** _and_ ~~gone~~ [[wiki]] ![picture](x)',
  ]
  for (const text of texts) expect(asMarkdown(text)).toEqual({ markdown: text, rest: '' })
})

it('cuts what is too long behind a line, or where there is none within a word', () => {
  const line = `${'word '.repeat(19)}end.\n`
  const { markdown, rest } = asMarkdown(line.repeat(400))
  expect([markdown.length % line.length, markdown.length <= 30_000, markdown + rest === line.repeat(400)]).toEqual([
    0,
    true,
    true,
  ])
  expect(asMarkdown('x'.repeat(30_001))).toEqual({ markdown: 'x'.repeat(30_000), rest: 'x' })
})

it('shows what is nested too deeply as text', () => {
  const deep = [
    '>'.repeat(61),
    '> '.repeat(61),
    '- '.repeat(61),
    '1. '.repeat(61),
    `${'  '.repeat(61)}- a`,
    '*'.repeat(120),
  ]
  for (const text of deep) expect(asMarkdown(`a\n${text}\nb`)).toEqual({ markdown: '', rest: `a\n${text}\nb` })
})
