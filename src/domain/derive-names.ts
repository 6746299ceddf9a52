import type { Adjustment } from './contract.js'
import type { Narrowing } from './derive-profile.js'
import type { RegistryEntry } from './registry/registry.js'
import { matchesName } from './rules.js'

type List = 'skills' | 'mcp_servers'

/** Skills or MCP servers that an agent gets. `whyNot`: why it has one not that there is, with a word for it. */
export type GrantedNames = {
  names: string[]
  whyNot: (name: string, it: string) => string
  adjustments: Adjustment[]
}

/**
 * Of what is above: what the profile names and the registry lets the agent have. Of that: what was asked for, else what
 * the registry gives to one that nobody asked anything of, else all.
 */
export function grantNames({ above, giver, profile, entry, request }: Narrowing, list: List): GrantedNames {
  const there = list === 'skills' ? above.allowed_skills : above.allowed_mcp_servers
  const named = profile?.profile[list]
  const { allowed, byDefault } = registryLists(entry, list)
  const asked = request[list]
  const bounds: { patterns: readonly string[] | undefined; why: (it: string) => string }[] = [
    { patterns: named, why: (it) => `the profile ${profile?.name} does not name ${it}` },
    { patterns: allowed, why: (it) => `the registry does not let ${entry?.agentId} have ${it}` },
    asked === undefined
      ? { patterns: byDefault, why: (it) => `${entry?.agentId} has ${it} only where it is asked for` }
      : { patterns: asked, why: (it) => `${it} was not asked for` },
  ]
  const names = there.filter((name) => bounds.every(({ patterns }) => takes(patterns, name)))
  const whyNot: GrantedNames['whyNot'] = (name, it) =>
    bounds.find(({ patterns }) => !takes(patterns, name))?.why(it) ?? `${giver} has none of that name`

  const adjustments: Adjustment[] = []
  const wish = (patterns: readonly string[], isChoice: boolean) => {
    for (const pattern of new Set(patterns)) {
      if (pattern === '*' || names.some((name) => takes([pattern], name))) continue
      const meant = there.find((name) => takes([pattern], name))
      // What the registry leaves out by default is not refused: nobody asked for it.
      if (meant !== undefined && !isChoice && takes(allowed, meant)) continue
      const reason = meant === undefined ? `${giver} has none of that name` : whyNot(meant, 'it')
      adjustments.push({ field: `permissions.allowed_${list}`, asked: pattern, given: 'none', reason })
    }
  }
  if (asked !== undefined) wish(asked, true)
  else {
    wish(byDefault ?? [], true)
    wish(named ?? [], false)
  }
  return { names, whyNot, adjustments }
}

function registryLists(entry: RegistryEntry | null, list: List) {
  return list === 'skills'
    ? { allowed: entry?.allowedForwardSkills, byDefault: entry?.defaultForwardSkills }
    : { allowed: entry?.allowedMcpServers, byDefault: entry?.defaultMcpServers }
}

/** An absent list takes everything. In the registry `skill:x` and `mcp:x` mean `x`. */
function takes(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesName(pattern.replace(/^(?:skill|mcp):/, ''), name))
}
