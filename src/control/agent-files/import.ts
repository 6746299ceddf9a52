import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Host, Workspace } from '../../host/index.js'
import { isWithin } from '../config/paths.js'
import type { FieldReport, Scope } from './draft.js'
import { agentFolders, isForeign, MAX_READ, markdownIn, openFolder, shownPath } from './folders.js'
import { nativeText } from './native.js'
import { type ParsedAgent, parseAgentFile } from './parse.js'
import type { AgentFileSurroundings, AgentPlaces } from './surroundings.js'

export type ImportOptions = {
  /** Files and folders; relative ones are from the project folder. None: the folders of other tools. */
  paths?: readonly string[]
  /** Those of the home folder too. */
  home?: boolean
  /** Where to, from the project folder. Default: `.retinue/agents`. */
  to?: string
  /** Nothing is written. */
  dry_run?: boolean
  /** What is there is replaced. */
  force?: boolean
}

/**
 * `written` and `replaced` are what would be, in a dry run. `unchanged`: just that is there already. `exists`: something
 * else is. `faulty`: it could not be used, or not be read or written. `turned_off`: it says so of itself.
 */
export type ImportState = 'written' | 'replaced' | 'unchanged' | 'exists' | 'same_name' | 'turned_off' | 'faulty'

export type ImportedAgent = {
  /** Both as a person writes them. */
  from: string
  to: string | null
  name: string
  state: ImportState
  message: string | null
  notes: string[]
  fields: FieldReport[]
}

/** `ok`: nothing was faulty, and nothing stood in the way. */
export type ImportReport = { ok: boolean; dry_run: boolean; agents: ImportedAgent[] }

const MAX_BYTES = 256 * 1024

/** Copies agents of other tools into files of ours, and says key by key what became of them. */
export async function importAgentFiles(
  host: Pick<Host, 'workspace'>,
  places: AgentPlaces,
  surroundings: AgentFileSurroundings,
  { paths = [], home = false, to = '.retinue/agents', dry_run = false, force = false }: ImportOptions,
): Promise<ImportReport> {
  const target = await openTarget(host, places, to)
  const sources = paths.length > 0 ? await given(host, places, paths) : await foreign(host, places, home)
  const agents: ImportedAgent[] = []
  const taken = new Map<string, string>()
  let room = MAX_READ - (await filesIn(host, target))
  for (const source of sources) {
    const done = await importOne(source, target, { places, surroundings, taken, room, dry_run, force })
    if (done.to !== null) taken.set(done.name, done.from)
    if (done.state === 'written') room--
    agents.push(done)
  }
  return { ok: agents.every(({ state }) => state !== 'faulty' && state !== 'exists'), dry_run, agents }
}

/** A file that was found, or why it was not. */
type Source = { file: string; text: string } | { file: string; message: string }
type Target = { ok: true; workspace: Workspace; folder: string } | { ok: false; message: string }
type Work = {
  places: AgentPlaces
  surroundings: AgentFileSurroundings
  taken: ReadonlyMap<string, string>
  /** How many more files the folder may have, for all of them to be read. */
  room: number
  dry_run: boolean
  force: boolean
}

async function importOne(source: Source, target: Target, work: Work): Promise<ImportedAgent> {
  const { places, surroundings, taken } = work
  const from = shownPath(source.file, places)
  const none = { from, to: null, name: basename(source.file), notes: [], fields: [] }
  if ('message' in source) return { ...none, state: 'faulty', message: `${from}: ${source.message}` }
  if (!target.ok) return { ...none, state: 'faulty', message: target.message }
  const folder = isWithin(places.project_dir, source.file) ? relative(places.project_dir, dirname(source.file)) : null
  const is_projects = isWithin(places.project_dir, join(target.workspace.root, target.folder))
  const file = { shown: from, base: basename(source.file), text: source.text, folder }
  const agent = await parseAgentFile({ ...file, scope: is_projects ? 'project' : 'home' }, surroundings)
  const { name, notes, fields } = agent
  const said = { from, to: null, name, notes, fields }
  if (agent.profile === null) return { ...said, state: 'faulty', message: agent.fault }
  if (agent.disabled) return { ...said, state: 'turned_off', message: 'it is turned off' }
  const earlier = taken.get(name)
  if (earlier !== undefined) return { ...said, state: 'same_name', message: `${earlier} has the same name` }
  const done = await write(target, agent as ParsedAgent & { profile: object }, work)
  const is_new = done.state === 'written' || done.state === 'replaced'
  const is_shared = is_new && is_projects && folder === null && isWithin(places.home, source.file)
  return { ...said, ...done, notes: is_shared ? [...notes, SHARED] : notes }
}

