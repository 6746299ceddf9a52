import { TextDecoder } from 'node:util'

/** What an answer's `content-type` comes to here. */
export type ContentKind = 'html' | 'text' | 'other'

const TEXT =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml)|application\/(?:x-)?(?:javascript|ecmascript|typescript|ndjson|jsonl|jsonlines|yaml|toml|sh|httpd-php|sql|graphql|tex|latex|x-www-form-urlencoded)|message\/.*|image\/svg\+xml)$/

export function mediaType(content_type: string | undefined): string {
  return (content_type ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

export function kindOf(type: string, bytes: Uint8Array): ContentKind {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  const unnamed = type === '' || type === 'application/octet-stream' || type === 'binary/octet-stream'
  if (!unnamed && !TEXT.test(type)) return 'other'
  const start = Buffer.from(bytes.subarray(0, 4096)).toString('latin1')
  const wide = /^(?:\xff\xfe|\xfe\xff)/.test(start)
  if (start.includes('\0') && !wide) return 'other'
  return unnamed && /^\s*<(?:!doctype html|html|head|body)[\s>]/i.test(start) ? 'html' : 'text'
}

/** The text of an answer: a byte order mark decides, then the header, then what a page says about itself. */
export function decodeContent(bytes: Uint8Array, content_type: string | undefined, kind: ContentKind): string {
  const start = Buffer.from(bytes.subarray(0, 2048)).toString('latin1')
  const marked = /^\xef\xbb\xbf/.test(start)
    ? 'utf-8'
    : /^\xff\xfe/.test(start)
      ? 'utf-16le'
      : /^\xfe\xff/.test(start)
        ? 'utf-16be'
        : null
  const said = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(content_type ?? '')?.[1]
  const meta = kind === 'html' ? /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1] : undefined
  return decoder(marked ?? said ?? meta ?? 'utf-8').decode(bytes)
}

function decoder(label: string): TextDecoder {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
