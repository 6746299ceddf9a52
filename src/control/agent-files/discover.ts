import { basename, dirname, join } from 'node:path'
import type { FileFault, Host, Workspace } from '../../host/index.js'
import type { FoundProfile } from '../profiles/found.js'
import { type AgentFolder, agentFolders, MAX_READ, markdownIn, openFolder, shownPath } from './folders.js'
import { slug } from './name.js'
import { type ParsedAgent, parseAgentFile } from './parse.js'
import type { AgentFileSurroundings, AgentPlaces } from './surroundings.js'

type Machine = Pick<Host, 'workspace'>
/** A file that was found. `real`: where it really is. */
type Found = { real: string; profile: FoundProfile }
type Parse = (file: Parameters<typeof parseAgentFile>[0]) => Promise<ParsedAgent>

/** What files came to when they were read before, with the same surroundings: one whose text is the same is not parsed again. */
export type KnownAgentFiles = Map<string, { text: string; parsed: ParsedAgent }>

const MAX_BYTES = 256 * 1024

/**
 * The agent files of a project and of a person. Later ones stand before earlier ones of their name; of two with one name
 * in one folder the first holds, and says so. What cannot be used is there with its fault, so that nothing else takes
 * its place.
 */
export async function discoverAgentFiles(
  host: Machine,
  places: AgentPlaces,
  surroundings: AgentFileSurroundings,
  known: KnownAgentFiles = new Map(),
): Promise<FoundProfile[]> {
  const parse: Parse = async (file) => {
    const key = `${file.scope} ${file.shown}`
    const before = known.get(key)
    if (before?.text === file.text) return before.parsed
    const parsed = await parseAgentFile(file, surroundings)
    known.set(key, { text: file.text, parsed })
    return parsed
  }
  const folders = await Promise.all(agentFolders(places).map((folder) => readFolder(host, folder, places, parse)))
  // The home folder can be the project, and one folder a link to another: what is there twice counts where it is stronger.
  const last = new Map(folders.flat().map(({ real, profile }) => [real, profile]))
  return folders.flatMap((files) => oneOfEachName(files.filter(({ real, profile }) => last.get(real) === profile)))
}

async function readFolder(host: Machine, folder: AgentFolder, places: AgentPlaces, parse: Parse): Promise<Found[]> {
  const opened = await openAgentFolder(host, folder)
  if (opened === null) return []
  const { ground, root, leads_out } = opened
  const { paths, more } = await markdownIn(root, leads_out ? 1 : undefined)
  const source = (path: string) => {
    const file = shownPath(join(folder.ground, folder.path, path), places)
    return { kind: 'file' as const, scope: folder.scope, file }
  }
  const unread = (path: string, fault: string): Found => ({
    real: join(root.root, path),
    profile: { name: nameOf(path), source: source(path), notes: [], kept: {}, profile: null, fault },
  })
  const found: Found[] = []
  for (const [i, path] of paths.entries()) {
    const { file } = source(path)
    if (i >= MAX_READ) {
      const and = more > 0 && i === paths.length - 1 ? `; ${more} more are not listed` : ''
      found.push(unread(path, `${file}:1: not read: a folder may have ${MAX_READ} agent files${and}`))
      continue
    }
    const read = await ground.readText(join(folder.path, path), { max_bytes: MAX_BYTES })
    if (!read.ok) {
      found.push(unread(path, `${file}:1: ${UNREADABLE[read.code] ?? read.message}`))
      continue
    }
    // A README beside agents is not meant to be one.
    if (!/^\uFEFF?---/.test(read.text) && IS_PROSE.test(basename(path))) continue
    const inside = folder.scope === 'project' ? dirname(join(folder.path, path)) : null
    const agent = { shown: file, base: basename(path), text: read.text, scope: folder.scope, folder: inside }
    const { name, notes, kept, profile, fault, disabled } = await parse(agent)
    if (disabled) continue
    const common = { name, source: source(path), notes, kept }
    const real = join(ground.root, read.path)
    if (profile === null) found.push({ real, profile: { ...common, profile, fault } })
    else {
      const lost = await lostPrompt(host, profile.system_prompt_file, places)
      const bad = lost === null ? null : `${file}:1: ${lost}`
      found.push({
        real,
        profile: bad === null ? { ...common, profile, fault: null } : { ...common, profile: null, fault: bad },
      })
    }
  }
  return found
}

const IS_PROSE = /^(?:readme|license|changelog|contributing|index|agents|claude|gemini)\.(?:md|markdown)$/i

const UNREADABLE: Partial<Record<FileFault, string>> = {
  outside_workspace: 'it is a link that leads out of the folder that it must be in, and is not followed: copy the file',
  too_large: `it is too large: at most ${MAX_BYTES / 1024} KB are read`,
  binary: 'it is not text in UTF-8',
}

/**
 * The folder, and the ground that its files must be on: a project's agents are its own files, not links to others. Of a
 * folder that leads out, the files are named and not read.
 */
async function openAgentFolder(
  host: Machine,
  { ground, path }: AgentFolder,
): Promise<{ ground: Workspace; root: Workspace; leads_out: boolean } | null> {
  const root = await openFolder(host, join(ground, path))
  if (root === null) return null
  const under = await openFolder(host, ground)
  return under && { ground: under, root, leads_out: !(await under.resolve(path)).ok }
}

/** Why the file with a prompt cannot be used, or null: whether it is there is seen when the prompt is made. */
async function lostPrompt(
  host: Machine,
  path: string | undefined,
  { project_dir }: AgentPlaces,
): Promise<string | null> {
  if (path === undefined) return null
  const resolved = await (await openFolder(host, project_dir))?.resolve(path)
  if (resolved?.ok !== false || resolved.code !== 'outside_workspace') return null
  return `system_prompt_file: ${JSON.stringify(path)} leads out of the project and is not read: copy the text into the project`
}

function oneOfEachName(files: readonly Found[]): FoundProfile[] {
  const first = new Map<string, FoundProfile>()
  for (const { profile } of files) {
    const other = first.get(profile.name)
    if (other === undefined) first.set(profile.name, { ...profile, notes: [...profile.notes] })
    else if (profile.source.kind === 'file') other.notes.push(`not used: ${profile.source.file} has the same name`)
  }
  return [...first.values()]
}

function nameOf(path: string): string {
  return slug(basename(path).replace(/\.[^.]*$/, ''))
}
