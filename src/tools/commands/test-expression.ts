import type { CommandWord } from '../../domain/index.js'
import { type Reading, readWord, skipBlanks } from './reading.js'

/** Tests that look at files and texts. The others calculate (`-eq`) or evaluate names (`-v`), which can run commands. */
const PLAIN_TESTS = new Set(
  '-a -b -c -d -e -f -g -h -k -n -p -r -s -t -u -w -x -z -G -L -N -O -S -nt -ot -ef'.split(' '),
)
const COMPARES = new Set('-eq -ne -lt -le -gt -ge'.split(' '))

/** What stands in `[[ ... ]]`: only words and signs that make nothing run. */
export function readTest(reading: Reading, from: number, to: number): void {
  const { text, doubt } = reading
  const inner = /^\[\[\s[\s\S]*\s\]\]$/.test(text.slice(from, to))
  if (!inner) doubt('a [[ has an odd form')
  const end = to - 2
  let at = from + 2
  let regex = false
  while (at < end) {
    const next = skipBlanks(text, at)
    if (next > at || text[at] === '\n') {
      at = Math.max(next, at + 1)
      continue
    }
    const sign = /^(?:&&|\|\||[()<>!](?=\s))/.exec(text.slice(at, at + 2))?.[0]
    if (regex) {
      const raw = /^\S+/.exec(text.slice(at, end))?.[0] ?? ''
      if (!/^[\w^.*+?|[\]:/-]+\$?$/.test(raw)) doubt('a [[ has a pattern that is not plain')
      at += raw.length
      regex = false
    } else if (sign) at += sign.length
    else {
      const { raw, end: after } = readWord(reading, at)
      if (raw === '' || !/^\s$/.test(text[after] ?? '')) {
        doubt('a [[ has an odd form')
        return
      }
      if (/^-/.test(raw) && !PLAIN_TESTS.has(raw)) doubt(`a [[ has ${raw.slice(0, 10)}`)
      regex = raw === '=~'
      at = after
    }
  }
}

/** Whether `[` or `test` with these words only looks: its operators must be known, and none may evaluate a name. */
export function isPlainTest(words: readonly CommandWord[]): boolean {
  const operator = (word: CommandWord | undefined, known: (text: string) => boolean) =>
    typeof word === 'string' && known(word)
  const unary = (word: CommandWord | undefined) => operator(word, (text) => PLAIN_TESTS.has(text) && text.length === 2)
  const binary = (word: CommandWord | undefined) =>
    operator(word, (text) => /^(?:=|==|!=|-nt|-ot|-ef)$/.test(text) || COMPARES.has(text))
  if (words.some((word) => typeof word !== 'string' && word.many && word.option)) return false
  const [first, ...rest] = words
  if (first === '!' && words.length > 1) return isPlainTest(rest)
  if (words.length <= 1) return true
  if (words.length === 2) return unary(first)
  return words.length === 3 && binary(words[1])
}
