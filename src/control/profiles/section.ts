import type { Profile } from '../../domain/index.js'
import { escapeXml } from '../escape.js'

const MAX_CHARS = 300

/** What the system prompt says about profiles: a line for each, in the order of their names. Nothing where there is none. */
export function profilesSection(profiles: Readonly<Record<string, Profile>>): string {
  const described = listProfiles(profiles)
  if (described.length === 0) return ''
  const lines = described.map(
    ({ name, description }) => `  <profile name="${escapeXml(name)}">${escapeXml(description)}</profile>`,
  )
  return ['<available_spawn_profiles>', ...lines, '</available_spawn_profiles>'].join('\n')
}

/** In the order of their names, so that prompts stay the same. */
export function listProfiles(profiles: Readonly<Record<string, Profile>>): { name: string; description: string }[] {
  return Object.entries(profiles)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, profile]) => ({ name, description: describeProfile(profile) }))
}

/** What it is good for and what it works with. */
function describeProfile({ description, system_prompt, tools }: Profile): string {
  const [first = ''] = (description ?? system_prompt ?? '').trim().split('\n')
  const said = first.length > MAX_CHARS ? `${first.slice(0, MAX_CHARS - 1)}…` : first
  const sentence = said === '' || /[.!?…]$/.test(said) ? said : `${said}.`
  const works = tools === undefined ? '' : `Tools: ${tools.join(', ') || 'none'}.`
  return [sentence, works].filter((part) => part !== '').join(' ')
}
