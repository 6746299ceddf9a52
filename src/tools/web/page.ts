import type { Formatter, Options, Node as PageNode } from 'html-to-text'
import { trimHtml } from './trim.js'

/** Deeper than any page that people read. What is below is left out, and the stack is safe. */
const MAX_DEPTH = 200
/** Titles are near the beginning. */
const TITLE_CHARS = 200_000

export type Page = { title: string | null; text: string; cut: boolean }

/** A page as text in the manner of Markdown. What nobody reading the page would see, and its menus, are left out. */
export async function readPage(source: string, url: string): Promise<Page> {
  const { compile } = await import('html-to-text')
  const convert = (html: string, selectors: string[]) =>
    tidy(compile({ ...common, baseElements: { selectors } })(html, url))
  const { html, cut } = trimHtml(source)
  const [, title = ''] = /<title(?:\s[^<>]*)?>([^<]*)/i.exec(html.slice(0, TITLE_CHARS)) ?? []
  // A page that says which part of it is the content is believed, unless there is nothing there.
  const content = /<main[\s>]/i.test(html) ? convert(html, ['main']) : ''
  const text = content === '' ? convert(html, ['body']) : content
  return { title: convert(title, []).replace(/\s+/g, ' ') || null, text, cut }
}

const heading: Formatter = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 })
  builder.addInline(`${'#'.repeat(Number(element.name?.slice(1)) || 1)} `)
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 2 })
}

const link: Formatter = (element, walk, builder) => {
  const target = absolute(element.attribs?.href, builder.metadata)
  if (target === null || textOf(element).trimStart() === '') return walk(element.children, builder)
  builder.addInline('[')
  walk(element.children, builder)
  builder.addInline(`](${target})`, { noWordTransform: true })
}

const image: Formatter = (element, _walk, builder) => {
  const alt = element.attribs?.alt?.trim()
  if (alt) builder.addInline(`[image: ${alt}]`)
}

const code: Formatter = (element, _walk, builder) => {
  const text = textOf(element).trim()
  if (text !== '') builder.addInline(text.includes('`') ? text : `\`${text.replace(/\s+/g, ' ')}\``)
}

const codeBlock: Formatter = (element, _walk, builder) => {
  builder.openBlock({ isPre: true, leadingLineBreaks: 2 })
  builder.addLiteral(`\`\`\`\n${textOf(element).trimEnd().replace(/^\n/, '')}\n\`\`\``)
  builder.closeBlock({ trailingLineBreaks: 2 })
}

/** One line for each row, whatever is in the cells. */
const row: Formatter = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 })
  for (const cell of (element.children ?? []).filter(({ name }) => name === 'td' || name === 'th')) {
    builder.addInline('| ')
    walk(cell.children, builder)
    builder.addInline(' ')
  }
  builder.addInline('|')
  builder.closeBlock({ trailingLineBreaks: 1, blockTransform: oneLine })
}

const LEFT_OUT =
  'title script style noscript template svg canvas object embed iframe audio video map nav dialog button select input textarea'
const HIDDEN = [
  '[hidden]',
  '[aria-hidden="true"]',
  '[role="navigation"]',
  '[style*="display:none"i]',
  '[style*="display: none"i]',
  '[style*="visibility:hidden"i]',
  '[style*="visibility: hidden"i]',
]

const common: Options = {
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: '[…]' },
  formatters: { heading, link, image, code, codeBlock, row },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'image' },
    { selector: 'code', format: 'code' },
    { selector: 'kbd', format: 'code' },
    { selector: 'pre', format: 'codeBlock' },
    { selector: 'tr', format: 'row' },
    { selector: 'dt', format: 'block' },
    { selector: 'dd', format: 'block' },
    { selector: 'section', format: 'block' },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    ...[...LEFT_OUT.split(' '), ...HIDDEN].map((selector) => ({ selector, format: 'skip' })),
  ],
}

/** All text below an element. Without recursion: how deep it goes is for whoever wrote the page to say. */
function textOf(element: PageNode): string {
  let text = ''
  const open = [...(element.children ?? [])].reverse()
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'text') text += node.data ?? ''
    else if (node.name === 'br') text += '\n'
    else if (node.children) for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i] as PageNode)
  }
  return text
}

/** null for what leads nowhere that could be fetched, and for other places on the same page. */
function absolute(href: string | undefined, base: unknown): string | null {
  const target = href?.trim() ?? ''
  if (target === '' || target.startsWith('#') || typeof base !== 'string' || !URL.canParse(target, base)) return null
  const url = new URL(target, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

/** The pieces of a cell beside each other. Line by line: a pattern for it could be made to take very long. */
function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
