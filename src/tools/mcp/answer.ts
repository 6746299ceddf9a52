import { countInWords, isObject } from '../../domain/index.js'
import { head } from '../text.js'
import type { ToolOutput } from '../tool.js'
import { CUT_NOTE } from './cut-strings.js'
import type { Check } from './outside-schema.js'
import { printable } from './printable.js'
import { schemaProblems } from './schema-problems.js'

/** A server's answer as what the agent reads. Never more of it is put together than the agent may be given. */
export function readAnswer(answer: Record<string, unknown>, max_chars: number, checkOutput: Check | null): ToolOutput {
  const blocks = Array.isArray(answer.content) ? answer.content : []
  const parts = new Parts(max_chars)
  for (const block of blocks) parts.add(textOf(block))
  const { structuredContent } = answer
  // Servers that have both say the same in both, as the protocol asks them to.
  if (structuredContent !== undefined && !blocks.some(isText)) parts.add(JSON.stringify(structuredContent, null, 1))
  const isError = answer.isError === true
  const text = parts.text()
  const warning = isError ? '' : outputWarning(structuredContent, checkOutput)
  return { ok: !isError, content: `${text === '' ? '(the answer is empty)' : text}${warning}` }
}

function outputWarning(structured: unknown, checkOutput: Check | null): string {
  if (!checkOutput) return ''
  if (structured === undefined) return '\n[the server promised structured content for this tool and gave none]'
  const errors = checkOutput(structured) ?? []
  if (errors.length === 0) return ''
  const problems = schemaProblems(errors, structured).map(({ message }) => message)
  return `\n[this answer is not what the server promised: ${problems.join('; ')}]`
}

function isText(block: unknown): boolean {
  return isObject(block) && block.type === 'text' && block.text !== ''
}

function textOf(block: unknown): string {
  if (!isObject(block)) return '[something that is no content]'
  switch (block.type) {
    case 'text':
      return String(block.text ?? '')
    case 'image':
    case 'audio':
      return `[${block.type} ${kindOf(block)}, ${bytesOf(block.data)}]`
    case 'resource_link':
      return linkOf(block)
    case 'resource':
      return resourceOf(isObject(block.resource) ? block.resource : {})
    default:
      return `[${printable(String(block.type)).slice(0, 40)}: a kind of content that is not known here]`
  }
}

function linkOf(block: Record<string, unknown>): string {
  const about = [block.title ?? block.name, block.description].filter((text) => typeof text === 'string' && text !== '')
  const kind = typeof block.mimeType === 'string' ? ` (${block.mimeType})` : ''
  return `[resource ${String(block.uri)}${kind}${about.length > 0 ? `: ${about.join(', ')}` : ''}]`
}

function resourceOf(resource: Record<string, unknown>): string {
  const uri = String(resource.uri)
  if (typeof resource.text === 'string') return `[resource ${uri}]\n${resource.text}`
  return `[resource ${uri}, ${kindOf(resource)}, ${bytesOf(resource.blob)}]`
}

function kindOf({ mimeType }: Record<string, unknown>): string {
  return typeof mimeType === 'string' ? mimeType : 'of unknown kind'
}

/** How much base64 text stands for. */
function bytesOf(data: unknown): string {
  if (typeof data !== 'string') return 'no data'
  const note = CUT_NOTE.exec(data.slice(-60))?.[0] ?? ''
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const bytes = Math.floor(((data.length - note.length) * 3) / 4) - padding
  return `${note === '' ? '' : 'more than '}${bytes} bytes`
}

/** Texts with lines between them, up to a bound; what goes past it is counted and forgotten. */
class Parts {
  readonly #parts: string[] = []
  #left: number
  #dropped = 0

  constructor(max_chars: number) {
    this.#left = max_chars
  }

  add(text: string): void {
    const kept = head(text, this.#left)
    this.#left -= kept.length
    this.#dropped += text.length - kept.length
    if (kept === '') return
    // A part of a string keeps all of it in memory, unless it is made anew.
    this.#parts.push(kept.length < text.length ? Buffer.from(kept).toString() : kept)
  }

  text(): string {
    const note = this.#dropped > 0 ? [`[… ${countInWords(this.#dropped)} characters left out …]`] : []
    return [...this.#parts, ...note].join('\n')
  }
}
