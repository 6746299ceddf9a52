import { join } from 'node:path'
import type { FileFault, Host, Workspace } from '../../host/index.js'
import { parseSkill } from './parse.js'

export type Skill = {
  name: string
  description: string
  /** Absolute and real. */
  folder: string
  /** Absolute: its SKILL.md. */
  file: string
  from: 'project' | 'home'
  /** The files of the skill, and no others. */
  files: Workspace
}

/** `file` is absolute. A problem costs one skill, never the run. */
export type SkillProblem = { file: string; message: string }

export type SkillPlaces = {
  /** Absolute and real. */
  project_dir: string
  home: string
  /** The folder that holds `retinue/`: `~/.config` where nothing else is said. */
  config_home: string
}

const IN_PROJECT = ['.retinue/skills', '.agents/skills', '.claude/skills', '.opencode/skills']
const MAX_FOLDERS = 500
const MAX_BYTES = 256 * 1024

/** All skills that a project and a person have. Of two with one name, the one that is found first holds. */
export async function discoverSkills(
  host: Pick<Host, 'workspace'>,
  { project_dir, home, config_home }: SkillPlaces,
): Promise<{ skills: Skill[]; problems: SkillProblem[] }> {
  const problems: SkillProblem[] = []
  const found: Skill[] = []
  const project = await openFolder(host, project_dir)
  for (const path of IN_PROJECT) {
    if (project === null) break
    const folder = await insideProject(project, path, problems)
    if (folder !== null) found.push(...(await skillsIn(host, folder, 'project', problems)))
  }
  const ofHome = [join(config_home, 'retinue/skills'), join(home, '.agents/skills'), join(home, '.claude/skills')]
  for (const folder of ofHome) found.push(...(await skillsIn(host, folder, 'home', problems)))

  const skills = new Map<string, Skill>()
  for (const skill of found) {
    const first = skills.get(skill.name)
    // The home folder can be the project, and one folder of skills a link to another.
    if (first?.folder === skill.folder) continue
    if (first) problems.push({ file: skill.file, message: `not used: ${first.file} has the same name, ${skill.name}` })
    else skills.set(skill.name, skill)
  }
  return { skills: [...skills.values()], problems }
}

/** A project comes from anybody: its skills must be its own files, not links to a person's others. */
async function insideProject(project: Workspace, path: string, problems: SkillProblem[]): Promise<string | null> {
  const resolved = await project.resolve(path)
  if (resolved.ok) return join(project.root, resolved.path)
  problems.push({ file: join(project.root, path), message: 'it leads out of the project and is not read' })
  return null
}

async function skillsIn(
  host: Pick<Host, 'workspace'>,
  path: string,
  from: Skill['from'],
  problems: SkillProblem[],
): Promise<Skill[]> {
  const root = await openFolder(host, path)
  const listing = await root?.list('.')
  if (!root || !listing?.ok) return []
  const folders = listing.entries.filter(
    ({ kind, name }) => kind !== 'file' && kind !== 'other' && !name.startsWith('.'),
  )
  if (folders.length > MAX_FOLDERS) {
    problems.push({ file: path, message: `only the first ${MAX_FOLDERS} of ${folders.length} skills are read` })
  }
  const read = await Promise.all(folders.slice(0, MAX_FOLDERS).map(({ name }) => skillAt(host, root, name, from)))
  const found = read.filter((one) => one !== null)
  problems.push(...found.filter((one) => 'message' in one))
  return found.filter((one) => 'files' in one)
}

/** null for a folder that is not meant to be a skill: there is no SKILL.md in it. */
async function skillAt(
  host: Pick<Host, 'workspace'>,
  root: Workspace,
  name: string,
  from: Skill['from'],
): Promise<Skill | SkillProblem | null> {
  const file = join(root.root, name, 'SKILL.md')
  const read = await root.readText(`${name}/SKILL.md`, { max_bytes: MAX_BYTES })
  if (!read.ok) {
    const none = read.code === 'not_found' || read.code === 'not_a_directory'
    return none ? null : { file, message: UNREADABLE[read.code] ?? read.message }
  }
  const parsed = await parseSkill(file, read.text, name)
  if (!parsed.ok) return { file, message: parsed.message }
  const folder = await root.resolve(name)
  const files = folder.ok ? await openFolder(host, join(root.root, folder.path)) : null
  if (!files) return { file, message: 'its folder cannot be opened' }
  return { ...parsed.header, folder: files.root, file: join(files.root, 'SKILL.md'), from, files }
}

const UNREADABLE: Partial<Record<FileFault, string>> = {
  outside_workspace: 'it is a link that leads out of the folder of skills, and is not followed',
  too_large: `it is too large: at most ${MAX_BYTES / 1024} KB are read`,
}

/** null where there is no such folder, or it may not be read. */
async function openFolder(host: Pick<Host, 'workspace'>, path: string): Promise<Workspace | null> {
  try {
    return await host.workspace(path, { to_read: true })
  } catch {
    return null
  }
}
