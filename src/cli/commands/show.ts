import {
  agentIds,
  type Dossier,
  keptWorkInWords,
  type Landing,
  openDossier,
  openQuestions,
  type Retinue,
  type RunSummary,
  type StoredEvent,
} from '../../index.js'
import { missingFor } from '../attendance.js'
import { refusalInWords } from '../detach.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { outcomeOf } from '../plan/ending.js'
import { outcomeLines, standing } from '../plan/outcome-lines.js'
import { runWord, WAITS_FOR_YOU } from '../run-words.js'
import { agentHead, agentTail } from '../show/agent.js'
import { landingLines, landingOf, type Remains } from '../show/landing.js'
import { contracts, runHead } from '../show/run.js'
import { timeline } from '../show/timeline.js'
import { treeLines } from '../show/tree.js'
import { unknownAgent } from '../show/unknown.js'
import { standsInWords } from '../stands.js'
import { line, type Paint, paintFor, printable } from '../style.js'

type ShowOptions = StoreOptions & { full?: boolean; json?: boolean; report?: boolean }

export async function show(id: string, agent: string | undefined, options: ShowOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const run = await retinue.find(id)
    const events = await retinue.events(run.run_id)
    const dossier = agent === undefined ? null : openDossier(events, agent)
    if (agent !== undefined && !dossier) throw unknownAgent(run.run_id, agent, agentIds(events))
    if (options.report) {
      const whose = agent ?? `run ${run.run_id}`
      return writeReport(dossier ?? openDossier(events, events[0]?.agent_id ?? ''), whose, options.json === true)
    }
    if (options.json) {
      for (const event of dossier?.events ?? events) process.stdout.write(`${JSON.stringify(event)}\n`)
      return 0
    }
    const paint = paintFor(process.stdout, process.env)
    const full = options.full === true
    const lines = dossier ? agentLines(run, dossier, paint, full) : await runLines(retinue, run, events, paint, full)
    lines.forEach(write)
    if (run.status === 'interrupted') write(paint.yellow(`\n${standsInWords(run)}`))
    return 0
  })
}

/** What there is to see of a run. */
export async function runLines(
  retinue: Retinue,
  run: RunSummary,
  events: StoredEvent[],
  paint: Paint,
  full: boolean,
): Promise<string[]> {
  const asks = run.status === 'running' ? openQuestions(events).length : 0
  const word = await runWord(retinue, { ...run, asks })
  const landing = landingOf(events)
  const tree = treeLines(events, { now: Date.now(), interrupted: run.status === 'interrupted' }, paint)
  return [
    ...runHead(run, word, paint),
    ...(word === WAITS_FOR_YOU ? [paint.yellow(`It asks something: retinue answer ${run.run_id}`)] : []),
    ...(landing ? landingLines(landing, run.run_id, await remains(retinue, run.run_id, landing)) : []),
    ...(await missingLines(retinue, run, paint)),
    ...(await refusalLines(retinue, run.run_id)),
    ...(await keptLines(retinue, run)),
    ...(await planLines(retinue, run, paint)),
    ...(tree.length > 0 ? ['', ...tree, ''] : []),
    ...contracts(run.run_id, await retinue.agents(run.run_id), paint),
    '',
    ...timeline(events, run.created_at, paint, full),
    ...(run.text ? [`\n${printable(run.text)}`] : []),
  ]
}

/** What it waits for, where those who could work on it are not there. */
async function missingLines(retinue: Retinue, { run_id }: RunSummary, { yellow }: Paint): Promise<string[]> {
  const missing = await missingFor(retinue, run_id)
  return missing === null ? [] : [yellow(missing)]
}

async function refusalLines(retinue: Retinue, run_id: string): Promise<string[]> {
  return (await retinue.refusals(run_id)).map((refusal) => line(refusalInWords(refusal)))
}

/** How far the plan has come, where the run is about one. */
async function planLines(retinue: Retinue, run: RunSummary, paint: Paint): Promise<string[]> {
  const outcome = run.plan ? await outcomeOf(retinue, run.run_id) : null
  if (!outcome) return []
  return ['', `plan ${standing(outcome, run)}`, ...outcomeLines(outcome, run, paint)]
}

/** The log says how the run ended; whether somebody has applied or discarded it since is in the folder. */
async function remains(retinue: Retinue, run_id: string, { state, left_out = [] }: Landing): Promise<Remains> {
  if (state === 'landed' && left_out.length === 0) return { branch: false, folder: false }
  const trees = await retinue.worktrees().catch(() => null)
  if (trees === null) return { branch: true, folder: true }
  const tree = trees.find((one) => one.run_id === run_id && one.agent_id === 'root')
  const branch = tree?.has_branch === true || (await retinue.canBring(run_id).catch(() => true))
  return { branch, folder: tree !== undefined && tree.path !== null }
}

/** Work of sub-agents that is still in their own trees alone. */
async function keptLines(retinue: Retinue, { run_id }: RunSummary): Promise<string[]> {
  const result = await retinue.result(run_id)
  if (!result?.kept_work) return []
  const trees = await retinue.worktrees().catch(() => null)
  const isThere = async (id: string) =>
    trees?.some((one) => one.run_id === run_id && one.agent_id === id && one.has_branch) ||
    (await retinue.canBring(run_id, id).catch(() => true))
  const there = await Promise.all(result.kept_work.map(async ({ agent_id }) => trees === null || isThere(agent_id)))
  const kept_work = result.kept_work.filter((_, i) => there[i])
  return keptWorkInWords({ ...result, kept_work }, run_id).map((text) => line(text))
}

/** And of one of its agents. */
export function agentLines(run: RunSummary, dossier: Dossier, paint: Paint, full: boolean): string[] {
  const tail = agentTail(dossier, run.run_id, paint)
  return [
    ...agentHead(dossier, run, paint),
    ...timeline(dossier.events, run.created_at, paint, full),
    ...(tail.length > 0 ? ['', ...tail] : []),
  ]
}

/** As it is where a program reads it; made safe where a terminal shows it. */
function writeReport(dossier: Dossier | null, whose: string, json: boolean): number {
  const result = dossier?.result
  if (!dossier || !result || result.text.trim() === '') {
    const why = result ? `it ended (${result.outcome}) and reported nothing` : 'it has not ended'
    process.stderr.write(`retinue: there is no report of ${whose}: ${why}\n`)
    return EXIT.failed
  }
  const { outcome, text, files_read, files_changed } = result
  if (json) write(JSON.stringify({ agent_id: dossier.id, outcome, text, files_read, files_changed }))
  else write(process.stdout.isTTY ? printable(text) : text)
  return EXIT.ok
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}
