import { join } from 'node:path'
import type { Entry, Host, Workspace } from '../../host/index.js'
import type { Scope } from './draft.js'
import type { AgentPlaces } from './surroundings.js'

/** Folders of agent files, relative to a project or a home folder. Later ones stand before earlier ones. */
const FOREIGN = ['.gemini/agents', '.opencode/agent', '.opencode/agents', '.claude/agents']
const OURS = ['.agents/agents', '.retinue/agents']

/** A folder of agent files. `ground`: what its files must really be in. */
export type AgentFolder = { scope: Scope; ground: string; path: string }

/** In the order in which those come that stand before others. */
export function agentFolders({ project_dir, home, config_home }: AgentPlaces): AgentFolder[] {
  const inProject = (path: string): AgentFolder => ({ scope: 'project', ground: project_dir, path })
  const inHome = (path: string): AgentFolder => ({ scope: 'home', ground: home, path })
  const inConfig = (path: string): AgentFolder => ({ scope: 'home', ground: config_home, path })
  return [
    ...[...FOREIGN, ...OURS].map(inProject),
    ...['opencode/agent', 'opencode/agents'].map(inConfig),
    ...[...FOREIGN, ...OURS].map(inHome),
    inConfig('retinue/agents'),
  ]
}

/** Whether a folder is that of another tool. */
export function isForeign({ path }: AgentFolder): boolean {
  return FOREIGN.includes(path) || path.startsWith('opencode/')
}

const MAX_DEPTH = 5
const MAX_FOLDERS = 200
/** So many files are listed, and so many of them are read. */
const MAX_LISTED = 2000
export const MAX_READ = 500

/** The Markdown files of a folder and of those in it, by path. `more`: there are others that are not listed. */
export async function markdownIn(root: Workspace, max_depth = MAX_DEPTH): Promise<{ paths: string[]; more: number }> {
  const paths: string[] = []
  let more = 0
  let folders = 0
  const walk = async (path: string, depth: number): Promise<void> => {
    if (++folders > MAX_FOLDERS) return
    const listing = await root.list(path === '' ? '.' : path)
    if (!listing.ok) return
    for (const entry of listing.entries) {
      if (entry.name.startsWith('.')) continue
      const at = path === '' ? entry.name : `${path}/${entry.name}`
      if (isMarkdown(entry)) {
        if (paths.length < MAX_LISTED) paths.push(at)
        else more++
      } else if (entry.kind === 'directory' && depth < max_depth) await walk(at, depth + 1)
    }
  }
  await walk('', 1)
  return { paths, more }
}

function isMarkdown({ name, kind }: Entry): boolean {
  return (kind === 'file' || kind === 'symlink') && /\.(?:md|markdown)$/i.test(name)
}

/** null where there is no such folder, or it may not be read. */
export async function openFolder(host: Pick<Host, 'workspace'>, path: string): Promise<Workspace | null> {
  try {
    return await host.workspace(path, { to_read: true })
  } catch {
    return null
  }
}

/** A path as a person writes it: from the project folder, or from home. */
export function shownPath(path: string, { project_dir, home }: Pick<AgentPlaces, 'project_dir' | 'home'>): string {
  const below = (folder: string) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null)
  const inHome = below(home)
  return visible(below(project_dir) ?? (inHome === null ? path : join('~', inHome)))
}

/** A file's name can have anything in it; in a message it is one line of what can be seen. */
function visible(path: string): string {
  return path.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '\u{fffd}')
}
