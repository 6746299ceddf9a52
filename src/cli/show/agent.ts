import {
  type AgentResult,
  type Dossier,
  endWords,
  type RunSummary,
  receiptInWords,
  resultFigures,
} from '../../index.js'
import { duration, line, type Paint, printable } from '../style.js'
import { card, labelled } from './card.js'
import { landingLines } from './landing.js'

/** Who it is and what it came to, under which contract. */
export function agentHead(dossier: Dossier, run: RunSummary, paint: Paint): string[] {
  const { id, title, result, close_reason } = dossier
  const { bold, dim } = paint
  const open = run.status === 'interrupted' ? 'interrupted' : 'not ended yet'
  const ended = result === null ? open : endWords(result, dossier.final_status)
  const why = result?.reason || close_reason
  return [
    bold(`${id}: ${line(title)}`),
    `${ended}${why ? `: ${line(why)}` : ''} ${dim(`· run ${run.run_id}`)}`,
    ...(result ? [dim(resultFigures(result))] : []),
    '',
    ...card(dossier, paint),
    '',
  ]
}

/** How its worktree was made ready, what its gates said, what became of its work, and the whole of what it reports. */
export function agentTail({ setups, gates, result }: Dossier, run_id: string, paint: Paint): string[] {
  const { bold, dim } = paint
  const lines = [
    ...setups.flatMap((setup) => checkLines('setup', setup.command, setup, paint)),
    ...gates.flatMap((gate) => {
      const what = `${gate.kind} check${gate.after_merge ? ' after the merge' : ''}`
      return checkLines(what, gate.what, gate, paint)
    }),
    ...workLines(result, run_id, paint),
  ]
  if (!result) return lines
  const report = result.text.trim() === '' ? dim('It reports nothing.') : printable(result.text.trimEnd())
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    bold('Report'),
    report,
    ...fileLines('read', result.files_read, paint),
    ...fileLines('changed', result.files_changed, paint),
  ]
}

/** What code can hold it to, whatever it reports. */
function workLines(result: AgentResult | null, run_id: string, paint: Paint): string[] {
  const { receipt, landing } = result ?? {}
  return [
    ...(receipt ? receiptInWords(receipt).flatMap(([label, text]) => labelled(label, text, paint)) : []),
    ...(landing ? landingLines(landing, run_id) : []),
  ]
}

type Checked = { passed: boolean; detail: string; duration_ms: number }

function checkLines(
  what: string,
  which: string,
  { passed, detail, duration_ms }: Checked,
  { green, red, dim }: Paint,
): string[] {
  const said = printable(detail.trimEnd())
  return [
    `${passed ? green('✓') : red('✗')} ${what} ${passed ? 'passed' : 'failed'}: ${line(which)} ${dim(duration(duration_ms))}`,
    ...(said === '' ? [] : said.split('\n').map((text) => dim(`    ${text}`))),
  ]
}

function fileLines(what: string, files: readonly string[], { dim }: Paint): string[] {
  return files.length > 0 ? [dim(`${what}: ${line(files.join(', '))}`)] : []
}
