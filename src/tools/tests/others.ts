import { after, before, failuresAt, matching, type Parser, sum } from './summary.js'

/** For formats in which nothing but the next failure ends one. */
const NOTHING = /^(?!x)x/

export const pytest: Parser = (lines) => {
  const last = lines.findLast((line) => /^=* ?(?:\d+ \w+(?:, )?)+ in [\d.]+s(?: \([\d:]+\))? ?=*$/.test(line))
  const none = lines.findLast((line) => /^=* ?no tests ran in [\d.]+s/.test(line))
  if (last === undefined) return none === undefined ? null : { passed: 0, failed: 0, skipped: 0, failures: [] }
  const failed = before(last, 'failed') + before(last, 'errors?\\b')
  const skipped = before(last, 'skipped') + before(last, 'xfailed')
  const short = failuresAt(lines, /^(?:FAILED|ERROR) (.+?)(?: - .*)?$/, NOTHING).map(({ name }) => name)
  const long = failuresAt(lines, /^_{3,} (.+?) _{3,}$/, /^=|^(?:FAILED|ERROR) /)
  // The short names say where, the long ones why, and errors come before failures in one list and after in the other.
  const failures = (short.length > 0 ? short : long.map(({ name }) => name)).map((name) => {
    const same = long.find((one) => name.endsWith(one.name.replace(/^.* of /, '').replaceAll('.', '::')))
    return { name, detail: errorLines(same?.detail ?? []) }
  })
  return { passed: before(last, 'passed') + before(last, 'xpassed'), failed, skipped, failures }
}

/** pytest shows the source first; the lines marked with E are those that say what went wrong. */
function errorLines(detail: string[]): string[] {
  const marked = detail.filter((line) => /^[E>] /.test(line))
  return marked.length > 0 ? marked : detail
}

