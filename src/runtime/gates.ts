import { type Check, type EventData, matchesAny, type Redactor } from '../domain/index.js'
import type { CommandResult, Workspace } from '../host/index.js'
import { boundOutput, createSchemaCompiler } from '../tools/index.js'
import { jsonIn } from './json-answer.js'

/** How a gate's command is run; `refused` where it may not be run here and now. */
export type RunGate = (command: string) => Promise<CommandResult | { refused: string }>

export type Gate = Pick<EventData<'agent.gate_checked'>, 'gate' | 'kind' | 'what'>

type Checked = { passed: boolean; detail: string; whole: string | null }

/** The check was stopped: nobody knows what it would have found. */
const STOPPED = 'stopped'

/** Of what came out of a gate, so much goes into the event; the whole is kept beside it. */
const DETAIL_CHARS = 2000

export function gateOf(check: Check, gate: number): Gate {
  if (check.kind === 'command') return { gate, kind: 'command', what: check.command }
  if (check.kind === 'paths') return { gate, kind: 'paths', what: pathsInWords(check) }
  return { gate, kind: 'schema', what: 'the answer fits the JSON schema that was asked for' }
}

/** Whether it may find something else where the work is merged with that of others. */
export function looksAtFiles({ kind }: Check): boolean {
  return kind !== 'schema'
}

/** What a gate looks at: the answer, what was changed, and the files as they are. */
type Output = { text: string; changed: readonly string[]; workspace: Workspace }

/** What code finds about the output of a sub-agent. It may be made again after a crash: gates only look. */
export async function checkGate(
  check: Check,
  output: Output,
  run: RunGate,
  redactor: Redactor,
): Promise<Checked | typeof STOPPED> {
  if (check.kind === 'schema') return checkSchema(check.schema, output.text)
  if (check.kind === 'paths') return checkPaths(check, output)
  const result = await run(check.command)
  if ('refused' in result) return { passed: false, detail: `not run: ${result.refused}`, whole: null }
  if (result.status === 'aborted') return STOPPED
  const passed = result.status === 'exited' && result.exit_code === 0
  const first = result.status === 'exited' ? `exit code ${result.exit_code}` : (result.message ?? result.status)
  // Before it is cut: half a secret would not be found.
  const whole = redactor.redact(`${first}\n${result.output.trimEnd()}`.trimEnd())
  const { content, cut } = boundOutput(whole, { max_chars: DETAIL_CHARS, call_id: check.command })
  return { passed, detail: content, whole: cut ? whole : null }
}

async function checkSchema(schema: Record<string, unknown>, text: string): Promise<Checked> {
  const fault = (detail: string) => ({ passed: false, detail, whole: null })
  const compiled = (await createSchemaCompiler())(schema)
  if (!compiled.ok) return fault(compiled.message)
  const found = jsonIn(text)
  if (found === undefined) return fault('the answer is no JSON, neither as a whole nor in a fenced block at its end')
  const errors = compiled.check(found)
  if (errors === null) return fault('the schema takes too long to check')
  if (errors.length === 0) return { passed: true, detail: 'it does', whole: null }
  return fault(errors.map(({ instancePath, message }) => `${instancePath || 'the answer'} ${message}`).join('; '))
}

type PathsCheck = Extract<Check, { kind: 'paths' }>

function pathsInWords({ exist = [], unchanged = [], unmarked = [] }: PathsCheck): string {
  const there = exist.length > 0 ? [`there is ${exist.join(', ')}`] : []
  const same = unchanged.length > 0 ? [`${unchanged.join(', ')} is unchanged`] : []
  const resolved = unmarked.length > 0 ? [`no conflict is marked in ${unmarked.join(', ')}`] : []
  return [...there, ...same, ...resolved].join(' and ')
}

async function checkPaths(
  { exist = [], unchanged = [], unmarked = [] }: PathsCheck,
  { changed, workspace }: Output,
): Promise<Checked> {
  const found = await Promise.all(exist.map((glob) => exists(workspace, glob)))
  const missing = exist.filter((_, i) => !found[i])
  const touched = changed.filter((path) => matchesAny(unchanged, path))
  const marks = await Promise.all(unmarked.map((path) => hasMarks(workspace, path)))
  const marked = unmarked.filter((_, i) => marks[i])
  const faults = [
    ...(missing.length > 0 ? [`not there: ${missing.join(', ')}`] : []),
    ...(touched.length > 0 ? [`changed: ${touched.join(', ')}`] : []),
    ...(marked.length > 0 ? [`a conflict is marked in ${marked.join(', ')}`] : []),
  ]
  return { passed: faults.length === 0, detail: faults.join('; ') || 'they are', whole: null }
}

async function exists(workspace: Workspace, glob: string): Promise<boolean> {
  if (/[*?{]/.test(glob)) {
    const found = await workspace.find(glob.includes('/') ? glob : `./${glob}`, { limit: 1 })
    return found.ok && found.paths.length > 0
  }
  const file = await workspace.digest(glob)
  return file.ok ? file.digest !== null : file.code === 'not_a_file'
}

/** One that is gone, or no text, has none. */
async function hasMarks(workspace: Workspace, path: string): Promise<boolean> {
  const file = await workspace.readText(path)
  return file.ok && /^(?:<{7}|>{7}) /m.test(file.text)
}
