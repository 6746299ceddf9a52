import { type Catalog, listProfiles, type ResolvedProfile } from '../../control/index.js'
import {
  type Adjustment,
  type Contract,
  chooseRootModel,
  DELEGATION_DEFAULTS,
  type DelegationSettings,
  type ModelSource,
  matchesWord,
  PROGRAM_TOOLS,
  type Redactor,
  rootAuthority,
  rootContract,
  unenforceable,
  unmetModel,
  WORKSPACE_DEFAULTS,
  type WorkspaceSettings,
} from '../../domain/index.js'
import type { Host, HostFacts, Repository, Workspace } from '../../host/index.js'
import type { Model, Models } from '../../models/index.js'
import { carryOut } from '../../planning/index.js'
import type { Above, AgentPlace, Elsewhere, Launcher } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import {
  builtinToolNames,
  builtinTools,
  createToolRegistry,
  DEFAULT_LIMITS,
  type Tool,
  type ToolLimits,
  type ToolRegistry,
} from '../../tools/index.js'
import type { Files, RunTrees } from '../../workspaces/index.js'
import type { RunOptions, Settings, Watching } from '../api.js'
import { RetinueError } from '../errors.js'
import { FAN_OUT_MODEL, fanOutModel } from '../programs/fan-out.js'
import { PLAN_MODEL, planModel } from '../programs/plan-runs.js'
import { withTool } from '../programs/programs.js'
import type { Reach, Reached } from '../project/reach.js'
import { Prompts } from './prompts.js'

/** Agents at work at once, unless the settings say otherwise. */
export const DEFAULT_CONCURRENT = 8

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
  /** What this machine has. null: agents run on workers, and one that needs a label waits for a worker with it. */
  labels: readonly string[] | null
}

/** Whose an agent is and whom it has: where its sub-agents come from (null: it has none) and what is above it. */
export type Family = {
  launcher: Launcher | null
  trees: RunTrees
  above: Above | null
  catalog: Catalog
  /** The call that its root agent makes, where that is a program. */
  call?: Tool
}

/** The profile that an agent has, and by which entry of the registry. */
export type As = Pick<Extract<ResolvedProfile, { ok: true }>, 'profile' | 'entry'>

/** What the contract of a root agent is made from besides what was asked for. */
export type ContractChoice = {
  source: ModelSource
  /** What was not had of what was asked for. */
  adjustments?: Adjustment[]
  catalog: Catalog
  /** The profile of the root agent. */
  as: As | null
  /** Models that its sub-agents may use besides those of the settings. */
  child_models?: string[]
  /** Of its sub-agents, at work at once. */
  max_concurrent?: number
}

/** Makes what a run starts from: its model, the place its agent works in, its contract and its prompt. */
export class Preparation {
  readonly #limits: ToolLimits
  #workspace: Workspace | null = null
  #repository: Repository | null = null
  readonly #models = new Map<string, Awaited<ReturnType<Models['resolve']>>>()
  readonly delegation: DelegationSettings
  readonly worktrees: WorkspaceSettings
  readonly prompts: Prompts

  constructor(private readonly parts: RunParts & { elsewhere: Elsewhere }) {
    this.#limits = { ...DEFAULT_LIMITS, ...parts.settings.limits }
    const { delegation = {} } = parts.settings
    const budget = { ...DELEGATION_DEFAULTS.budget, ...delegation.budget }
    this.delegation = { ...DELEGATION_DEFAULTS, ...delegation, budget }
    this.worktrees = { ...WORKSPACE_DEFAULTS, ...parts.settings.workspace }
    this.prompts = new Prompts(parts, this.#limits)
  }

  /** The model of a root agent: as asked for, of its profile or of the settings, within what its profile lets. */
  async chooseModel(
    asked: string | undefined,
    as: As | null,
  ): Promise<{ model: Model; source: ModelSource; adjustments: Adjustment[] }> {
    const { settings, models } = this.parts
    const chosen = chooseRootModel({ asked, settings: settings.model }, as?.profile ?? null)
    if (!chosen.ok) throw new RetinueError('model', chosen.message)
    const choice = chosen.name === null ? await this.#fallback() : chosen
    if (!choice) throw new RetinueError('auth', noModel(models))
    const adjustments = chosen.name === null ? unmetModel(as?.profile ?? null, choice.name) : chosen.adjustments
    return { model: await this.rootModel(choice.name), source: choice.source, adjustments }
  }

  async rootModel(name: string): Promise<Model> {
    if (name === FAN_OUT_MODEL) return fanOutModel()
    if (name === PLAN_MODEL) return planModel()
    const resolved = await this.parts.models.resolve(name)
    if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
    return resolved.model
  }

  /** Asked for only when nobody named a model: it may look for servers on this machine. */
  async #fallback(): Promise<{ name: string; source: ModelSource } | null> {
    const name = await this.parts.models.fallback()
    return name === null ? null : { name, source: 'environment' }
  }

