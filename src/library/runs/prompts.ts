import { agentsSection, type Catalog, listProfiles, profilesSection, skillsSection } from '../../control/index.js'
import type { Authority, Contract, DelegationRequest, Profile, Prompt, ToolDefinition } from '../../domain/index.js'
import { type AgentPlace, childPrompt, type PromptFacts, rootPrompt } from '../../runtime/index.js'
import { blobDigest } from '../../store/index.js'
import type { ToolLimits } from '../../tools/index.js'
import { RetinueError } from '../errors.js'
import type { Reached } from '../project/reach.js'
import type { RunParts } from './preparation.js'
import { fileFor, type PromptFile, PromptFiles, type Reader, readPromptFile } from './prompt-files.js'

/** Files that a sub-agent's prompt begins with, as far as they are there, unless its profile names others. */
const BOOTSTRAP_FILES = ['AGENTS.md', 'ENVIRONMENT.md']

/** Prompts of sub-agents that are remembered; there are about as many as there are profiles. */
const PROMPTS_KEPT = 200

type Known = Pick<Reached, 'skills' | 'servers'> &
  Pick<PromptFacts, 'platform' | 'instructions' | 'profiles' | 'prompts'>

/** Which profiles there are, and the agent's own. */
type About = { catalog: Catalog; profile: Profile | null }

/** A prompt as it is sent, and as it is kept. */
type StoredPrompt = { prompt: Prompt; digest: string; bytes: Uint8Array }

/** Makes the prompts of agents: what they are told about themselves, the files they begin with, their tools. */
export class Prompts {
  readonly #definitions = new Map<string, ToolDefinition[]>()
  /** Of the last root agent, and of sub-agents by what they were made from. */
  #last: StoredPrompt | null = null
  readonly #ofChildren = new Map<string, StoredPrompt>()
  readonly #files = new PromptFiles()

  constructor(
    private readonly parts: RunParts,
    private readonly limits: ToolLimits,
  ) {}

  /** Runs that follow each other mostly have the same prompt; it is written out and digested once. */
  async root(run_id: string, authority: Authority, place: AgentPlace, about: About): Promise<StoredPrompt> {
    const { host, reach, redactor } = this.parts
    const { catalog, profile } = about
    const reader = { authority, depth: 0 }
    // What skills and servers say may be something else by now.
    this.#ofChildren.clear()
    const [{ platform }, instructions, own, reached] = await Promise.all([
      host.facts(),
      this.#instructions(reader, place, profile),
      this.#own(reader, place, profile),
      reach.open(),
      this.readFiles(run_id, authority, place, catalog),
    ])
    const { skills, servers } = reached
    const profiles = sectionsFor(authority, catalog)
    const prompts = [...own, profile?.system_prompt ?? '']
    const facts = this.#facts(authority, place, { platform, instructions, skills, servers, profiles, prompts })
    const tools = this.#offered(authority, place, reached, catalog)
    const prompt = redactor.redactAll(rootPrompt({ ...facts, tools }))
    const last = this.#last
    if (last?.prompt.system === prompt.system && last.prompt.tools === prompt.tools) return last
    this.#last = store(prompt)
    return this.#last
  }

  /** Reads what the sub-agents of a run that begins or goes on are told from files. */
  async readFiles(run_id: string, authority: Authority, place: AgentPlace, catalog: Catalog): Promise<void> {
    if (authority.can_spawn_children) await this.#files.read(run_id, place.workspace, filesNamed(catalog))
  }

