import { profilesSection, skillsSection } from './control/index.js'
import type { Authority, Contract, DelegationRequest, Profile, Prompt, ToolDefinition } from './domain/index.js'
import { RetinueError } from './errors.js'
import type { RunParts } from './preparation.js'
import { fileFor, type PromptFile, PromptFiles, type Reader, readPromptFile } from './prompt-files.js'
import type { Reached } from './reach.js'
import { type AgentPlace, childPrompt, type PromptFacts, rootPrompt } from './runtime/index.js'
import { blobDigest } from './store/index.js'
import type { ToolLimits, ToolRegistry } from './tools/index.js'

/** Files that a sub-agent's prompt begins with, as far as they are there, unless its profile names others. */
const BOOTSTRAP_FILES = ['AGENTS.md', 'ENVIRONMENT.md']

/** Prompts of sub-agents that are remembered; there are about as many as there are profiles. */
const PROMPTS_KEPT = 200

type Known = Pick<Reached, 'skills' | 'servers'> & Pick<PromptFacts, 'platform' | 'instructions'>

/** A prompt as it is sent, and as it is kept. */
type StoredPrompt = { prompt: Prompt; digest: string; bytes: Uint8Array }

/** Makes the prompts of agents: what they are told about themselves, the files they begin with, their tools. */
export class Prompts {
  readonly #definitions = new Map<string, ToolDefinition[]>()
  /** Of the last root agent, and of sub-agents by what they were made from. */
  #last: StoredPrompt | null = null
  readonly #ofChildren = new Map<string, StoredPrompt>()
  readonly #files: PromptFiles

  constructor(
    private readonly parts: RunParts,
    private readonly profiles: Readonly<Record<string, Profile>>,
    private readonly limits: ToolLimits,
  ) {
    this.#files = new PromptFiles([...BOOTSTRAP_FILES, ...Object.values(profiles).flatMap(namedFiles)])
  }

  /** Runs that follow each other mostly have the same prompt; it is written out and digested once. */
  async root(run_id: string, authority: Authority, place: AgentPlace): Promise<StoredPrompt> {
    const { host, reach, redactor } = this.parts
    // What skills and servers say may be something else by now.
    this.#ofChildren.clear()
    const [{ platform }, instructions, { skills, servers }] = await Promise.all([
      host.facts(),
      this.#instructions({ authority, depth: 0 }, place),
      reach.open(),
      this.readFiles(run_id, authority, place),
    ])
    const facts = this.#facts(authority, place, { platform, instructions, skills, servers })
    const prompt = redactor.redactAll(rootPrompt(facts))
    const last = this.#last
    if (last?.prompt.system === prompt.system && last.prompt.tools === prompt.tools) return last
    this.#last = store(prompt)
    return this.#last
  }

  /** Reads what the sub-agents of a run that begins or goes on are told from files. */
  async readFiles(run_id: string, authority: Authority, place: AgentPlace): Promise<void> {
    if (authority.can_spawn_children) await this.#files.read(run_id, place.workspace)
  }

