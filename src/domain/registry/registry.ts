/** The policy record that the agent registry is. There is one. */
export const REGISTRY_ID = 'agent-registry:default'

export const HANDLE = /^@[a-z0-9_-]{2,32}$/

export const HANDLE_FAULT = 'a handle is @ and 2 to 32 lower-case letters, digits, dashes and underscores'

/** What a registry may have at most. Characters are counted as people count them: by code points. */
export const REGISTRY_LIMITS = { agents: 100, description: 300, names: 100, tags: 20, tag: 40 } as const

/** One agent that work can be handed to by its handle. The names are those of the registry's JSON. */
export type RegistryEntry = {
  agentId: string
  profileId: string
  description: string
  /** Forwarded where nobody asks for others. Absent: all that may be. */
  defaultForwardSkills?: string[]
  /** At most. Absent: no further limit. */
  allowedForwardSkills?: string[]
  defaultMcpServers?: string[]
  allowedMcpServers?: string[]
  tags?: string[]
}

export type AgentRegistry = { version: 1; agents: RegistryEntry[] }

export const NO_AGENTS: AgentRegistry = { version: 1, agents: [] }
