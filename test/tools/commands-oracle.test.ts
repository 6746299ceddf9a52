// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are words of a shell, not templates
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CommandPart, CommandWord } from '../../src/domain/index.js'
import { parseCommand } from '../../src/tools/commands/parse.js'
import { fence } from '../attacks/commands/fenced.js'
import '../support/seed.js'

/**
 * Bash is the judge: whatever it runs must have been found, word by word, or the line must not have been understood.
 * The programs are stubs that write down how they were called.
 */

const LETTERS = ['a', 'b7', '-n', '--out=x', 'x=1', 'HEAD~1', 'a#b', '2']
const SPECIAL = [
  "'q r'",
  '"s t"',
  '""',
  "''",
  '\\ ',
  '\\;',
  "\\'",
  '\\"',
  '\\\\',
  "$'\\t'",
  "$'\\x41'",
  "$'i\\'j'",
  '$x',
  '"$x"',
  '${x}',
  '${#x}',
  '"${x:-d}"',
  '${x%n}',
  '{k,l}',
  '{1..2}',
  '{}',
  '@{1}',
  '~',
  '*',
  '?',
  '[z]',
  '#',
  '!',
  '$((1+2))',
  '\\\n',
  '$',
  '"\\$x"',
  "'$x'",
  '=',
  '%',
  ':',
  'if',
  'do',
  '}',
  '{',
]

/** Each gives `w` a value that arithmetic evaluates, or that is more than one word. */
const EVALUATED = "'a[$(p3 evaluated)]'"
const CHANGES = ['read w', "r''ead -r w", 'rea\\d w', 'command read w', "builtin 'read' w"]
  .map((read) => `${read} <<< ${EVALUATED}`)
  .concat(
    ['export', "ex''port", 'declare', 'typ\\eset', 'readonly', 'command declare'].flatMap((name) => [
      `${name} 'w=a[$(p3 evaluated)]'`,
      `${name} "w"='-n m'`,
      `${name} w=2`,
    ]),
    ['printf -v w %s -n', "printf '%s' a", 'printf %n w', "pri''ntf %3n w", 'printf -- "%5n" w', 'unset w', 'w=3'],
    ["f() { lo''cal 'w=a[$(p3 evaluated)]'; p1 $((w)); }; f", 'CI=1; export CI=2'],
  )
const USES = ['p0 $((w))', 'p1 $w', 'p2 "$w"', 'p0 $((w+1)) $w', '(( w )); p1', 'for ((i=w; i<2; i++)); do p2 $i; done']

const word = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...LETTERS) },
      { weight: 2, arbitrary: fc.constantFrom(...SPECIAL) },
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((pieces) => pieces.join(''))

const { line } = fc.letrec<{ line: string; command: string; argument: string }>((tie) => ({
  argument: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 12, arbitrary: word },
    { weight: 1, arbitrary: tie('line').map((inner) => `$(${inner})`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `"u $(${inner}) v"`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('`p1 w`', '"`p2`"', '<(p3 y)', '2>&1', '>/dev/null', '</dev/null', '<<<h'),
    },
  ),
  command: fc
    .tuple(
      fc.constantFrom('', '', '', 'CI=1 ', 'y=2 ', '! ', '>/dev/null ', 'command ', 'time '),
      fc.constantFrom('p0', 'p1', 'p2', 'p3', "p'0'", '\\p1', '"p2"', 'p$z', "$'p3'"),
      fc.array(tie('argument'), { maxLength: 4 }),
      fc.constantFrom(' ', '  ', '\t', ' \\\n'),
    )
    .map(([before, name, args, blank]) => before + [name, ...args].join(blank)),
  line: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: tie('command') },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          tie('line'),
          fc.constantFrom(';', ' ; ', '&&', '||', '|', ' |& ', '\n', ' & ', ' # c\n', ';;'),
          tie('line'),
        )
        .map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: tie('line').map((inner) => `( ${inner} )`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `{ ${inner}\n}`) },
    { weight: 1, arbitrary: fc.tuple(tie('line'), tie('line')).map(([a, b]) => `if ${a}\nthen ${b}\nelse p3\nfi`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `for v in a 'b c'; do ${inner}\np0 $v\ndone`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `case a in b) p1;; a) ${inner}\n;; esac`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `p0 <<E\n$(${inner})\nE`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `p1 <<'E'\n${inner}\nE`) },
    { weight: 1, arbitrary: tie('line').map((inner) => `f() { ${inner}\n}; f`) },
    // Builtins that change variables, and arithmetic that would evaluate what they were given.
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...CHANGES), fc.constantFrom(...USES), tie('line'))
        .map(([change, use, inner]) => `w=1; ${change}; ${use}; ${inner}`),
    },
    { weight: 1, arbitrary: tie('line').map((inner) => `[[ -n a && b == b* ]] && ${inner}`) },
  ),
})) as unknown as { line: fc.Arbitrary<string> }

