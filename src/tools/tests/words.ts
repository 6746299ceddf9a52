/** A command line of words that a shell takes for exactly these words. */
export function quoted(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", `'\\''`)}'`
}
