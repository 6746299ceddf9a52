const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Text from outside without what moves a cursor, turns the direction of reading or cannot be seen. */
export function printable(text: string): string {
  return text.replace(HIDDEN, '')
}