/** Lines with something put in, left out or doubled, where parsers and shells may part. */
const SIGNS = [
  "'",
  '"',
  '\\',
  '`',
  '$',
  '(',
  ')',
  '{',
  '}',
  ';',
  '&',
  '|',
  '<',
  '>',
  '#',
  '\n',
  ' ',
  '!',
  '=',
  '[',
  ']',
  '*',
  '~',
  '$(',
  '((',
  '<<',
  '<<<',
  '\\\n',
  "$'",
  ';;',
  'p0',
  'do',
  'E',
]
const mutated = fc
  .tuple(line, fc.array(fc.tuple(fc.nat(), fc.constantFrom('', ...SIGNS), fc.nat(2)), { minLength: 1, maxLength: 3 }))
  .map(([text, changes]) =>
    changes.reduce((now, [place, sign, removed]) => {
      const at = place % (now.length + 1)
      return now.slice(0, at) + sign + now.slice(at + removed)
    }, text),
  )

// One call is one write, so that calls side by side do not run into each other.
const STUB = `#!/bin/bash
printf '%s\\x1f' "\${0##*/}" "$@" $'\\x1e' >> "$LOG"
`
const DRIVER = `for f in line.*; do
  IFS= read -r -d '' text < "$f"
  LOG="$PWD/log.\${f#line.}" timeout 10 bash -c "$text" >/dev/null 2>&1 </dev/null
done`

const FULL = process.env.RETINUE_FULL !== undefined
const BATCH = 150

it('bash runs nothing that was not found', { timeout: 900_000 }, async ({ onTestFinished }) => {
  const base = mkdtempSync(join(tmpdir(), 'retinue-oracle-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const stubs = join(base, 'stubs')
  mkdirSync(stubs)
  for (const name of ['p0', 'p1', 'p2', 'p3']) {
    writeFileSync(join(stubs, name), STUB)
    chmodSync(join(stubs, name), 0o755)
  }
  const fenced = fence(base, { PATH: `${stubs}:${process.env.PATH}`, x: 'm n', z: '1', HOME: base, LANG: 'C.UTF-8' })
  let understood = 0
  let ran = 0
  let seen = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(line, mutated), { minLength: BATCH, maxLength: BATCH }), async (lines) => {
      const folder = mkdtempSync(join(base, 'batch-'))
      if (fenced.owner !== null) chmodSync(folder, 0o777)
      for (const [i, text] of lines.entries()) writeFileSync(join(folder, `line.${i}`), text)
      await fenced.run(DRIVER, folder)
      const logs = new Set(readdirSync(folder))
      const missed: unknown[] = []
      for (const [i, text] of lines.entries()) {
        seen++
        const parsed = await parseCommand(text)
        if (!parsed.ok) continue
        understood++
        const calls = logs.has(`log.${i}`) ? callsIn(readFileSync(join(folder, `log.${i}`), 'utf8')) : []
        ran += calls.length
        const commands = parsed.parts.filter((part) => part.kind === 'command')
        const unseen = calls.filter((argv) => !commands.some((part) => couldBe(part, argv)))
        if (unseen.length > 0) missed.push({ text, unseen, found: commands.map((part) => part.words) })
      }
      rmSync(folder, { recursive: true, force: true })
      expect(missed).toEqual([])
    }),
    { numRuns: FULL ? 40 : 4, endOnFailure: true },
  )
  console.log(`oracle: ${seen} lines, ${understood} understood, ${ran} commands ran, all of them found`)
  // A parser that understands nothing would pass too.
  expect(understood).toBeGreaterThan(seen / 10)
  expect(ran).toBeGreaterThan(understood / 4)
})

function callsIn(log: string): string[][] {
  return log
    .split('\x1e\x1f')
    .slice(0, -1)
    .map((call) => call.split('\x1f').slice(0, -1))
}

function couldBe(part: Extract<CommandPart, { kind: 'command' }>, argv: readonly string[]): boolean {
  const match = (words: readonly CommandWord[], rest: readonly string[]): boolean => {
    const [first, ...more] = words
    if (first === undefined) return rest.length === 0
    if (typeof first === 'string') return rest[0] === first && match(more, rest.slice(1))
    const single = rest[0]?.startsWith(first.starts) === true && (first.option || !/^-[^\d]/.test(rest[0]))
    if (!first.many) return single && match(more, rest.slice(1))
    return Array.from({ length: rest.length + 1 }, (_, n) => n).some(
      (n) => (n === 0 || single) && match(more, rest.slice(n)),
    )
  }
  return match(part.words, argv)
}
