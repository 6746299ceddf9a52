/** Some Markdown takes a time that grows with the square of its length: with so much of the worst, a second or two. */
const MOST = 30_000
/** Whoever takes Markdown apart calls itself once for each level, and takes far longer the more there are. */
const DEEPEST = 60

/** How much of a text can be shown as Markdown without the window standing still; `rest` is what is shown as text. */
export function asMarkdown(text: string): { markdown: string; rest: string } {
  const whole = text.length <= MOST
  const markdown = whole ? text : text.slice(0, text.lastIndexOf('\n', MOST) + 1 || MOST)
  if (isDeep(markdown)) return { markdown: '', rest: text }
  return { markdown, rest: text.slice(markdown.length) }
}

/** Quotes, lists and what they are indented by, at the beginning of a line. */
const OPENED = /^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))*[ \t]*/
const MARKS = />|[-*+]|\d+[.)]/g
/** Emphasis within emphasis, links within links. */
const CROWD = new RegExp(`[*_~[\\]!]{${2 * DEEPEST}}`)

function isDeep(text: string): boolean {
  return CROWD.test(text) || text.split('\n').some((line) => depthOf(line) > DEEPEST)
}

function depthOf(line: string): number {
  const opened = OPENED.exec(line)?.[0] ?? ''
  const marks = opened.match(MARKS)?.length ?? 0
  const indent = /^[ \t]*/.exec(opened)?.[0].replaceAll('\t', '    ').length ?? 0
  return marks + indent / 2
}
