/**
 * What is put before the parser. A page can be written so that parsing it takes minutes, and everything else would
 * wait for it: so what is never shown goes first, what is left is cut, and a page that is nested like no honest one
 * loses its tags.
 */
const MAX_CHARS = 2_000_000
const MAX_DEPTH = 1000

export function trimHtml(html: string): { html: string; cut: boolean } {
  const shown = withoutUnseen(html)
  const cut = shown.length > MAX_CHARS
  const kept = cut ? shown.slice(0, MAX_CHARS) : shown
  return { html: isTooDeep(kept) ? kept.replace(/<[^<>]*>/g, ' ') : kept, cut }
}

const ENDS: Record<string, RegExp> = {
  '<!--': /-->/g,
  '<script': /<\/script[^>]{0,100}>/gi,
  '<style': /<\/style[^>]{0,100}>/gi,
  '<svg': /<\/svg[^>]{0,100}>/gi,
}

/** Without comments, scripts, styles and drawings: often most of a page. */
function withoutUnseen(html: string): string {
  const kept: string[] = []
  const starts = /<!--|<(?:script|style|svg)(?=[\s/>])/gi
  let from = 0
  for (let start = starts.exec(html); start; start = starts.exec(html)) {
    kept.push(html.slice(from, start.index))
    const end = ENDS[start[0].toLowerCase()] as RegExp
    end.lastIndex = start.index
    const found = end.exec(html)
    // One that does not end hides the rest of the page from everybody.
    if (!found) return kept.join('')
    from = found.index + found[0].length
    starts.lastIndex = from
  }
  return kept.join('') + html.slice(from)
}

/** Tags that have no end, or whose end is understood. */
const UNCOUNTED = new Set(
  'area base br col embed hr img input link meta param source track wbr p li dt dd tr td th tbody thead tfoot option colgroup'.split(
    ' ',
  ),
)

function isTooDeep(html: string): boolean {
  let depth = 0
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (UNCOUNTED.has(name.toLowerCase())) continue
    depth = end ? Math.max(0, depth - 1) : depth + 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}
