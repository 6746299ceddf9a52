import {
  forwardedInWords,
  type Profile,
  parsePinRecordId,
  plainLine,
  profileSourceInWords,
  type RegistryEntry,
  scopeInWords,
} from '../../domain/index.js'
import type { PinView } from '../pins/stored.js'
import { table } from './table.js'
import type { AgentsView, ProfileView } from './views.js'

/** So many pins are listed. */
const PINS = 12

/** What `/agents` prints. */
export function agentsText(view: AgentsView): string {
  const { agents, profiles, pins } = view
  const parts = [
    agents.length === 0
      ? ['No agents are registered: retinue agents register --help (in a chat: /help agents register) says how.']
      : ['Agents', ...table(agents.map((entry) => [entry.agentId, agentLine(entry)]))],
    profiles.length === 0
      ? ['There are no profiles.']
      : ['Profiles', ...table(profiles.map((profile) => [profile.name, profileLine(profile)]))],
    pins.length === 0
      ? ['Nothing is pinned.']
      : [
          'Pins',
          ...table(pins.slice(0, PINS).map((pin) => [pin.scope, pinLine(pin, view)])),
          ...(pins.length > PINS ? [`  and ${pins.length - PINS} more`] : []),
        ],
  ]
  return parts.map((lines) => lines.join('\n')).join('\n\n')
}

function agentLine({ description, profileId, tags = [], fault }: AgentsView['agents'][number]): string {
  const more = [`profile ${profileId}`, ...(tags.length > 0 ? [`tags ${tags.join(', ')}`] : [])]
  return `${description} (${more.join('; ')})${fault === null ? '' : ` Cannot be used: ${fault}`}`
}

function profileLine({ profile, fault, source }: ProfileView): string {
  if (profile === null) return `cannot be used: ${plainLine(fault, 200)}`
  const said = plainLine(profile.description ?? '', 160)
  return `${said}${said === '' ? '' : ' '}(${shortSource(source)})`
}

function shortSource(source: ProfileView['source']): string {
  if (source.kind === 'file' || source.kind === 'config') return source.file
  return { role: 'role', options: 'given by the program', store: 'store' }[source.kind]
}

function pinLine(pin: PinView, { in_effect, workspace }: AgentsView): string {
  const of = parsePinRecordId(pin.record_id)?.of ?? null
  const where = scopeInWords(pin.scope, of === workspace ? null : of)
  const holds = in_effect?.record_id === pin.record_id ? ', in effect' : ', not in effect here'
  return `${pin.profile_id}${pin.handle === null ? '' : ` (${pin.handle})`} ${where}${holds}${pin.fault === null ? '' : `. Cannot be used: ${pin.fault}`}`
}

/** What `/agents show` prints: all that is said about a profile, but its prompt only as far as one line goes. */
export function agentText({ profile, entry }: { profile: ProfileView; entry: RegistryEntry | null }): string {
  const rows: [string, string | undefined][] = [
    ...(entry === null ? [] : entryRows(entry)),
    ['profile', profile.name],
    ['from', profileSourceInWords(profile.source)],
    ['stands before', profile.shadows.map(profileSourceInWords).join('; ')],
    ['handles', profile.handles.join(', ')],
    ...(profile.profile === null
      ? [['cannot be used', profile.fault] as [string, string]]
      : profileRows(profile.profile)),
    ['notes', profile.notes.join(' ')],
    ['not understood', Object.keys(profile.kept).join(', ')],
  ]
  const said = rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '')
  return [entry?.agentId ?? profile.name, ...table(said)].join('\n')
}

function entryRows(entry: RegistryEntry): [string, string | undefined][] {
  return [
    ['description', entry.description],
    ['tags', entry.tags?.join(', ')],
    ['skills', forwardedInWords(entry.defaultForwardSkills, entry.allowedForwardSkills) ?? undefined],
    ['MCP servers', forwardedInWords(entry.defaultMcpServers, entry.allowedMcpServers) ?? undefined],
  ]
}

function profileRows(profile: Profile): [string, string | undefined][] {
  const budget = Object.entries(profile.budget ?? {}).map(([limit, value]) => `${limit} ${value ?? 'unlimited'}`)
  const { system_prompt, system_prompt_file, bootstrap_files, can_spawn_children, may_spawn } = profile
  return [
    ['good for', profile.description],
    ['model', profile.model ?? (profile.pool === undefined ? undefined : `pool ${profile.pool}`)],
    ['other models', listed(profile.models)],
    ['tools', listed(profile.tools)],
    ['denied', listed(profile.deny)],
    ['asks', listed(profile.ask)],
    ['reads', listed(profile.read_paths)],
    ['writes', listed(profile.write_paths)],
    ['its skills', listed(profile.skills)],
    ['its servers', listed(profile.mcp_servers)],
    ['mode', profile.mode],
    ['isolation', profile.isolation],
    ['budget', budget.join(', ')],
    ['context', profile.context_share === undefined ? undefined : `${profile.context_share} % of the model's window`],
    ['sub-agents', may_spawn === undefined ? yesNo(can_spawn_children) : listed(may_spawn)],
    ['prompt file', system_prompt_file],
    ['files', listed(bootstrap_files)],
    ['prompt', system_prompt === undefined ? undefined : plainLine(system_prompt, 200)],
  ]
}

function listed(names: readonly string[] | undefined): string | undefined {
  return names === undefined ? undefined : names.join(', ') || 'none'
}

function yesNo(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : value ? 'yes' : 'no'
}
