import { type Authority, intersect, modeUnasked } from './authority.js'
import type { Adjustment } from './contract.js'
import { DELEGATION_TOOLS } from './delegation.js'
import type { Derivation } from './derive.js'
import { WRITING_TOOLS, wishToRead } from './derive-workspace.js'
import { matchesAny } from './globs.js'
import { MODES, type Mode, narrowerMode } from './modes.js'
import { matchesName } from './rules.js'

type ChildAuthority = { authority: Authority; adjustments: Adjustment[] }

/** The narrowest of what the parent is in, the profile names and the request asks for. */
export function childMode({ parent, profile, request }: Derivation): { mode: Mode; adjustments: Adjustment[] } {
  const field = 'permissions.mode'
  const above = parent.contract.permissions.mode
  const named = profile?.profile.mode
  const mode = [named, request.mode].filter((one) => one !== undefined).reduce(narrowerMode, above)
  const asked = request.mode ?? named
  if (asked === undefined || MODES.indexOf(asked) <= MODES.indexOf(mode)) return { mode, adjustments: [] }
  const reason = mode === above ? `its parent is in ${above} mode` : `the profile ${profile?.name} is in ${mode} mode`
  return { mode, adjustments: [{ field, asked, given: mode, reason }] }
}

/** What a sub-agent may do: never more than its parent, its profile and the request, whichever says least. */
export function childAuthority(derivation: Derivation, mode: Mode, can_spawn_children: boolean): ChildAuthority {
  const { parent, request, settings } = derivation
  const reads = wishToRead(derivation)
  const above = parent.contract.permissions
  const can_ask_person = above.can_ask_person && settings.ask_person
  const skills = namesOf(derivation, 'skills', above.allowed_skills)
  const servers = namesOf(derivation, 'mcp_servers', above.allowed_mcp_servers)
  const withheld = whyWithheld(derivation, { can_ask_person, can_spawn_children, servers: servers.names })
  const isWished = (tool: string) => matchesSome(request.tools, tool)
  const asked: Authority = {
    ...above,
    mode,
    allowed_tools: derivation.known_tools.filter((tool) => withheld(tool) === null && isWished(tool)),
    allowed_skills: skills.names,
    allowed_mcp_servers: servers.names,
    ...(reads !== null ? { write_paths: [[]] } : request.owns ? { write_paths: [request.owns] } : {}),
    // In its parent's mode it keeps the parent's rules as they are: another layer would take the allowing ones away.
    ...(mode === above.mode ? {} : { rules: [{ mode, rules: [] }] }),
    can_ask_person,
    can_spawn_children,
    max_delegation_depth: above.max_delegation_depth - 1,
  }
  // Nothing widens, by construction. `unasked` is no part of that: it says what its parent's own mode answers for.
  const authority: Authority = { ...intersect(above, asked), unasked: modeUnasked(above) }
  const tools = toolWishes(derivation, authority.allowed_tools, withheld)
  const owns = reads === null ? ownWishes(request.owns ?? [], above.write_paths) : unowned(request.owns ?? [], reads)
  return { authority, adjustments: [...tools, ...skills.adjustments, ...servers.adjustments, ...owns] }
}

/** Tools that a profile names and nobody knows: a boundary that cannot be understood is none. */
export function unknownTools({ profile, known_tools, nameable_tools = [] }: Derivation): string[] {
  const names = [...known_tools, ...nameable_tools]
  // A server that is not connected today may be tomorrow.
  const isNameable = (tool: string) => tool.startsWith('mcp__') || names.some((name) => matchesName(tool, name))
  return (profile?.profile.tools ?? []).filter((tool) => !isNameable(tool))
}

type Withheld = (tool: string) => string | null

/** Why a sub-agent does not get a tool that there is, whatever the request says. */
function whyWithheld(
  derivation: Derivation,
  child: { can_ask_person: boolean; can_spawn_children: boolean; servers: readonly string[] },
): Withheld {
  const { parent, profile } = derivation
  const reads = wishToRead(derivation)
  const above = parent.contract.permissions
  const taken = above.allowed_mcp_servers.filter((server) => !child.servers.includes(server))
  return (tool) => {
    if (!above.allowed_tools.includes(tool)) return 'its parent may not use it'
    if (!matchesSome(profile?.profile.tools, tool)) return `the profile ${profile?.name} does not name it`
    if (reads !== null && WRITING_TOOLS.includes(tool)) return reads
    if (taken.some((server) => tool.startsWith(`mcp__${server}__`)))
      return `the profile ${profile?.name} does not name its MCP server`
    if (DELEGATION_TOOLS.includes(tool) && !child.can_spawn_children) return 'it may not have sub-agents'
    if (tool === 'ask_user' && !child.can_ask_person) return 'it cannot ask a person'
    return null
  }
}