const SHARED =
  'it was in your home folder, and in the project git add takes it along: --to ~/.config/retinue/agents keeps it to yourself'

/** How many agent files are in the target already. */
async function filesIn(host: Pick<Host, 'workspace'>, target: Target): Promise<number> {
  const root = target.ok ? await openFolder(host, join(target.workspace.root, target.folder)) : null
  return root === null ? 0 : (await markdownIn(root)).paths.length
}

async function write(
  { workspace, folder }: Extract<Target, { ok: true }>,
  agent: Parameters<typeof nativeText>[0],
  { places, room, dry_run, force }: Work,
): Promise<Pick<ImportedAgent, 'to' | 'state' | 'message'>> {
  const path = join(folder, `${agent.name}.md`)
  const to = shownPath(join(workspace.root, path), places)
  const faulty = (message: string) => ({ to: null, state: 'faulty' as const, message })
  const text = await nativeText(agent)
  const there = await workspace.digest(path)
  if (!there.ok) return faulty(there.message)
  if (there.digest !== null) {
    const before = await workspace.readText(path, { max_bytes: MAX_BYTES })
    if (before.ok && before.text === text) return { to, state: 'unchanged', message: null }
    if (!force) return { to, state: 'exists', message: `${to} is there already: --force replaces it` }
  }
  if (there.digest === null && room <= 0) {
    return faulty(
      `${shownPath(join(workspace.root, folder), places)} has ${MAX_READ} agent files, and no more are read`,
    )
  }
  const state = there.digest === null ? 'written' : 'replaced'
  if (dry_run) return { to, state, message: null }
  const written = await workspace.writeText(path, text, { expect: there.digest })
  return written.ok ? { to, state, message: null } : faulty(written.message)
}

/** Below the project or the home folder, folders are made; elsewhere the folder must be there. */
async function openTarget(host: Pick<Host, 'workspace'>, places: AgentPlaces, to: string): Promise<Target> {
  const folder = at(to, places)
  const ground = [places.project_dir, places.home].find((one) => isWithin(one, folder)) ?? folder
  const workspace = await openFolder(host, ground)
  if (workspace === null) return { ok: false, message: `${folder} is no folder that can be written to: make it first` }
  return { ok: true, workspace, folder: relative(ground, folder) }
}

function at(path: string, { project_dir, home }: AgentPlaces): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1))
  return isAbsolute(path) ? path : resolve(project_dir, path)
}

/** The folders of other tools, those that stand before others first. */
async function foreign(host: Pick<Host, 'workspace'>, places: AgentPlaces, home: boolean): Promise<Source[]> {
  const of = (scope: Scope) => agentFolders(places).filter((folder) => folder.scope === scope && isForeign(folder))
  const sources: Source[] = []
  for (const { ground, path } of [...of('project').toReversed(), ...(home ? of('home').toReversed() : [])]) {
    sources.push(...(await inFolder(host, join(ground, path), ground)))
  }
  return sources
}

async function given(host: Pick<Host, 'workspace'>, places: AgentPlaces, paths: readonly string[]): Promise<Source[]> {
  const sources: Source[] = []
  for (const written of paths) {
    const path = at(written, places)
    if ((await openFolder(host, path)) !== null) sources.push(...(await inFolder(host, path, path)))
    else sources.push(await readOne(host, dirname(path), path))
  }
  return sources
}

async function inFolder(host: Pick<Host, 'workspace'>, folder: string, ground: string): Promise<Source[]> {
  const root = await openFolder(host, folder)
  if (root === null) return []
  const { paths } = await markdownIn(root)
  const sources = await Promise.all(paths.map((path) => readOne(host, ground, join(folder, path))))
  // A README beside agents is not meant to be one.
  return sources.filter((source) => 'message' in source || /^\uFEFF?---/.test(source.text))
}

async function readOne(host: Pick<Host, 'workspace'>, ground: string, file: string): Promise<Source> {
  const workspace = await openFolder(host, ground)
  if (workspace === null) return { file, message: 'there is no such file' }
  const read = await workspace.readText(relative(ground, file), { max_bytes: MAX_BYTES })
  return read.ok ? { file, text: read.text } : { file, message: read.message }
}
