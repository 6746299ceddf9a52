import { type CallPattern, callLayer, patternsFor, type ToolEntry } from './call-patterns.js'
import type { Adjustment } from './contract.js'
import { DELEGATION_TOOLS } from './delegation.js'
import type { GrantedNames } from './derive-names.js'
import { type Narrowing, toolEntries } from './derive-profile.js'
import { WRITING_TOOLS, wishToRead } from './derive-workspace.js'
import { matchesName } from './rules.js'

type GrantedTools = { tools: string[]; calls: CallPattern[][]; adjustments: Adjustment[] }

type Around = { can_ask_person: boolean; can_spawn_children: boolean; servers: GrantedNames }

/** The tools that an agent gets, and the layers of calls that its profile and the request have them for. */
export function grantTools(narrowing: Narrowing, around: Around): GrantedTools {
  const { profile, request, known_tools } = narrowing
  const withheld = whyWithheld(narrowing, around)
  const wished = request.tools === undefined ? undefined : toolEntries(request.tools)
  const tools = known_tools.filter((tool) => withheld(tool) === null && takes(wished, tool))
  const named = callLayer(toolEntries(profile?.profile.tools ?? []), known_tools)
  const calls = [named, callLayer(wished ?? [], known_tools)].filter((layer) => layer.length > 0)
  return {
    tools,
    calls,
    adjustments: [...toolWishes(narrowing, tools, withheld), ...callWishes(narrowing, tools, named)],
  }
}

type Withheld = (tool: string) => string | null

/** Why an agent does not get a tool that there is, whatever the request says. */
function whyWithheld(narrowing: Narrowing, { can_ask_person, can_spawn_children, servers }: Around): Withheld {
  const { above, giver, profile } = narrowing
  const reads = wishToRead(narrowing)
  const named = profile?.profile.tools === undefined ? undefined : toolEntries(profile.profile.tools)
  const taken = above.allowed_mcp_servers.filter((server) => !servers.names.includes(server))
  return (tool) => {
    if (!above.allowed_tools.includes(tool)) return `${giver} may not use it`
    if (!takes(named, tool)) return `the profile ${profile?.name} does not name it`
    if (reads !== null && WRITING_TOOLS.includes(tool)) return reads
    const server = taken.find((one) => tool.startsWith(`mcp__${one}__`))
    if (server !== undefined) return servers.whyNot(server, 'its MCP server')
    if (DELEGATION_TOOLS.includes(tool) && !can_spawn_children) return 'it may not have sub-agents'
    if (tool === 'ask_user' && !can_ask_person) return 'it cannot ask a person'
    return null
  }
}

/** What was named and is not given. A lone `*` is a wish for whatever there is to be had. */
function toolWishes(
  { profile, request, known_tools, nameable_tools }: Narrowing,
  given: readonly string[],
  withheld: Withheld,
): Adjustment[] {
  const wishes = new Set(request.tools ?? profile?.profile.tools ?? [])
  wishes.delete('*')
  return [...wishes].flatMap((asked) => {
    const refusal = (given: string, reason: string) => [{ field: 'permissions.allowed_tools', asked, given, reason }]
    const [entry] = toolEntries([asked])
    const matching = known_tools.filter((tool) => entry !== undefined && matchesName(entry.tool, tool))
    const granted = matching.filter((tool) => given.includes(tool))
    // A pattern is no wish for what agents do not get unless somebody decided it.
    const meant = matching.filter((tool) => !isSpecial(tool) || granted.includes(tool))
    const missing = (meant.length > 0 ? meant : matching).find((tool) => !granted.includes(tool))
    if (missing !== undefined) {
      const part = granted.length === 0 ? 'none' : `${granted.length} of ${meant.length}`
      return refusal(part, withheld(missing) as string)
    }
    if (matching.length > 0) return []
    if (asked.startsWith('mcp__')) return refusal('none', 'no MCP server that is connected has it')
    const isNameable = entry !== undefined && nameable_tools.some((tool) => matchesName(entry.tool, tool))
    // A profile says what its agents have at most, wherever they work; what is not set up here was not refused to them.
    if (isNameable && request.tools === undefined) return []
    return refusal('none', isNameable ? 'it is not set up here' : 'there is no such tool')
  })
}

/** Tools that are given for fewer calls than they were named for. The layers hold all the same; this says so. */
function callWishes(
  { above, giver, profile, request }: Narrowing,
  given: readonly string[],
  named: readonly CallPattern[],
): Adjustment[] {
  const layers = (above.allowed_calls ?? []).map((layer) => ({ layer, who: `${giver} may use` }))
  if (request.tools !== undefined) layers.push({ layer: [...named], who: `the profile ${profile?.name} has` })
  const wishes = toolEntries([...new Set(request.tools ?? profile?.profile.tools ?? [])])
  return wishes
    .filter(({ tool }) => given.includes(tool))
    .flatMap(({ text, tool, pattern }) => {
      const isNarrower = ({ layer }: { layer: readonly CallPattern[] }) => {
        const patterns = patternsFor(layer, tool)
        return patterns.length > 0 && (pattern === null || !patterns.includes(pattern))
      }
      const found = layers.find(isNarrower)
      if (!found) return []
      const calls = patternsFor(found.layer, tool).join(', ')
      const reason = `${found.who} it only for ${calls}`
      return [{ field: 'permissions.allowed_calls', asked: text, given: `what of it is in ${calls}`, reason }]
    })
}

function isSpecial(tool: string): boolean {
  return tool === 'ask_user' || DELEGATION_TOOLS.includes(tool)
}

/** An absent list takes everything. */
function takes(entries: readonly ToolEntry[] | undefined, name: string): boolean {
  return entries === undefined || entries.some(({ tool }) => matchesName(tool, name))
}
