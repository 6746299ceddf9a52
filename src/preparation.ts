import type { RunOptions, Settings, Watching } from './api.js'
import { skillsSection } from './control/index.js'
import {
  type Authority,
  type Contract,
  type ModelSource,
  matchesWord,
  type Prompt,
  type Redactor,
  rootAuthority,
  rootContract,
  type ToolDefinition,
  unenforceable,
} from './domain/index.js'
import { RetinueError } from './errors.js'
import type { Host, HostFacts, Repository, Workspace } from './host/index.js'
import type { Model, Models } from './models/index.js'
import type { Reach, Reached } from './reach.js'
import { type AgentPlace, type Person, type PromptFacts, rootPrompt } from './runtime/index.js'
import { blobDigest, type Store } from './store/index.js'
import {
  builtinToolNames,
  builtinTools,
  createToolRegistry,
  DEFAULT_LIMITS,
  type ToolLimits,
  type ToolRegistry,
} from './tools/index.js'

/** Nobody is there: what would ask is refused. */
const NOBODY: Person = { permit: async () => null, answer: async () => null }

/** A prompt as it is sent, and as it is kept. */
type StoredPrompt = { prompt: Prompt; digest: string; bytes: Uint8Array }

/** What all runs of a Retinue are made from. */
export type RunParts = {
  cwd: string
  host: Host
  store: Store
  models: Models
  settings: Settings
  reach: Reach
  redactor: Redactor
  /** Secrets that somebody named, rather than such as were found. */
  named_secrets: string[]
}

/** Makes what a run starts from: its model, the place its agent works in, its contract and its prompt. */
export class Preparation {
  readonly #limits: ToolLimits
  readonly #definitions = new Map<string, ToolDefinition[]>()
  #workspace: Workspace | null = null
  #repository: Repository | null = null
  #prompt: StoredPrompt | null = null

  constructor(private readonly parts: RunParts) {
    this.#limits = { ...DEFAULT_LIMITS, ...parts.settings.limits }
  }

  async chooseModel(asked: string | undefined): Promise<{ model: Model; source: ModelSource }> {
    const { settings, models } = this.parts
    const choice = asked ? { name: asked, source: 'request' as const } : (settings.model ?? (await this.#fallback()))
    if (!choice) throw new RetinueError('auth', noModel(models))
    const resolved = await models.resolve(choice.name)
    if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
    return { model: resolved.model, source: choice.source }
  }

  /** Asked for only when nobody named a model: it may look for servers on this machine. */
  async #fallback(): Promise<{ name: string; source: ModelSource } | null> {
    const name = await this.parts.models.fallback()
    return name === null ? null : { name, source: 'environment' }
  }

  async place(model: Model, watching: Watching): Promise<AgentPlace> {
    return this.#place(model, watching, (await this.parts.reach.open()).registry)
  }

  /** For a run that is only going to be closed: no server is started for that. */
  closingPlace(model: Model): Promise<AgentPlace> {
    return this.#place(model, {}, createToolRegistry(builtinTools()))
  }

  async #place(model: Model, watching: Watching, registry: ToolRegistry): Promise<AgentPlace> {
    const { cwd, host, store, settings, redactor } = this.parts
    this.#workspace ??= await host.workspace(cwd)
    const workspace = this.#workspace
    const sandbox = await this.sandbox()
    return {
      store,
      clock: host.clock,
      processes: host.processes,
      http: host.http,
      sandboxed: sandbox.kind !== 'none',
      redactor,
      workspace,
      repository: async () => {
        // One that is there stays; one that is not may yet be made by a command.
        const opened = this.#repository ? null : await host.git.open(workspace.root)
        if (opened?.ok) this.#repository = opened.repository
        return this.#repository
      },
      model,
      registry,
      limits: this.#limits,
      person: watching.person ?? NOBODY,
      max_attempts: settings.max_attempts ?? 5,
      model_timeout_ms: settings.model_timeout_ms ?? 600_000,
      ...(watching.onDelta ? { onDelta: watching.onDelta } : {}),
    }
  }

  /** What stands around commands here. */
  async sandbox(): Promise<HostFacts['sandbox']> {
    const { settings, host } = this.parts
    if (settings.sandbox === 'off') return { kind: 'none', reason: 'the sandbox is turned off (sandbox: off)' }
    return (await host.facts()).sandbox
  }

  /** What there is less of than somebody asked for. */
  notes({ servers, skills, notes }: Reached): string[] {
    const { redactor, settings } = this.parts
    const missing = servers.filter(({ state, message }) => message !== null && state !== 'disabled')
    const unknown = (kind: string, asked: readonly string[] | undefined, there: readonly string[]) =>
      (asked ?? [])
        .filter((name) => !there.includes(name))
        .map((name) => `the settings allow ${kind} ${name}: there is none`)
    const named = redactor.ignored.filter(({ name }) => this.parts.named_secrets.includes(name))
    return [
      ...missing.map(({ name, message }) => `MCP server ${name}: ${message}`),
      ...named.map(({ name, reason }) => `the value of ${name} is not kept secret: ${reason}`),
      ...unknown(
        'the MCP server',
        settings.mcp_servers,
        servers.map(({ name }) => name),
      ),
      ...unknown(
        'the skill',
        settings.skills,
        skills.map(({ name }) => name),
      ),
      ...notes,
    ]
  }