/** What was named and is not given. A lone `*` is a wish for whatever there is to be had. */
function toolWishes(derivation: Derivation, given: readonly string[], withheld: Withheld): Adjustment[] {
  const { profile, request, known_tools, nameable_tools = [] } = derivation
  const wishes = new Set(request.tools ?? profile?.profile.tools ?? [])
  wishes.delete('*')
  return [...wishes].flatMap((asked) => {
    const refusal = (given: string, reason: string) => [{ field: 'permissions.allowed_tools', asked, given, reason }]
    const matching = known_tools.filter((tool) => matchesName(asked, tool))
    const granted = matching.filter((tool) => given.includes(tool))
    // A pattern is no wish for what sub-agents do not get unless somebody decided it.
    const meant = matching.filter((tool) => !isSpecial(tool) || granted.includes(tool))
    const missing = (meant.length > 0 ? meant : matching).find((tool) => !granted.includes(tool))
    if (missing !== undefined) {
      const part = granted.length === 0 ? 'none' : `${granted.length} of ${meant.length}`
      return refusal(part, withheld(missing) as string)
    }
    if (matching.length > 0) return []
    if (asked.startsWith('mcp__')) return refusal('none', 'no MCP server that is connected has it')
    const isNameable = nameable_tools.some((tool) => matchesName(asked, tool))
    return refusal('none', isNameable ? 'it is not set up here' : 'there is no such tool')
  })
}

function isSpecial(tool: string): boolean {
  return tool === 'ask_user' || DELEGATION_TOOLS.includes(tool)
}

/** Skills or MCP servers: the parent's, as far as the profile names them. */
function namesOf(
  { profile }: Derivation,
  list: 'skills' | 'mcp_servers',
  above: readonly string[],
): { names: string[]; adjustments: Adjustment[] } {
  const patterns = profile?.profile[list]
  const names = above.filter((name) => matchesSome(patterns, name))
  const missing = (patterns ?? []).filter(
    (pattern) => pattern !== '*' && !names.some((name) => matchesName(pattern, name)),
  )
  const adjustments = missing.map((asked) => {
    const reason = 'its parent has none of that name'
    return { field: `permissions.allowed_${list}`, asked, given: 'none', reason }
  })
  return { names, adjustments }
}

/** Globs that reach beyond what the parent may write. Its layers hold all the same; this is so that somebody knows. */
function ownWishes(globs: readonly string[], layers: readonly string[][]): Adjustment[] {
  return globs.flatMap((asked) => {
    const layer = layers.find((one) => !coversGlob(one, asked))
    if (!layer) return []
    const within = layer.join(', ') || 'nothing'
    const given = layer.length === 0 ? 'none' : `what of it is in ${within}`
    return [{ field: 'permissions.write_paths', asked, given, reason: `its parent may write ${within}` }]
  })
}

/** Globs for a sub-agent that is to read only. */
function unowned(globs: readonly string[], reason: string): Adjustment[] {
  return globs.map((asked) => ({ field: 'permissions.write_paths', asked, given: 'none', reason }))
}

/** An absent list takes everything. */
function matchesSome(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesName(pattern, name))
}

/**
 * Whether a layer certainly takes everything that a glob does. What matches a pattern matches it with all that is below,
 * so it is enough to look at the folder that the glob's wildcards are in; where that says nothing, the answer is no.
 */
function coversGlob(layer: readonly string[], glob: string): boolean {
  if (layer.includes(glob)) return true
  const segments = glob.replace(/^\.\//, '').replace(/\/+$/, '').split('/')
  const wild = segments.findIndex((segment) => /[*?{}]/.test(segment))
  const folder = (wild === -1 ? segments : segments.slice(0, wild)).join('/')
  return matchesAny(layer, folder === '.' ? '' : folder)
}
