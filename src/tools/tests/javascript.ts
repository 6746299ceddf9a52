import { before, failuresAt, matching, type Parser, sum, type TestFailure } from './summary.js'

export const vitest: Parser = (lines) => {
  const tests = lines.findLast((line) => /^ *Tests {2}.*\(\d+\)$/.test(line))
  const files = lines.findLast((line) => /^ *Test Files {2}/.test(line))
  if (files === undefined) return null
  const counts = { passed: before(tests ?? '', 'passed'), failed: before(tests ?? '', 'failed') }
  const skipped = before(tests ?? '', 'skipped') + before(tests ?? '', 'todo')
  const failures = failuresAt(lines, /^ ?FAIL {1,2}(.+)$/, /^⎯|^ *(?:Test Files|Snapshots) {2}/)
  // A file that could not be loaded has no tests that could fail.
  const broken = Math.max(0, before(files, 'failed') > 0 && counts.failed === 0 ? before(files, 'failed') : 0)
  return { ...counts, failed: counts.failed + broken, skipped, failures }
}

export const jest: Parser = (lines) => {
  const tests = matching(lines, /^Tests: +.*\d+ total$/)
  const suites = lines.findLast((line) => /^Test Suites: .*\d+ total$/.test(line))
  if (tests.length === 0 || suites === undefined) return null
  const counts = sum(
    tests.map((line) => ({
      passed: before(line, 'passed'),
      failed: before(line, 'failed'),
      skipped: before(line, 'skipped') + before(line, 'todo'),
    })),
  )
  if (counts.failed === 0) counts.failed = before(suites, 'failed')
  return { ...counts, failures: failuresAt(lines, /^ {2}● (?!Console)(.+)$/, /^(?:Test Suites|PASS|FAIL|Summary of)/) }
}

export const mocha: Parser = (lines) => {
  const passing = lines.findLast((line) => /^ {2}\d+ passing \(/.test(line))
  if (passing === undefined) return null
  const count = (word: string) => before(lines.findLast((line) => line.endsWith(` ${word}`)) ?? '', word)
  const failures = mochaFailures(lines.slice(lines.lastIndexOf(passing)))
  return { passed: before(passing, 'passing'), failed: count('failing'), skipped: count('pending'), failures }
}

/** `1) suite`, the names below it one by line, the last with a colon, and then why. */
function mochaFailures(lines: readonly string[]): TestFailure[] {
  return failuresAt(lines, /^ {2}\d+\) (.+)$/, /^(?!x)x/).map(({ name, detail }) => {
    const last = detail.findIndex((line) => line.endsWith(':'))
    const names = [name, ...detail.slice(0, last + 1).map((line) => line.trim())]
    return { name: names.join(' ').replace(/:$/, ''), detail: detail.slice(last + 1) }
  })
}

/** Node's own runner, in its two ways of reporting. */
export const nodeTest: Parser = (lines) => {
  const value = (name: string) =>
    Number(lines.findLast((line) => line.match(new RegExp(`^[#ℹ] ${name} [\\d.]+$`)))?.split(' ')[2] ?? Number.NaN)
  const tests = value('tests')
  if (Number.isNaN(tests) || Number.isNaN(value('pass'))) return null
  const failed = value('fail') + (value('cancelled') || 0)
  const skipped = (value('skipped') || 0) + (value('todo') || 0)
  const start = lines.findIndex((line) => /^✖ failing tests:/.test(line))
  const failures =
    start >= 0
      ? failuresAt(lines.slice(start + 1), /^✖ (.+?)(?: \([\d.]+ms\))?$/, /^test at /)
      : failuresAt(lines, /^ *not ok \d+ - (?!.*# (?:SKIP|TODO))(.+)$/, /^ *(?:ok \d|\.\.\.$|# )/)
  return { passed: value('pass'), failed, skipped, failures }
}

export const bun: Parser = (lines) => {
  if (!lines.some((line) => /^Ran \d+ tests? across \d+ files?/.test(line))) return null
  const count = (word: string) =>
    before(lines.findLast((line) => new RegExp(`^ *\\d+ ${word}$`).test(line)) ?? '', word)
  // Why a test failed stands before its name.
  const failures = lines
    .map((line) => /^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?$/.exec(line)?.[1])
    .filter((name) => name !== undefined)
    .map((name) => ({ name, detail: [] }))
  return { passed: count('pass'), failed: count('fail'), skipped: count('skip') + count('todo'), failures }
}

export const deno: Parser = (lines) => {
  const last = lines.findLast((line) => /^(?:ok|FAILED) \| \d+ passed/.test(line))
  if (last === undefined) return null
  const failures = failuresAt(lines, /^(.+ => .+:\d+:\d+)$/, /^ ?(?:FAILURES|ERRORS|ok|FAILED)\b/)
  return { passed: before(last, 'passed'), failed: before(last, 'failed'), skipped: before(last, 'ignored'), failures }
}

/** Anything that speaks TAP: only the tests at the top level count. */
export const tap: Parser = (lines) => {
  if (!lines.some((line) => /^1\.\.\d+/.test(line))) return null
  const results = matching(lines, /^(?:not )?ok\b/)
  if (results.length === 0) return null
  const skipped = results.filter((line) => /# *(?:skip|todo)/i.test(line))
  const counted = results.filter((line) => !skipped.includes(line))
  const failures = failuresAt(
    lines,
    /^not ok \d* ?-? ?(?!.*# *(?:skip|todo))(.+)$/i,
    /^(?:ok\b|\d+\.\.|# (?:tests|pass|fail))/,
  )
  const failed = counted.filter((line) => line.startsWith('not')).length
  return { passed: counted.length - failed, failed, skipped: skipped.length, failures }
}

export const ava: Parser = (lines) => {
  const passed = lines.findLast((line) => /^ {2}\d+ tests? passed$/.test(line))
  const failed = lines.findLast((line) => /^ {2}\d+ tests? failed$/.test(line))
  if (passed === undefined && failed === undefined) return null
  const skipped = lines.findLast((line) => /^ {2}\d+ tests? skipped$/.test(line))
  const number = (line: string | undefined) => Number(/\d+/.exec(line ?? '')?.[0] ?? 0)
  const failures = failuresAt(lines, /^ {2}✘ \[fail\]: (.+?)(?: .*)?$/, /^ {2}(?:✔|─|\d+ tests?)/)
  return { passed: number(passed), failed: number(failed), skipped: number(skipped), failures }
}
