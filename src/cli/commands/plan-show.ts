import { type Retinue, RetinueError, type RunSummary } from '../../index.js'
import type { ContractFlags } from '../contract-flags.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { checkedLines } from '../plan/checked-lines.js'
import { unsound } from '../plan/faults.js'
import { planOptions } from '../plan/flags.js'
import { optionsFor } from '../plan/of-run.js'
import { isForLater, outcomeLines, standing } from '../plan/outcome-lines.js'
import { previewLines } from '../plan/preview-lines.js'
import { findPlan, namedRun } from '../plan/source.js'
import { line, type Paint, paintFor, printable } from '../style.js'

type PlanShowOptions = StoreOptions & ContractFlags & { report?: boolean; json?: boolean }

/** Of a file what it would come to, of a run what has become of its plan. */
export async function planShow(named: string, options: PlanShowOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const run = await namedRun(retinue, named)
    return run ? showRun(retinue, run, options) : showFile(retinue, named, options)
  })
}

async function showFile(retinue: Retinue, named: string, options: PlanShowOptions): Promise<number> {
  if (options.report) throw new RetinueError('input', `${named} is a file: the report is of a run of it`)
  const { name, text } = await findPlan(retinue, named)
  const checked = await retinue.checkPlan(text, planOptions(options))
  if (options.json) {
    process.stdout.write(`${JSON.stringify(checked)}\n`)
    return checked.ok ? EXIT.ok : EXIT.input
  }
  if (!checked.ok) throw new RetinueError('input', unsound(name, checked.faults))
  writeLines(previewLines(checked.preview, paintFor(process.stdout, process.env)))
  return EXIT.ok
}

async function showRun(retinue: Retinue, run: RunSummary, options: PlanShowOptions): Promise<number> {
  const { run_id } = run
  if (!run.plan) {
    throw new RetinueError('input', `Run ${run_id} is not about a plan. See it with: retinue show ${run_id}`)
  }
  const outcome = await retinue.planOutcome(run_id)
  if (options.json) {
    process.stdout.write(`${JSON.stringify(outcome)}\n`)
    return EXIT.ok
  }
  if (options.report) {
    const report = outcome.report.trimEnd()
    writeLines([process.stdout.isTTY ? printable(report) : report])
    return EXIT.ok
  }
  const paint = paintFor(process.stdout, process.env)
  const revision = outcome.revision > 1 ? ` · revision ${outcome.revision}` : ''
  writeLines([
    paint.bold(line(outcome.goal)),
    `${standing(outcome, run)} ${paint.dim(`· run ${run_id}${revision}`)}`,
    '',
    ...outcomeLines(outcome, run, paint),
    ...(isForLater(outcome, run) ? await whatNext(retinue, run, options, paint) : []),
    ...((await isAskedAbout(retinue, run)) ? await whatNext(retinue, run, options, paint, waits(run_id)) : []),
  ])
  return EXIT.ok
}

/** `then`: what can be done about it; absent: it can be carried out, or changed where it has faults. */
async function whatNext(
  retinue: Retinue,
  run: RunSummary,
  options: PlanShowOptions,
  paint: Paint,
  then?: string,
): Promise<string[]> {
  const { name, text } = await findPlan(retinue, run.run_id)
  const checked = await retinue.checkPlan(text, await optionsFor(retinue, run, options))
  const carry = checked.ok ? 'Carry it out with: retinue plan run' : 'Change it with: retinue plan edit'
  return ['', ...checkedLines(checked, name, paint), then ?? `${carry} ${run.run_id}`]
}

function waits(run_id: string): string {
  return `It waits for a yes: retinue answer ${run_id} --allow | --deny`
}

/** Whether it waits for a yes to the plan as a whole. */
async function isAskedAbout(retinue: Retinue, { run_id, status }: RunSummary): Promise<boolean> {
  const open = status === 'running' ? await retinue.questions(run_id) : []
  return open.some((question) => question.kind === 'approval' && question.step === null)
}

function writeLines(lines: readonly string[]): void {
  for (const text of lines) process.stdout.write(`${text}\n`)
}
