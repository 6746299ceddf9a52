import { stripVTControlCharacters } from 'node:util'
import { ava, bun, deno, jest, mocha, nodeTest, tap, vitest } from './javascript.js'
import { cargo, dotnet, exunit, go, gradle, minitest, phpunit, pytest, rspec, surefire, unittest } from './others.js'
import type { Parser, TestSummary } from './summary.js'

/** The more particular first: TAP is what several of them look like too. */
const PARSERS: [string, Parser][] = [
  ['vitest', vitest],
  ['jest', jest],
  ['pytest', pytest],
  ['cargo', cargo],
  ['node', nodeTest],
  ['mocha', mocha],
  ['bun', bun],
  ['deno', deno],
  ['ava', ava],
  ['unittest', unittest],
  ['go', go],
  ['surefire', surefire],
  ['gradle', gradle],
  ['dotnet', dotnet],
  ['rspec', rspec],
  ['minitest', minitest],
  ['phpunit', phpunit],
  ['exunit', exunit],
  ['tap', tap],
]

/** Reads counts and failures from what a test runner printed; null where no format is known. */
export function parseTestOutput(output: string): TestSummary | null {
  const lines = stripVTControlCharacters(output).split(/\r?\n/)
  for (const [format, parser] of PARSERS) {
    const summary = parser(lines)
    if (summary) return { format, ...summary }
  }
  return null
}