export const unittest: Parser = (lines) => {
  const ran = lines.findLast((line) => /^Ran \d+ tests? in [\d.]+s$/.test(line))
  if (ran === undefined) return null
  const end = lines.findLast((line) => /^(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?$/.test(line)) ?? ''
  const failed = after(end, '\\bfailures') + after(end, '\\berrors') + after(end, 'unexpected successes')
  const skipped = after(end, 'skipped') + after(end, 'expected failures')
  const failures = failuresAt(lines, /^(?:FAIL|ERROR): (.+)$/, /^(?:={10,}|Ran \d)/).map(({ name, detail }) => ({
    name,
    detail: detail.filter((line) => !/^-{10,}$/.test(line)),
  }))
  return {
    passed: before(ran, 'tests?') - failed - skipped,
    failed,
    skipped,
    failures,
  }
}

export const cargo: Parser = (lines) => {
  const results = matching(lines, /^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed/)
  if (results.length === 0) return null
  const counts = results.map((line) => ({
    passed: before(line, 'passed'),
    failed: before(line, 'failed'),
    skipped: before(line, 'ignored'),
  }))
  return { ...sum(counts), failures: failuresAt(lines, /^---- (.+) stdout ----$/, /^(?:failures:|test result:)/) }
}

export const go: Parser = (lines) => {
  const packages = matching(lines, /^(?:ok {2}|FAIL|---|\?)\s/)
  if (!lines.some((line) => /^(?:ok {2}\t|FAIL\t|\? {3}\t)\S+/.test(line))) return null
  const verbose = (word: string) => matching(lines, new RegExp(`^ *--- ${word}: `)).length
  const failures = failuresAt(lines, /^ *--- FAIL: (\S+)/, /^(?:=== |ok {2}|FAIL|PASS|\? | *--- )/)
  // A package that does not build has no tests to fail.
  const broken = matching(packages, /^FAIL\t\S+ \[(?:build|setup) failed\]/).map((line) => ({
    name: line.slice(5),
    detail: [],
  }))
  return {
    passed: verbose('PASS') || matching(lines, /^ok {2}\t/).length,
    failed: verbose('FAIL') + broken.length,
    skipped: verbose('SKIP'),
    failures: [...failures, ...broken],
  }
}

export const surefire: Parser = (lines) => {
  const all = matching(lines, /Tests run: \d+, Failures: \d+, Errors: \d+/)
  const totals = all.filter((line) => !line.includes('Time elapsed'))
  const results = (totals.length > 0 ? totals : all).map((line) => {
    const failed = after(line, 'Failures') + after(line, 'Errors')
    const skipped = after(line, 'Skipped')
    return { passed: after(line, 'Tests run') - failed - skipped, failed, skipped }
  })
  if (results.length === 0) return null
  const failures = failuresAt(lines, /^(?:\[ERROR\] +)([\w.$]+[.:#][\w$()[\]]+(?::\d+)?.*)$/, /^\[(?:INFO|WARNING)\]/)
  return { ...sum(results), failures: failures.filter(({ name }) => !/Tests run|<<<|Time elapsed/.test(name)) }
}

export const gradle: Parser = (lines) => {
  const results = matching(lines, /^\d+ tests? completed(?:, \d+ \w+)*$/)
  if (results.length === 0) return null
  const counts = results.map((line) => {
    const failed = before(line, 'failed')
    const skipped = before(line, 'skipped')
    return { passed: Number(/\d+/.exec(line)?.[0]) - failed - skipped, failed, skipped }
  })
  return {
    ...sum(counts),
    failures: failuresAt(lines, /^(.+ > .+) FAILED$/, /^(?:\d+ tests? completed|.+ > .+ (?:PASSED|SKIPPED)$)/),
  }
}

export const dotnet: Parser = (lines) => {
  const results = matching(lines, /(?:Passed|Failed|Skipped)! +- Failed: +\d+, Passed: +\d+/)
  const counts = results.map((line) => ({
    passed: after(line, 'Passed'),
    failed: after(line, 'Failed'),
    skipped: after(line, 'Skipped'),
  }))
  if (counts.length === 0) return null
  return {
    ...sum(counts),
    failures: failuresAt(lines, /^ {2}Failed (.+?) \[.+\]$/, /^(?: {2}(?:Passed|Skipped) |(?:Passed|Failed)! )/),
  }
}

export const rspec: Parser = (lines) => {
  const last = lines.findLast((line) => /^\d+ examples?, \d+ failures?/.test(line))
  if (last === undefined) return null
  const failed = before(last, 'failures?') + before(last, 'errors? occurred')
  const skipped = before(last, 'pending')
  const start = lines.indexOf('Failures:')
  const failures =
    start < 0 ? [] : failuresAt(lines.slice(start), /^ {2}\d+\) (.+)$/, /^(?:Finished in|Failed examples)/)
  return { passed: before(last, 'examples?') - before(last, 'failures?') - skipped, failed, skipped, failures }
}

export const minitest: Parser = (lines) => {
  const last = lines.findLast((line) => /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/.test(line))
  if (last === undefined) return null
  const failed = before(last, 'failures') + before(last, 'errors')
  const skipped = before(last, 'skips') + before(last, 'omissions')
  const failures = failuresAt(lines, /^ {2}\d+\) (?:Failure|Error):$|^(?:Failure|Error): (.+)$/, /^\d+ (?:runs|tests),/)
  return { passed: before(last, '(?:runs|tests)') - failed - skipped, failed, skipped, failures }
}

export const phpunit: Parser = (lines) => {
  const good = lines.findLast((line) => /^OK \(\d+ tests?, /.test(line))
  const mixed = lines.findLast((line) => /^Tests: \d+, Assertions: \d+/.test(line))
  if (good !== undefined) return { passed: before(good, 'tests?'), failed: 0, skipped: 0, failures: [] }
  if (mixed === undefined) return null
  const failed = after(mixed, 'Failures') + after(mixed, 'Errors')
  const skipped = after(mixed, 'Skipped') + after(mixed, 'Incomplete')
  const failures = failuresAt(lines, /^\d+\) (.+)$/, /^(?:FAILURES!|ERRORS!|--|Tests: )/)
  return { passed: after(mixed, 'Tests') - failed - skipped, failed, skipped, failures }
}

export const exunit: Parser = (lines) => {
  const last = lines.findLast((line) => /^(?:\d+ doctests?, )?\d+ tests?, \d+ failures?/.test(line))
  if (last === undefined) return null
  const failed = before(last, 'failures?')
  const skipped = before(last, 'skipped') + before(last, 'excluded')
  const all = before(last, 'tests?') + before(last, 'doctests?')
  const failures = failuresAt(lines, /^ {2}\d+\) (.+)$/, /^(?:Finished in|\.+$)/)
  return { passed: all - failed - skipped, failed, skipped, failures }
}
