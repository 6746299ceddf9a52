import { profileSourceInWords } from '#domain'
import type { AgentView, ProfileView } from '../data'
import { sourceLabel } from './sources'

/** Those in which every word that was typed occurs somewhere. */
export function searched<T extends { agents: AgentView[]; profiles: ProfileView[] }>(
  { agents, profiles }: T,
  typed: string,
): { agents: AgentView[]; profiles: ProfileView[] } {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const has = (texts: readonly (string | null | undefined)[]) => {
    const all = texts.join('\n').toLowerCase()
    return words.every((word) => all.includes(word))
  }
  return {
    agents: agents.filter((agent) =>
      has([
        ...[agent.agentId, agent.profileId, agent.description, agent.fault, ...(agent.tags ?? [])],
        ...(agent.allowedForwardSkills ?? agent.defaultForwardSkills ?? []),
        ...(agent.allowedMcpServers ?? agent.defaultMcpServers ?? []),
      ]),
    ),
    profiles: profiles.filter(({ name, source, profile, fault, handles }) =>
      has([
        ...[name, sourceLabel(source), profileSourceInWords(source), fault, ...handles],
        ...[profile?.description, profile?.model, profile?.pool, profile?.mode, ...(profile?.tools ?? [])],
      ]),
    ),
  }
}
