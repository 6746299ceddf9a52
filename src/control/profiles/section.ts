import type { RegistryEntry } from '../../domain/index.js'
import { plainLine } from '../../domain/index.js'
import { escapeXml } from '../escape.js'
import type { Catalog, CatalogEntry } from './catalog.js'

const MAX_CHARS = 300
/** Of a description together with the tools. */
const MAX_LINE = 500
/** Of a whole section. It is in the prompt of everybody who may delegate, and anybody may have written what is in it. */
const MAX_SECTION = 16_000

/**
 * What the system prompt says about profiles: a line for each, in the order of their names. Nothing where there is
 * none. `allowed`: the names and handles that the agent may have sub-agents by; absent for all.
 */
export function profilesSection(catalog: Catalog, allowed?: readonly string[]): string {
  const lines = profilesOf(catalog, allowed).map(({ name, description }) => {
    const text = `  <profile name="${escapeXml(name)}">${escapeXml(description)}</profile>`
    return { text, is_projects: isProjects(catalog, name) }
  })
  return sectionOf('available_spawn_profiles', lines)
}

/** The same for the agents of the registry: what a handle is good for, never what stands behind it. */
export function agentsSection(catalog: Catalog, allowed?: readonly string[]): string {
  const lines = agentsOf(catalog, allowed).map(({ agentId, description, tags = [] }) => {
    const tagged = tags.length === 0 ? '' : ` tags="${escapeXml(tags.join(', '))}"`
    const text = `  <agent handle="${escapeXml(agentId)}"${tagged}>${escapeXml(shortened(description))}</agent>`
    return { text, is_projects: false }
  })
  return sectionOf('available_agents', lines)
}

/** What a sub-agent can be asked for by: the profiles in the order of their names, then the agents in that of theirs. */
export function listProfiles(catalog: Catalog, allowed?: readonly string[]): { name: string; description: string }[] {
  const agents = agentsOf(catalog, allowed).map(({ agentId, description }) => {
    return { name: agentId, description: shortened(description) }
  })
  return [...profilesOf(catalog, allowed), ...agents]
}

/** Not what cannot be used, nor what this agent may not use: a model would only be refused. */
function profilesOf({ profiles }: Catalog, allowed: readonly string[] | undefined) {
  return [...profiles.values()].flatMap((entry) => {
    const { name, profile } = entry
    return profile !== null && isAllowed(allowed, name) ? [{ name, description: describe(entry) }] : []
  })
}

/** A handle may be used by whoever may use its profile; a profile is not let in by a handle that points at it. */
function agentsOf({ agents, profiles }: Catalog, allowed: readonly string[] | undefined): RegistryEntry[] {
  return [...agents.values()].filter(({ agentId, profileId }) => {
    const usable = (profiles.get(profileId)?.profile ?? null) !== null
    return usable && (isAllowed(allowed, agentId) || isAllowed(allowed, profileId))
  })
}

function isAllowed(allowed: readonly string[] | undefined, name: string): boolean {
  return allowed === undefined || allowed.includes(name)
}

/** What it is good for and what it works with. The roles say both in their own words. */
function describe({ profile, source }: CatalogEntry): string {
  const { description, system_prompt = '', tools } = profile ?? {}
  const said = shortened(description ?? system_prompt.trim().split('\n', 1)[0] ?? '')
  const sentence = said === '' || /[.!?…]$/.test(said) ? said : `${said}.`
  const works = tools === undefined || source.kind === 'role' ? '' : `Tools: ${tools.join(', ') || 'none'}.`
  return plainLine([sentence, works].filter((part) => part !== '').join(' '), MAX_LINE)
}

/** The first paragraph: what follows is examples, for tools that read them. */
function shortened(text: string): string {
  return plainLine(text.trim().split(/\n\s*\n/, 1)[0] ?? '', MAX_CHARS)
}

function isProjects({ profiles }: Catalog, name: string): boolean {
  const source = profiles.get(name)?.source
  return (source?.kind === 'file' || source?.kind === 'config') && source.scope === 'project'
}

type Line = { text: string; is_projects: boolean }

/** Where not all have room, those of the project are left out first: it must not crowd out the person's own. */
function sectionOf(name: string, lines: readonly Line[]): string {
  if (lines.length === 0) return ''
  const first = [...lines].sort((a, b) => Number(a.is_projects) - Number(b.is_projects))
  const shown = new Set<Line>()
  let chars = 0
  for (const line of first) {
    chars += line.text.length + 1
    if (chars > MAX_SECTION) break
    shown.add(line)
  }
  const more = lines.length - shown.size
  return [
    `<${name}>`,
    ...lines.filter((line) => shown.has(line)).map(({ text }) => text),
    ...(more > 0 ? [`  <more count="${more}">Only their names are listed, with the tools that take one.</more>`] : []),
    `</${name}>`,
  ].join('\n')
}