  /** The prompt of a sub-agent: files, its profile's prompt, then what was asked for. */
  async child(
    contract: Contract,
    place: AgentPlace,
    profile: Profile | null,
    request: DelegationRequest,
  ): Promise<{ ok: true; stored: StoredPrompt } | { ok: false; message: string }> {
    const { permissions, execution } = contract
    const { budget } = execution
    const { isolation } = contract.workspace
    const { bootstrap, prompt_file } = await this.#filesFor(contract, place, profile)
    // Files that somebody named are part of what was asked for; the usual ones are there or not.
    const faults = [...(profile?.bootstrap_files ? bootstrap.faults : []), ...prompt_file.faults]
    if (faults.length > 0) {
      const message = `the profile ${contract.agent.profile_id} needs files that cannot be read: ${faults.join('; ')}. Use another profile, or none.`
      return { ok: false, message }
    }
    const date = new Date(this.parts.host.clock.now()).toISOString().slice(0, 10)
    const read = [bootstrap, prompt_file].map(({ files }) => files.map(({ path, digest }) => [path, digest]))
    const key = JSON.stringify([date, permissions, isolation, budget, profile, request.system_prompt, read])
    const known = this.#ofChildren.get(key)
    if (known) return { ok: true, stored: known }
    const [{ platform }, { skills, servers }] = await Promise.all([this.parts.host.facts(), this.parts.reach.open()])
    const facts = this.#facts(permissions, place, { platform, instructions: bootstrap.files, skills, servers })
    const own = prompt_file.files.map(({ text }) => text)
    const prompts = [...own, profile?.system_prompt ?? '', request.system_prompt ?? '']
    const prompt = this.parts.redactor.redactAll(childPrompt({ ...facts, isolation, budget, prompts }))
    const stored = store(prompt)
    if (this.#ofChildren.size >= PROMPTS_KEPT) this.#ofChildren.clear()
    this.#ofChildren.set(key, stored)
    return { ok: true, stored }
  }

  /** What the files of a sub-agent's prompt say, as far as it may read them, and why some are not to be had. */
  async #filesFor({ permissions, parent }: Contract, place: AgentPlace, profile: Profile | null) {
    const read = await this.#files.of(parent.run_id, place.workspace)
    const reader: Reader = { authority: permissions, depth: parent.depth }
    const pick = (names: readonly string[]) => {
      const picked = names.map((name) => fileFor(reader, name, read.get(name) as PromptFile))
      return {
        files: picked.flatMap((file) => (file.ok ? [file] : [])),
        faults: picked.flatMap((file) => (file.ok ? [] : [file.message])),
      }
    }
    return {
      bootstrap: pick(profile?.bootstrap_files ?? BOOTSTRAP_FILES),
      prompt_file: pick(profile?.system_prompt_file ? [profile.system_prompt_file] : []),
    }
  }

  /** What an agent under this authority is told about itself. */
  #facts(authority: Authority, place: AgentPlace, { platform, instructions, skills, servers }: Known): PromptFacts {
    const { mode, network, can_ask_person, can_spawn_children } = authority
    return {
      workspace_root: place.workspace.root,
      platform,
      date: new Date(this.parts.host.clock.now()).toISOString().slice(0, 10),
      instructions,
      skills: skillsSection(skills.filter(({ name }) => authority.allowed_skills.includes(name))),
      servers: servers.flatMap(({ name, instructions }) =>
        instructions !== null && authority.allowed_mcp_servers.includes(name) ? [{ name, instructions }] : [],
      ),
      profiles: can_spawn_children ? profilesSection(this.profiles) : '',
      can_ask_person,
      mode,
      sandboxed: place.sandboxed,
      network,
      tools: this.#offered(authority, place.registry),
    }
  }

  /** Not what would be refused whatever its arguments. (It would be refused all the same.) */
  #offered(authority: Authority, registry: ToolRegistry): ToolDefinition[] {
    const names = authority.allowed_tools.filter((name) => {
      const tool = registry.get(name)
      if (tool === null) return false
      const { effect, server } = tool
      if (server !== undefined && !authority.allowed_mcp_servers.includes(server)) return false
      if (effect === 'ask_person') return authority.can_ask_person
      if (effect === 'delegate') return authority.can_spawn_children
      if (effect === 'fetch' && server === undefined && authority.network === 'none') return false
      return effect === 'read' || effect === 'fetch' || authority.mode !== 'plan'
    })
    // The same array for the same tools, because what a provider makes of it is cached by it.
    const key = names.join(' ')
    const tools = this.#definitions.get(key) ?? registry.definitions(names, this.limits)
    this.#definitions.set(key, tools)
    return tools
  }

  async #instructions(reader: Reader, place: AgentPlace): Promise<{ path: string; text: string }[]> {
    const { take, files } = this.parts.settings.instructions ?? { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] }
    const found: { path: string; text: string }[] = []
    for (const path of files) {
      const file = fileFor(reader, path, await readPromptFile(place.workspace, path))
      if (file.ok) found.push({ path, text: file.text })
      else if (take === 'all') throw new RetinueError('config', `instructions: ${file.message}`)
      if (take === 'first' && found.length > 0) break
    }
    return found
  }
}

/** Every file that a profile names. */
function namedFiles({ bootstrap_files = [], system_prompt_file }: Profile): string[] {
  return system_prompt_file ? [...bootstrap_files, system_prompt_file] : bootstrap_files
}

function store(prompt: Prompt): StoredPrompt {
  const json = JSON.stringify(prompt)
  return { prompt, digest: blobDigest(json), bytes: Buffer.from(json) }
}
