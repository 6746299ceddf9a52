import { z } from 'zod'
import { countInWords } from '../domain/index.js'
import type { CommandResult } from '../host/index.js'
import { commandTimeout, firstLine } from './run_command.js'
import { configuredTests, detectTests, type TestCommand, type TestsContext } from './tests/detect.js'
import { parseTestOutput } from './tests/parse.js'
import { RUNNERS } from './tests/runners.js'
import type { TestFailure, TestSummary } from './tests/summary.js'
import { quoted } from './tests/words.js'
import { cutLine, oneLine, seconds, tail } from './text.js'
import { defineTool, type Tool } from './tool.js'

export type RunTestsSettings = {
  /** Instead of the command that would be found. */
  command: string | null
}

const MAX_FAILURES = 20
const TAIL_CHARS = 6000
/** Runners that colour, count in place or watch files are told not to. */
const ENVIRONMENT = { CI: '1', NO_COLOR: '1', FORCE_COLOR: '0' }

export function runTests(settings: RunTestsSettings): Tool {
  return defineTool({
    name: 'run_tests',
    effect: 'execute',
    repeatable: false,
    description: (limits) =>
      "Runs the project's own tests, all or some, in the same sandbox as run_command. Answers how many passed and " +
      `failed, and what failed and why. Timeout ${seconds(limits.command_max_timeout_ms)}.`,
    parameters: z.strictObject({
      filter: z.string().min(1).max(500).optional().describe('only tests with this in their name'),
      path: z.string().min(1).optional().describe('only this file or folder'),
      timeout_ms: z.int().min(1000).optional(),
    }),
    async plan(args, context) {
      const tests = await findTests(settings, context)
      if (!tests) return { ok: false, message: NO_COMMAND }
      const resolved = args.path === undefined ? null : await context.workspace.resolve(args.path)
      if (resolved && !resolved.ok) return { ok: false, message: `path: ${resolved.message}` }
      const selected = select(tests, args.filter ?? null, resolved?.path ?? null)
      if (!selected.ok) return selected
      const { command } = selected
      const paths = resolved ? [{ path: resolved.path, access: 'read' as const }] : []
      return { ok: true, plan: { summary: `run tests: ${oneLine(command, 500)}`, paths, command, detail: command } }
    },
    async execute(args, context, plan) {
      const { limits, workspace, processes, signal } = context
      const timeout_ms = commandTimeout(args.timeout_ms ?? limits.command_max_timeout_ms, context)
      const command = plan.command as string
      const result = await processes.run({
        command,
        cwd: workspace.root,
        ...(context.fence ? { fence: context.fence } : {}),
        env: ENVIRONMENT,
        timeout_ms,
        signal,
        max_output_bytes: limits.command_output_bytes,
        onOutput: context.onProgress,
      })
      const summary = parseTestOutput(result.output)
      const ok = result.status === 'exited' && result.exit_code === 0
      const ended = firstLine(result, timeout_ms, limits)
      return {
        ok,
        content: [verdict(result, summary, ok, ended), `command: ${command}`, ...body(result, summary, ok)].join('\n'),
      }
    },
  })
}

const NO_COMMAND =
  'no test command was found in the top folder of the workspace; use run_command, or tests.command in the configuration'

/** How the tests of a project are run; null when that is not known. `known`: its files, where they are known already. */
export async function findTests(
  settings: RunTestsSettings,
  context: TestsContext,
  known?: readonly string[],
): Promise<TestCommand | null> {
  return settings.command === null ? detectTests(context, known) : configuredTests(settings.command)
}

function select(
  tests: TestCommand,
  filter: string | null,
  path: string | null,
): { ok: true; command: string } | { ok: false; message: string } {
  const all = path === null || path === '.'
  if (filter === null && all) return { ok: true, command: tests.all }
  if (/^-|\p{Cc}/u.test(filter ?? '')) {
    return { ok: false, message: 'filter: it must not begin with - or have control characters in it' }
  }
  if (!tests.some) {
    const message = `how to run only some tests with ${tests.all} is not known; leave filter and path out, or use run_command`
    return { ok: false, message }
  }
  // A name that looks like an option would be taken for one.
  const safe = path === null || all ? null : path.startsWith('-') ? `./${path}` : path
  const words = RUNNERS[tests.some.runner]({ filter, path: safe })
  if (typeof words === 'string') return { ok: false, message: `${tests.some.runner}: ${words}` }
  return { ok: true, command: `${tests.some.words} ${quoted(words)}` }
}

/** The exit code decides; what was read from the output is only told. */
function verdict(result: CommandResult, summary: TestSummary | null, ok: boolean, ended: string): string {
  const time = `in ${seconds(result.duration_ms)}`
  const how = ok ? 'passed' : `failed (${ended})`
  if (!summary) return `${how} ${time}; the result could not be parsed${ok ? ` (${ended})` : ''}`
  const { passed, failed, skipped } = summary
  const line = `${how}: ${countInWords(passed)} passed, ${countInWords(failed)} failed, ${countInWords(skipped)} skipped ${time}`
  if (!ok && failed === 0) return `${line}; no test is said to have failed, the command did`
  return ok && failed > 0 ? `${line}; the exit code is 0 all the same` : line
}

function body(result: CommandResult, summary: TestSummary | null, ok: boolean): string[] {
  if (ok && summary) return []
  const failures = summary?.failures ?? []
  const more = failures.length - MAX_FAILURES
  const output = tail(result.output.trimEnd(), TAIL_CHARS)
  const cut =
    output.length < result.output.trimEnd().length
      ? `the last ${countInWords(TAIL_CHARS)} characters of the output`
      : 'output'
  return [
    ...failures.slice(0, MAX_FAILURES).flatMap(failureLines),
    ...(more > 0 ? [`[and ${countInWords(more)} more]`] : []),
    ...(output === '' ? ['', 'no output'] : ['', `${cut}:`, output]),
  ]
}

function failureLines({ name, detail }: TestFailure): string[] {
  return ['', `failed: ${oneLine(name, 300)}`, ...detail.map((line) => `  ${cutLine(line, 300)}`)]
}
