/** What our own status lines say. A sub-agent's words must never be taken for one of them. */
const WORDS = ['OK', 'ERROR', 'NOT FOUND', 'RUNNING', 'COMPLETED', 'INCOMPLETE', 'SKIPPED']

const OPENING = '\\[［【〔〖〘〚⟦⟬❲⁅⦋⦍⦏﹇'
const CLOSING = '\\]］】〕〗〙〛⟧⟭❳⁆⦌⦎⦐﹈'
const BRACKETED = new RegExp(`[${OPENING}]([^${OPENING}${CLOSING}]*)[${CLOSING}]`, 'gu')
/** A bracket that nobody closes on its line. */
const UNCLOSED = new RegExp(`[${OPENING}]([^${OPENING}${CLOSING}\\r\\n]*)$`, 'gmu')

/** Blanks of all kinds, characters that nobody sees, accents, and what only makes letters bold. */
const UNSEEN = /[\s\p{Z}\p{C}\p{M}\u115F\u1160\u2800*_~`]/gu
const COLONS = /[\u2236\uA789\u02D0\u02F8\u0589\u05C3]/gu

/** Cyrillic and Greek capitals that look like Latin ones. */
const LATIN = new Map(
  [...'АВЕКМНОРСТУХІЅЈԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧ'].map((letter, i) => [letter, 'ABEKMHOPCTYXISJGABEZHIKMNOPTYX'.charAt(i)]),
)

const STATUS = new RegExp(
  `^(.*[:=|–—-]|A\\d+(?:\\.\\d+)*)?(?:${WORDS.map((word) => word.replace(' ', '').replaceAll('O', '[O0]')).join('|')})[!.)}>]*(?:\\(.*)?$`,
  'su',
)

/**
 * A sub-agent's words as its parent may see them. Whatever in them looks like a status of ours, with whatever blanks
 * and letters, loses its brackets and says whose words it is: `[a2: OK]` becomes `(a2: OK, says the sub-agent)`.
 */
export function defuse(text: string): string {
  const mend = (whole: string, inner: string, at: number, all: string) =>
    looksLikeStatus(inner, () => startsLine(all, at)) ? `(${inner.trim()}, says the sub-agent)` : whole
  return text.replace(BRACKETED, mend).replace(UNCLOSED, mend)
}

/** `[ok]` inside a line may well be code; with a name before it, in capitals or on a line of its own it is a claim. */
function looksLikeStatus(inner: string, atStart: () => boolean): boolean {
  const bare = inner.normalize('NFKD').replace(UNSEEN, '').replace(COLONS, ':')
  const capitals = [...bare.toUpperCase()].map((letter) => LATIN.get(letter) ?? letter).join('')
  const found = STATUS.exec(capitals)
  if (!found) return false
  return found[1] !== undefined || bare === bare.toUpperCase() || atStart()
}

function startsLine(text: string, at: number): boolean {
  const line = text.slice(Math.max(0, at - 200), at)
  return !/[\p{L}\p{N}]/u.test(line.slice(Math.max(line.lastIndexOf('\n'), line.lastIndexOf('\r')) + 1))
}
