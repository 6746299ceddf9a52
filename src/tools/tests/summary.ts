/** What a run of tests came to, as its output says. */
export type TestSummary = {
  /** Whose output it is. */
  format: string
  passed: number
  failed: number
  skipped: number
  failures: TestFailure[]
}

/** `detail`: the first lines that say why. */
export type TestFailure = { name: string; detail: string[] }

export type Counts = Pick<TestSummary, 'passed' | 'failed' | 'skipped'>

/** Knows one format: null where the output is of another. */
export type Parser = (lines: readonly string[]) => Omit<TestSummary, 'format'> | null

const DETAIL_LINES = 8
const MAX_FAILURES = 50

/** The number before a word, as in `3 passed`; 0 where it is not there. */
export function before(line: string, word: string): number {
  return Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
}

/** The number after a word, as in `Failures: 3` and `failures=3`; 0 where it is not there. */
export function after(line: string, word: string): number {
  return Number(new RegExp(`${word}[:=] *(\\d+)`).exec(line)?.[1] ?? 0)
}

export function matching(lines: readonly string[], pattern: RegExp): string[] {
  return lines.filter((line) => pattern.test(line))
}

export function sum(all: readonly Counts[]): Counts {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const counts of all) {
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
  }
  return total
}

/**
 * Failures that begin with a line that names them. The detail is what follows, up to the next one or to a line that
 * ends all of it. One that is named twice is taken once, with the longer detail.
 */
export function failuresAt(lines: readonly string[], begin: RegExp, end: RegExp): TestFailure[] {
  const found = new Map<string, string[]>()
  let detail: string[] | null = null
  for (const line of lines) {
    const name = begin
      .exec(line)
      ?.slice(1)
      .find((part) => part !== undefined)
      ?.trim()
    if (name !== undefined && name !== '') {
      if (!found.has(name) && found.size === MAX_FAILURES) break
      detail = []
      const known = found.get(name)
      if (known === undefined || known.length === 0) found.set(name, detail)
    } else if (end.test(line)) detail = null
    else if (detail && detail.length < DETAIL_LINES && line.trim() !== '') detail.push(line.trimEnd())
  }
  return [...found].map(([name, lines]) => ({ name, detail: lines }))
}
