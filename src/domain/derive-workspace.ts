import { type Authority, modeUnasked } from './authority.js'
import type { Adjustment, Contract } from './contract.js'
import type { DelegationRequest } from './delegation.js'
import type { Derivation } from './derive.js'
import { matchesName, type RuleLayer } from './rules.js'
import { ISOLATIONS, type Isolation, narrowerIsolation, WORKSPACE_DEFAULTS } from './workspace.js'

/** The tools that change files of the workspace, or run what might. Those of MCP servers work elsewhere. */
export const WRITING_TOOLS = ['write_file', 'edit_file', 'git_commit', 'run_command', 'run_tests']

/** Whether there is a call by which an agent with this contract could change a file. */
export function mayWrite(contract: {
  permissions: Authority
  workspace: Pick<Contract['workspace'], 'owns'>
}): boolean {
  return !ownsNothing(contract) && actingTools(contract.permissions).length > 0
}

/** Whether no path at all is its own to write. */
export function ownsNothing({ permissions, workspace }: Parameters<typeof mayWrite>[0]): boolean {
  return workspace.owns.length === 0 || permissions.write_paths.some((layer) => layer.length === 0)
}

/** The writing tools of which a call could be done: nobody has to be asked about it, or somebody can be. */
export function actingTools(permissions: Authority): string[] {
  if (permissions.mode === 'plan') return []
  const isFree = permissions.can_ask_person || isUnasked(modeUnasked(permissions))
  const tools = permissions.allowed_tools.filter(
    (tool) => WRITING_TOOLS.includes(tool) && !isStopped(permissions, tool),
  )
  return isFree ? tools : tools.filter((tool) => permissions.rules.every((layer) => lets(layer, tool)))
}

/** Whether a rule stops every call of a tool: it denies them, or asks about them where nobody can be asked. */
function isStopped({ rules, can_ask_person }: Authority, tool: string): boolean {
  const names = [tool, ...(KINDRED[tool] ?? [])]
  return rules.some((layer) =>
    layer.rules.some(
      ({ decision, pattern, tool: named }) =>
        pattern === null &&
        (decision === 'deny' || (decision === 'ask' && !can_ask_person)) &&
        names.some((name) => matchesName(named, name)),
    ),
  )
}

/** What is kept from the second by a rule, the first does not do in its place. See `permits`. */
const KINDRED: Record<string, string[]> = { edit_file: ['write_file'], run_tests: ['run_command'] }

function isUnasked(mode: Authority['mode']): boolean {
  return mode === 'auto' || mode === 'dangerous'
}

/** Whether a layer by itself says yes to some call of a tool. */
function lets({ mode, rules }: RuleLayer, tool: string): boolean {
  return isUnasked(mode) || rules.some((rule) => rule.decision === 'allow' && matchesName(rule.tool, tool))
}

/** Who wants a sub-agent to only read, in words, or null: it then gets nothing to write with. */
export function wishToRead({
  profile,
  request,
}: Pick<Derivation, 'profile'> & { request: Pick<DelegationRequest, 'isolation'> }): string | null {
  if (profile?.profile.isolation === 'read_only') return `the profile ${profile.name} only reads`
  return request.isolation === 'read_only' ? 'it was asked for to read only' : null
}

/** Where a sub-agent works: what the settings say, as far as it may write at all, and no more than was asked for. */
export function childIsolation(
  { profile, request, workspace = WORKSPACE_DEFAULTS }: Derivation,
  writes: boolean,
): { isolation: Isolation; adjustments: Adjustment[] } {
  const named = profile?.profile.isolation
  const wishes = [named, request.isolation].filter((one) => one !== undefined)
  const isolation = writes ? wishes.reduce(narrowerIsolation, workspace.isolation) : 'read_only'
  const asked = request.isolation ?? named
  if (asked === undefined || ISOLATIONS.indexOf(asked) <= ISOLATIONS.indexOf(isolation)) {
    return { isolation, adjustments: [] }
  }
  const byProfile = named === isolation ? `the profile ${profile?.name} says ${named}` : null
  const bySettings = `workspace.isolation in the configuration is ${workspace.isolation}`
  const reason = byProfile ?? (writes ? bySettings : 'it can write nothing')
  return { isolation, adjustments: [{ field: 'workspace.isolation', asked, given: isolation, reason }] }
}