  async contract(run_id: string, options: RunOptions, place: AgentPlace, source: ModelSource) {
    const { settings, host, reach } = this.parts
    const mode = options.mode ?? settings.mode ?? 'normal'
    const can_ask_person = options.person !== undefined
    const network = options.network ?? settings.network
    const [{ platform }, repository, instructions, { skills, servers }] = await Promise.all([
      host.facts(),
      place.repository(),
      this.#instructions(place),
      reach.open(),
    ])
    const head = await repository?.head()
    const slash = place.model.name.indexOf('/')
    const request = {
      run_id,
      task: options.task,
      mode,
      can_ask_person,
      rules: settings.rules ?? [],
      known_tools: place.registry.names(),
      nameable_tools: [...place.registry.names(), ...builtinToolNames()],
      known_servers: servers.filter(({ state }) => state === 'ready').map(({ name }) => name),
      known_skills: skills.map(({ name }) => name),
      tools: this.#tools(place.registry),
      ...(settings.mcp_servers ? { mcp_servers: settings.mcp_servers } : {}),
      ...(settings.skills ? { skills: settings.skills } : {}),
      ...(network ? { network } : {}),
      ...(settings.read_paths ? { read_paths: settings.read_paths } : {}),
      ...(settings.write_paths ? { write_paths: settings.write_paths } : {}),
      model: {
        provider: place.model.name.slice(0, slash),
        model: place.model.name.slice(slash + 1),
        source,
        window: place.model.window,
      },
      budget: { ...settings.budget, ...options.budget },
      base: head?.ok ? head.commit : null,
    }
    const authority = rootAuthority(request)
    const stored = this.#storedPrompt({
      workspace_root: place.workspace.root,
      platform,
      date: new Date(host.clock.now()).toISOString().slice(0, 10),
      instructions,
      skills: skillsSection(skills.filter(({ name }) => authority.allowed_skills.includes(name))),
      servers: servers.flatMap(({ name, instructions }) =>
        instructions !== null && authority.allowed_mcp_servers.includes(name) ? [{ name, instructions }] : [],
      ),
      can_ask_person,
      mode,
      sandboxed: place.sandboxed,
      network: authority.network,
      tools: this.#offered(authority, place.registry),
    })
    const derived = rootContract({ ...request, prompt_digest: stored.digest })
    if (!derived.ok) throw new RetinueError('input', derived.faults.join('; '))
    this.check(derived.contract, place)
    return { contract: derived.contract satisfies Contract, stored }
  }

  /** Throws where this machine, now, cannot hold an agent to its contract. */
  check(contract: Contract, place: AgentPlace): void {
    const priced = contract.execution.budget.cost_usd === null || place.model.price !== undefined
    const faults = unenforceable(contract, { sandboxed: place.sandboxed, priced })
    if (faults.length > 0) throw new RetinueError('input', `This contract cannot be enforced: ${faults.join('; ')}`)
    // What code goes by is written down as it is, or rules would change their meaning.
    const { permissions, model } = contract
    const exposed = this.parts.redactor.findIn(JSON.stringify([this.parts.cwd, permissions, model]))
    if (exposed.length > 0) {
      throw new RetinueError(
        'input',
        `The value of ${exposed.join(', ')} is part of the folder's path, the model's name or the permissions, so it cannot be kept out of the log: unset it, or give it another value`,
      )
    }
  }

  /** Runs that follow each other mostly have the same prompt; it is written out and digested once. */
  #storedPrompt(facts: PromptFacts): StoredPrompt {
    const prompt = this.parts.redactor.redactAll(rootPrompt(facts))
    const last = this.#prompt
    if (last?.prompt.system === prompt.system && last.prompt.tools === prompt.tools) return last
    const json = JSON.stringify(prompt)
    this.#prompt = { prompt, digest: blobDigest(json), bytes: Buffer.from(json) }
    return this.#prompt
  }

  /** The tools that ship and those of servers, as far as the settings name them; and what they name wrongly. */
  #tools(registry: ToolRegistry): string[] {
    const { tools, mcp_tools = [] } = this.parts.settings
    const there = registry.names().filter((name) => {
      if (registry.get(name)?.server === undefined) return tools?.includes(name) ?? true
      return mcp_tools.every((layer) => layer.some((pattern) => matchesWord(pattern, name)))
    })
    const absent = builtinToolNames()
    return [...there, ...(tools ?? []).filter((name) => !there.includes(name) && !absent.includes(name))]
  }

  /** Not what would be refused whatever its arguments. (It would be refused all the same.) */
  #offered(authority: Authority, registry: ToolRegistry): ToolDefinition[] {
    const names = authority.allowed_tools.filter((name) => {
      const tool = registry.get(name)
      if (tool === null) return false
      const { effect, server } = tool
      if (server !== undefined && !authority.allowed_mcp_servers.includes(server)) return false
      if (effect === 'ask_person') return authority.can_ask_person
      if (effect === 'fetch' && server === undefined && authority.network === 'none') return false
      return effect === 'read' || effect === 'fetch' || authority.mode !== 'plan'
    })
    // The same array for the same tools, because what a provider makes of it is cached by it.
    const key = names.join(' ')
    const tools = this.#definitions.get(key) ?? registry.definitions(names, this.#limits)
    this.#definitions.set(key, tools)
    return tools
  }

  async #instructions(place: AgentPlace): Promise<{ path: string; text: string }[]> {
    const { take, files } = this.parts.settings.instructions ?? { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] }
    const found: { path: string; text: string }[] = []
    for (const path of files) {
      const file = await place.workspace.readText(path)
      if (file.ok) found.push({ path, text: file.text })
      else if (take === 'all') throw new RetinueError('config', `instructions: ${file.message}`)
      if (take === 'first' && found.length > 0) break
    }
    return found
  }
}

function noModel(models: Models): string {
  const hints = models.available().map(({ provider, hint }) => `  ${provider}: ${hint}`)
  return [
    'No model to be had. Set one of these, or name one with --model provider/model:',
    ...hints,
    'Or look around without one: retinue demo',
  ].join('\n')
}
