const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Letters that are whole by themselves: between two of them there is always a border. */
const WHOLE =
  /[\u0020-\u007e\u00c0-\u024f\u0370-\u0373\u0386-\u03ff\u0400-\u0481\u048a-\u052f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]/

/** So much is looked at together at most: the segmenter takes the longer for each character the more there are. */
const LONGEST_PIECE = 500

/** What a person takes for the characters of a text. */
export function* graphemesOf(text: string): Generator<{ segment: string; index: number }> {
  let from = 0
  while (from < text.length) {
    const to = borderAfter(text, from)
    const piece = text.slice(from, to)
    if (piece.length === 1) yield { segment: piece, index: from }
    else for (const { segment, index } of segmenter.segment(piece)) yield { segment, index: from + index }
    from = to
  }
}

/** Whether characters end and begin there, whatever else is in the text. */
export function isBorder(text: string, at: number): boolean {
  return WHOLE.test(text[at - 1] ?? ' ') && WHOLE.test(text[at] ?? ' ')
}

function borderAfter(text: string, at: number): number {
  const last = Math.min(text.length, at + LONGEST_PIECE)
  let place = at + 1
  while (place < last && !isBorder(text, place)) place++
  return /[\udc00-\udfff]/.test(text[place] ?? '') ? place + 1 : place
}