  /** A model that sub-agents use. All of a Retinue's share one, with what is known about the health of its providers. */
  async childModel(name: string): ReturnType<Models['resolve']> {
    const known = this.#models.get(name)
    if (known) return known
    const resolved = await this.parts.models.resolve(name)
    if (resolved.ok) this.#models.set(name, resolved)
    return resolved
  }

  async place(model: Model, watching: Watching, family: Family): Promise<AgentPlace> {
    const { registry } = await this.parts.reach.open()
    return this.#place(model, watching, family, registry(listProfiles(family.catalog)))
  }

  /** For a run that is only going to be closed: no server is started for that. */
  closingPlace(model: Model, family: Family): Promise<AgentPlace> {
    return this.#place(model, {}, family, createToolRegistry(builtinTools()))
  }

  async #place(
    model: Model,
    watching: Watching,
    { launcher, trees, above, call }: Family,
    registry: ToolRegistry,
  ): Promise<AgentPlace> {
    const { host, store, settings, redactor } = this.parts
    const { workspace, repository } = await this.folder()
    const sandbox = await this.sandbox()
    return {
      store,
      clock: host.clock,
      processes: host.processes,
      http: host.http,
      sandboxed: sandbox.kind !== 'none',
      redactor,
      workspace,
      repository,
      model,
      registry: call ? withTool(registry, call) : registry,
      launcher,
      max_concurrent: settings.max_concurrent ?? DEFAULT_CONCURRENT,
      carryOut,
      trees,
      above,
      setup: this.worktrees.setup,
      limits: this.#limits,
      person: watching.person ?? null,
      elsewhere: this.parts.elsewhere,
      max_attempts: settings.max_attempts ?? 5,
      model_timeout_ms: settings.model_timeout_ms ?? 600_000,
      ...(watching.onDelta ? { onDelta: watching.onDelta } : {}),
    }
  }

  /** The person's folder, as agents work in it. */
  async folder(): Promise<Files> {
    const { host } = this.parts
    const workspace = await this.workspace()
    const repository = async () => {
      // One that is there stays; one that is not may yet be made by a command.
      const opened = this.#repository ? null : await host.git.open(workspace.root)
      if (opened?.ok) this.#repository = opened.repository
      return this.#repository
    }
    return { workspace, repository, around: null }
  }

  /** The files that agents work in. */
  async workspace(): Promise<Workspace> {
    this.#workspace ??= await this.parts.host.workspace(this.parts.cwd)
    return this.#workspace
  }

  /** What stands around commands here. */
  async sandbox(): Promise<HostFacts['sandbox']> {
    const { settings, host } = this.parts
    if (settings.sandbox === 'off') return { kind: 'none', reason: 'the sandbox is turned off (sandbox: off)' }
    return (await host.facts()).sandbox
  }

  /** What there is less of than somebody asked for. */
  notes({ servers, skills, notes }: Reached, catalog: Catalog): string[] {
    const { redactor, settings } = this.parts
    const broken = [...catalog.profiles.values()].filter(({ profile }) => profile === null).map(({ name }) => name)
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
      ...replacedRoles(catalog),
      ...(broken.length > 0 ? [`these profiles cannot be used: ${broken.join(', ')} (retinue agents says why)`] : []),
      ...notes,
    ]
  }

  async contract(
    run_id: string,
    options: RunOptions,
    place: AgentPlace,
    { source, adjustments = [], child_models = [], max_concurrent, catalog, as }: ContractChoice,
  ) {
    const { settings, reach } = this.parts
    const mode = options.mode ?? settings.mode ?? 'normal'
    const can_ask_person = options.person !== undefined
    const network = options.network ?? settings.network
    const [repository, { skills, servers }] = await Promise.all([place.repository(), reach.open()])
    const head = await repository?.head()
    const land = options.land ?? this.worktrees.land
    if (land === 'commit' && repository === null) {
      throw new RetinueError('input', 'The result cannot be committed: the folder is in no git repository')
    }
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
        adjustments,
      },
      profile: as?.profile ?? null,
      entry: as?.entry ?? null,
      budget: { ...settings.budget, ...options.budget },
      delegation: { ...this.#allowed(options), models: [...this.#childModels(catalog), ...child_models] },
      ...(max_concurrent === undefined ? {} : { max_concurrent }),
      base: head?.ok ? head.commit : null,
      ...(land === 'changes' ? {} : { land }),
    }
    const authority = rootAuthority(request)
    const about = { catalog, profile: as?.profile.profile ?? null }
    const stored = await this.prompts.root(run_id, authority, place, about)
    const derived = rootContract({ ...request, prompt_digest: stored.digest })
    if (!derived.ok) throw new RetinueError('input', derived.faults.join('; '))
    this.check(derived.contract, place)
    return { contract: derived.contract satisfies Contract, stored }
  }

  /** Whether a run may delegate, and how deep: as it asks, where the settings let it delegate at all. */
  #allowed({ delegation }: RunOptions): { enabled: boolean; max_depth: number } {
    const { enabled, max_depth } = this.delegation
    return {
      enabled: enabled && delegation?.enabled !== false,
      max_depth: delegation?.max_depth ?? max_depth,
    }
  }

  /** Models that a person's settings let sub-agents use besides their parent's. */
  #childModels({ profiles }: Catalog): string[] {
    const named = [...profiles.values()].flatMap(({ profile }) => [
      profile?.model ?? profile?.pool ?? [],
      profile?.models ?? [],
    ])
    return [...this.delegation.models, ...named.flat()]
  }

  /** Throws where this machine, now, cannot hold an agent to its contract. */
  check(contract: Contract, place: AgentPlace): void {
    const fault = this.fault(contract, place)
    if (fault !== null) throw new RetinueError('input', fault)
  }

  /** Why this machine, now, cannot hold an agent to its contract; null where it can. */
  fault(contract: Contract, place: AgentPlace): string | null {
    const priced = contract.execution.budget.cost_usd === null || place.model.price !== undefined
    const faults = unenforceable(contract, { sandboxed: place.sandboxed, priced })
    if (faults.length > 0) return `This contract cannot be enforced: ${faults.join('; ')}`
    const elsewhere = this.labelFault(contract.execution.label)
    if (elsewhere !== null) return elsewhere
    // What code goes by is written down as it is, or rules would change their meaning.
    const { permissions, model } = contract
    const exposed = this.parts.redactor.findIn(JSON.stringify([this.parts.cwd, permissions, model]))
    if (exposed.length === 0) return null
    return `The value of ${exposed.join(', ')} is part of the folder's path, the model's name or the permissions, so it cannot be kept out of the log: unset it, or give it another value`
  }

  /** Why nobody with a label can be had; null where somebody can, or is waited for. */
  labelFault(label: string | undefined): string | null {
    if (label === undefined || this.parts.labels?.includes(label) !== false) return null
    return `It needs a worker with the label ${label}, and agents run in this process: use the engine dbos, or, if this machine has what it means, list ${label} under workers.labels in your own configuration`
  }

  /** The tools that ship and those of servers, as far as the settings name them; and what they name wrongly. */
  #tools(registry: ToolRegistry): string[] {
    const { tools, mcp_tools = [] } = this.parts.settings
    const there = registry.names().filter((name) => {
      if (registry.get(name)?.server === undefined)
        return PROGRAM_TOOLS.includes(name) || (tools?.includes(name) ?? true)
      return mcp_tools.every((layer) => layer.some((pattern) => matchesWord(pattern, name)))
    })
    const absent = builtinToolNames()
    return [...there, ...(tools ?? []).filter((name) => !there.includes(name) && !absent.includes(name))]
  }
}

/** A role that a file of the project stands before is not what the person may take it for. */
function replacedRoles({ profiles }: Catalog): string[] {
  return [...profiles.values()].flatMap(({ name, source, shadows }) => {
    const fromProject = (source.kind === 'file' || source.kind === 'config') && source.scope === 'project'
    const isRole = shadows.some(({ kind }) => kind === 'role')
    return fromProject && isRole ? [`${name} is the profile in ${source.file}, not the role that ships`] : []
  })
}

function noModel(models: Models): string {
  const hints = models.available().map(({ provider, hint }) => `  ${provider}: ${hint}`)
  return [
    'No model to be had. Set one of these, or name one with --model provider/model:',
    ...hints,
    'Or look around without one: retinue demo',
  ].join('\n')
}
