import type { RunOptions, Settings, Watching } from './api.js'
import {
  type Contract,
  type Mode,
  type ModelSource,
  type Prompt,
  rootContract,
  type ToolDefinition,
  unenforceable,
} from './domain/index.js'
import { RetinueError } from './errors.js'
import type { Host, Repository, Workspace } from './host/index.js'
import type { Model, Models } from './models/index.js'
import { type AgentPlace, type Person, type PromptFacts, rootPrompt } from './runtime/index.js'
import { blobDigest, type Store } from './store/index.js'
import { builtinTools, createToolRegistry, DEFAULT_LIMITS, type ToolLimits, type ToolRegistry } from './tools/index.js'

/** Nobody is there: what would ask is refused. */
const NOBODY: Person = { permit: async () => null, answer: async () => null }

/** A prompt as it is sent, and as it is kept. */
type StoredPrompt = { prompt: Prompt; digest: string; bytes: Uint8Array }

/** Makes what a run starts from: its model, the place its agent works in, its contract and its prompt. */
export class Preparation {
  readonly #registry: ToolRegistry = createToolRegistry(builtinTools())
  readonly #limits: ToolLimits
  readonly #definitions = new Map<string, ToolDefinition[]>()
  #workspace: Workspace | null = null
  #repository: Repository | null = null
  #prompt: StoredPrompt | null = null

  constructor(
    private readonly cwd: string,
    private readonly host: Host,
    private readonly store: Store,
    private readonly models: Models,
    private readonly settings: Settings,
  ) {
    this.#limits = { ...DEFAULT_LIMITS, ...settings.limits }
  }

  async chooseModel(asked: string | undefined): Promise<{ model: Model; source: ModelSource }> {
    const { settings, models } = this
    const fallback = models.fallback()
    const choice = asked
      ? { name: asked, source: 'request' as const }
      : (settings.model ?? (fallback === null ? null : { name: fallback, source: 'environment' as const }))
    if (!choice) throw new RetinueError('auth', noModel(models))
    const resolved = await models.resolve(choice.name)
    if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
    return { model: resolved.model, source: choice.source }
  }

  async place(model: Model, watching: Watching): Promise<AgentPlace> {
    const { host, store, settings } = this
    this.#workspace ??= await host.workspace(this.cwd)
    const workspace = this.#workspace
    return {
      store,
      clock: host.clock,
      processes: host.processes,
      workspace,
      repository: async () => {
        // One that is there stays; one that is not may yet be made by a command.
        const opened = this.#repository ? null : await host.git.open(workspace.root)
        if (opened?.ok) this.#repository = opened.repository
        return this.#repository
      },
      model,
      registry: this.#registry,
      limits: this.#limits,
      person: watching.person ?? NOBODY,
      max_attempts: settings.max_attempts ?? 5,
      model_timeout_ms: settings.model_timeout_ms ?? 600_000,
      digest: blobDigest,
      ...(watching.onDelta ? { onDelta: watching.onDelta } : {}),
    }
  }

  async contract(run_id: string, options: RunOptions, place: AgentPlace, source: ModelSource) {
    const { settings, host } = this
    const mode = options.mode ?? settings.mode ?? 'normal'
    const can_ask_person = options.person !== undefined
    const [facts, repository, instructions] = await Promise.all([
      host.facts(),
      place.repository(),
      this.#instructions(place),
    ])
    const head = await repository?.head()
    const slash = place.model.name.indexOf('/')
    const request = {
      run_id,
      task: options.task,
      mode,
      can_ask_person,
      rules: settings.rules ?? [],
      known_tools: this.#registry.names(),
      ...(settings.tools ? { tools: settings.tools } : {}),
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
    const stored = this.#storedPrompt({
      workspace_root: place.workspace.root,
      platform: facts.platform,
      date: new Date(host.clock.now()).toISOString().slice(0, 10),
      instructions,
      can_ask_person,
      mode,
      tools: this.#toolsFor(mode, can_ask_person),
    })
    const derived = rootContract({ ...request, prompt_digest: stored.digest })
    if (!derived.ok) throw new RetinueError('input', derived.faults.join('; '))
    const faults = unenforceable(derived.contract, facts.sandbox.kind)
    if (faults.length > 0) throw new RetinueError('input', `This contract cannot be enforced: ${faults.join('; ')}`)
    return { contract: derived.contract satisfies Contract, stored }
  }

  /** Runs that follow each other mostly have the same prompt; it is written out and digested once. */
  #storedPrompt(facts: PromptFacts): StoredPrompt {
    const prompt = rootPrompt(facts)
    const last = this.#prompt
    if (last?.prompt.system === prompt.system && last.prompt.tools === prompt.tools) return last
    const json = JSON.stringify(prompt)
    this.#prompt = { prompt, digest: blobDigest(json), bytes: Buffer.from(json) }
    return this.#prompt
  }

  /** What is offered: not what would be refused whatever its arguments. (It would be refused all the same.) */
  #toolsFor(mode: Mode, can_ask_person: boolean): ToolDefinition[] {
    const names = (this.settings.tools ?? this.#registry.names()).filter((name) => {
      const effect = this.#registry.get(name)?.effect
      return effect === 'ask_person' ? can_ask_person : effect === 'read' || mode !== 'plan'
    })
    // The same array for the same tools, because what a provider makes of it is cached by it.
    const key = names.join(' ')
    const tools = this.#definitions.get(key) ?? this.#registry.definitions(names, this.#limits)
    this.#definitions.set(key, tools)
    return tools
  }

  async #instructions(place: AgentPlace): Promise<{ path: string; text: string }[]> {
    const { take, files } = this.settings.instructions ?? { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] }
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
