import { type Authority, intersect } from './authority.js'
import type { Adjustment } from './contract.js'
import { grantNames } from './derive-names.js'
import { allowedProfiles, type Narrowing, profileRules } from './derive-profile.js'
import { grantTools } from './derive-tools.js'
import { wishToRead } from './derive-workspace.js'
import { matchesAny } from './globs.js'
import { MODES, type Mode, narrowerMode } from './modes.js'

type Narrowed = { authority: Authority; adjustments: Adjustment[] }

/** What was settled before the rest, because the budget depends on it. */
type Settled = { mode: Mode; can_ask_person: boolean; can_spawn_children: boolean; max_delegation_depth: number }

/** The narrowest of what is above, what the profile names and what the request asks for. */
export function narrowMode({
  above,
  giver,
  profile,
  request,
}: Pick<Narrowing, 'giver' | 'profile' | 'request'> & { above: Pick<Authority, 'mode'> }): {
  mode: Mode
  adjustments: Adjustment[]
} {
  const named = profile?.profile.mode
  const mode = [named, request.mode].filter((one) => one !== undefined).reduce(narrowerMode, above.mode)
  const asked = request.mode ?? named
  if (asked === undefined || MODES.indexOf(asked) <= MODES.indexOf(mode)) return { mode, adjustments: [] }
  const reason =
    mode === above.mode ? `${giver} is in ${above.mode} mode` : `the profile ${profile?.name} is in ${mode} mode`
  return { mode, adjustments: [{ field: 'permissions.mode', asked, given: mode, reason }] }
}

/** What an agent may do: never more than whoever is above it, its profile, the registry and the request, whichever says least. */
export function narrowAuthority(narrowing: Narrowing, settled: Settled): Narrowed {
  const { above, profile } = narrowing
  const { mode, can_ask_person, can_spawn_children } = settled
  const skills = grantNames(narrowing, 'skills')
  const servers = grantNames(narrowing, 'mcp_servers')
  const granted = grantTools(narrowing, { can_ask_person, can_spawn_children, servers })
  const spawns = allowedProfiles(narrowing)
  const paths = pathLayers(narrowing)
  const rules = profile === null ? [] : profileRules(profile.profile)
  const asked: Authority = {
    ...above,
    ...settled,
    allowed_tools: granted.tools,
    ...(granted.calls.length > 0 ? { allowed_calls: granted.calls } : {}),
    allowed_skills: skills.names,
    allowed_mcp_servers: servers.names,
    ...(spawns.names === undefined ? {} : { allowed_profiles: spawns.names }),
    read_paths: paths.read.length > 0 ? paths.read : above.read_paths,
    write_paths: paths.write.length > 0 ? paths.write : above.write_paths,
    rules: [
      // In the mode above it the rules there stay as they are: another layer would take the allowing ones away.
      ...(mode === above.mode ? above.rules : [{ mode, rules: [] }]),
      // A layer that refuses and asks, and takes away nothing else.
      ...(rules.length > 0 ? [{ mode: 'dangerous' as const, rules }] : []),
    ],
  }
  const adjustments = [
    ...granted.adjustments,
    ...skills.adjustments,
    ...servers.adjustments,
    ...(can_spawn_children ? spawns.adjustments : []),
    ...paths.adjustments,
  ]
  // Nothing widens, by construction.
  return { authority: intersect(above, asked), adjustments }
}

type PathLayers = { read: string[][]; write: string[][]; adjustments: Adjustment[] }

/** What the profile and the request say about paths, each a layer, and what of it reaches too far. */
function pathLayers(narrowing: Narrowing): PathLayers {
  const { above, giver, profile, request } = narrowing
  const { read_paths, write_paths } = profile?.profile ?? {}
  const { owns } = request
  const reads = wishToRead(narrowing)
  const over = (layers: readonly string[][], who = giver as string) => layers.map((globs) => ({ globs, who }))
  const read = pathWishes('read', read_paths ?? [], over(above.read_paths))
  const own = write_paths === undefined ? [] : over([write_paths], `the profile ${profile?.name}`)
  const writes =
    reads === null
      ? [
          ...pathWishes('write', write_paths ?? [], over(above.write_paths)),
          ...pathWishes('write', owns ?? [], [...over(above.write_paths), ...own]),
        ]
      : (owns ?? []).map((asked) => ({ field: 'permissions.write_paths', asked, given: 'none', reason: reads }))
  return {
    read: [read_paths].filter((layer) => layer !== undefined),
    write: reads === null ? [write_paths, owns].filter((layer) => layer !== undefined) : [[]],
    adjustments: [...read, ...writes],
  }
}

/** Globs that reach beyond a layer. The layers hold all the same; this is so that somebody knows. */
function pathWishes(
  access: 'read' | 'write',
  globs: readonly string[],
  layers: readonly { globs: readonly string[]; who: string }[],
): Adjustment[] {
  return globs.flatMap((asked) => {
    const layer = layers.find((one) => !coversGlob(one.globs, asked))
    if (!layer) return []
    const within = layer.globs.join(', ') || 'nothing'
    const given = layer.globs.length === 0 ? 'none' : `what of it is in ${within}`
    return [{ field: `permissions.${access}_paths`, asked, given, reason: `${layer.who} may ${access} ${within}` }]
  })
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