  /** The prompt of a sub-agent: files, its profile's prompt, then what was asked for. */
  async child(
    contract: Contract,
    place: AgentPlace,
    { catalog, profile }: About,
    request: DelegationRequest,
  ): Promise<{ ok: true; stored: StoredPrompt } | { ok: false; message: string }> {
    const { permissions, execution } = contract
    const { budget } = execution
    const { isolation } = contract.workspace
    const { bootstrap, prompt_file } = await this.#filesFor(contract, place, { catalog, profile })
    // Files that somebody named are part of what was asked for; the usual ones are there or not.
    const faults = [...(profile?.bootstrap_files ? bootstrap.faults : []), ...prompt_file.faults]
    if (faults.length > 0) {
      const message = `the profile ${contract.agent.profile_id} needs files that cannot be read: ${faults.join('; ')}. Use another profile, or none.`
      return { ok: false, message }
    }
    const date = new Date(this.parts.host.clock.now()).toISOString().slice(0, 10)
    const read = [bootstrap, prompt_file].map(({ files }) => files.map(({ path, digest }) => [path, digest]))
    const profiles = sectionsFor(permissions, catalog)
    // Where it works may be another folder each time; what it calls its files stays the same.
    const root = (await place.trees.travel())?.folder ?? place.workspace.root
    const told = [date, root, permissions, isolation, budget, profile, request.system_prompt]
    const key = JSON.stringify([...told, read, profiles])
    const known = this.#ofChildren.get(key)
    if (known) return { ok: true, stored: known }
    const [{ platform }, reached] = await Promise.all([this.parts.host.facts(), this.parts.reach.open()])
    const { skills, servers } = reached
    const own = prompt_file.files.map(({ text }) => text)
    const prompts = [...own, profile?.system_prompt ?? '', request.system_prompt ?? '']
    const known_facts = { platform, instructions: bootstrap.files, skills, servers, profiles, prompts }
    const facts = { ...this.#facts(permissions, place, known_facts), workspace_root: root }
    const tools = this.#offered(permissions, place, reached, catalog)
    const prompt = this.parts.redactor.redactAll(childPrompt({ ...facts, tools, isolation, budget }))
    const stored = store(prompt)
    if (this.#ofChildren.size >= PROMPTS_KEPT) this.#ofChildren.clear()
    this.#ofChildren.set(key, stored)
    return { ok: true, stored }
  }

  /** What the files of a sub-agent's prompt say, as far as it may read them, and why some are not to be had. */
  async #filesFor({ permissions, parent }: Contract, place: AgentPlace, { catalog, profile }: About) {
    const read = await this.#files.of(parent.run_id, place.workspace, () => filesNamed(catalog))
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
  #facts(authority: Authority, place: AgentPlace, known: Known): Omit<PromptFacts, 'tools'> {
    const { mode, network, can_ask_person } = authority
    const { skills, servers, ...rest } = known
    return {
      ...rest,
      workspace_root: place.workspace.root,
      date: new Date(this.parts.host.clock.now()).toISOString().slice(0, 10),
      skills: skillsSection(skills.filter(({ name }) => authority.allowed_skills.includes(name))),
      servers: servers.flatMap(({ name, instructions }) =>
        instructions !== null && authority.allowed_mcp_servers.includes(name) ? [{ name, instructions }] : [],
      ),
      can_ask_person,
      mode,
      sandboxed: place.sandboxed,
      network,
    }
  }

  /** Not what would be refused whatever its arguments. (It would be refused all the same.) */
  #offered(authority: Authority, place: AgentPlace, reached: Reached, catalog: Catalog): ToolDefinition[] {
    const { allowed_profiles } = authority
    const profiles = listProfiles(catalog, allowed_profiles)
    const registry = allowed_profiles === undefined ? place.registry : reached.registry(profiles)
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
    const key = JSON.stringify([names, profiles.map(({ name }) => name)])
    const tools = this.#definitions.get(key) ?? registry.definitions(names, this.limits)
    this.#definitions.set(key, tools)
    return tools
  }

  /** What the file of a root agent's profile says. */
  async #own(reader: Reader, place: AgentPlace, profile: Profile | null): Promise<string[]> {
    if (!profile?.system_prompt_file) return []
    const name = profile.system_prompt_file
    const file = fileFor(reader, name, await readPromptFile(place.workspace, name))
    if (!file.ok) throw new RetinueError('config', `system_prompt_file of the profile: ${file.message}`)
    return [file.text]
  }

  async #instructions(
    reader: Reader,
    place: AgentPlace,
    profile: Profile | null,
  ): Promise<{ path: string; text: string }[]> {
    const { take, files } = profile?.bootstrap_files
      ? { take: 'all', files: profile.bootstrap_files }
      : (this.parts.settings.instructions ?? { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] })
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

/** Every file that the prompt of a sub-agent could be made of. */
function filesNamed({ profiles }: Catalog): string[] {
  const named = [...profiles.values()].flatMap(({ profile }) => [
    ...(profile?.bootstrap_files ?? []),
    ...(profile?.system_prompt_file ? [profile.system_prompt_file] : []),
  ])
  return [...BOOTSTRAP_FILES, ...named]
}

/** The profiles and agents that an agent can choose from, in words. */
function sectionsFor({ can_spawn_children, allowed_profiles }: Authority, catalog: Catalog): string {
  if (!can_spawn_children) return ''
  const sections = [profilesSection(catalog, allowed_profiles), agentsSection(catalog, allowed_profiles)]
  return sections.filter((section) => section !== '').join('\n\n')
}

function store(prompt: Prompt): StoredPrompt {
  const json = JSON.stringify(prompt)
  return { prompt, digest: blobDigest(json), bytes: Buffer.from(json) }
}
