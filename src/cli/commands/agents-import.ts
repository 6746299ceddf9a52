import { type ImportedAgent, type ImportReport, importAgents } from '../../index.js'
import { EXIT } from '../exit.js'
import { absolute } from '../open.js'
import { line, type Paint, paintFor, plural } from '../style.js'

export type ImportFlags = {
  cwd?: string
  home?: boolean
  to?: string
  dryRun?: boolean
  force?: boolean
  json?: boolean
}

/** Copies agents of other tools into our own files, and says of each key what became of it. */
export async function agentsImport(paths: readonly string[], flags: ImportFlags): Promise<number> {
  const { cwd = '.', home = false, to, dryRun: dry_run = false, force = false } = flags
  const options = {
    paths: paths.map(absolute),
    home,
    dry_run,
    force,
    ...(to === undefined ? {} : { to: absolute(to) }),
  }
  const report = await importAgents({ cwd: absolute(cwd), env: process.env, ...options })
  if (flags.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else for (const text of reportLines(report, paintFor(process.stdout, process.env))) process.stdout.write(`${text}\n`)
  return report.ok ? EXIT.ok : EXIT.failed
}

function reportLines({ agents, dry_run }: ImportReport, paint: Paint): string[] {
  if (agents.length === 0)
    return ['No agent files of other tools here. Name files or folders, or look at home with --home.']
  const written = agents.filter(({ state }) => state === 'written' || state === 'replaced').length
  const would = dry_run ? ' would be imported; nothing was written' : ' imported'
  return [...agents.flatMap((agent) => agentLines(agent, dry_run, paint)), `${plural(written, 'agent')}${would}`]
}

function agentLines(
  { from, to, state, message, notes, fields }: ImportedAgent,
  dry_run: boolean,
  { bold, red, dim, yellow }: Paint,
): string[] {
  const colour =
    state === 'faulty' ? red : state === 'exists' || state === 'same_name' ? yellow : (text: string) => text
  const head = `${bold(line(from))}${to === null ? '' : ` -> ${line(to)}`}  ${colour((dry_run ? DRY[state] : undefined) ?? STATES[state])}`
  const why = (message ?? '')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => `  ${colour(line(text))}`)
  if (state === 'faulty') return [head, ...why]
  const rows = fields.map(({ key, state: became, text }) => `  ${line(key)}: ${WORDS[became]}${line(text)}`)
  const said = fields.map(({ key, text }) => `${key}: ${text}`)
  const more = notes.filter((note) => !said.includes(note) && !note.startsWith('kept, '))
  return [head, ...why, ...rows, ...more.map((note) => `  ${dim(line(note))}`)]
}

const STATES: Record<ImportedAgent['state'], string> = {
  written: 'imported',
  replaced: 'imported, and replaced what was there',
  unchanged: 'is imported already',
  exists: 'not imported',
  same_name: 'not imported',
  turned_off: 'not imported',
  faulty: 'not imported',
}

const DRY: Partial<Record<ImportedAgent['state'], string>> = {
  written: 'would be imported',
  replaced: 'would be imported, and replace what is there',
}

const WORDS = { taken: '', kept: 'kept, ', left_out: '', refused: 'not imported: ' } as const
