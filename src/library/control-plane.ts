import {
  agentsCommands,
  type Catalog,
  type Command,
  type CommandResult,
  type ControlCall,
  type ControlDone,
  type ControlPlace,
  executed,
  helpCommand,
  LEAST,
  loadRegistry,
  type MoreProfileFaults,
  type Principals,
  pinProfile,
  principalOf,
  putProfile,
  registerAgent,
  registryHistory,
  removeProfile,
  replaceRegistry,
  runCommand,
  showAgent,
  unpinProfile,
  unregisterAgent,
  viewAgents,
  workspaceId,
} from '../control/index.js'
import {
  type AgentRegistry,
  type ControlEvent,
  leastToPin,
  ofNewestCommands,
  type PinScope,
  type Principal,
  plainText,
  quoted,
  type Records,
  type Redactor,
  type RegistryEntry,
} from '../domain/index.js'
import type { ControlRecord } from '../store/index.js'
import type { AgentsView, Control, PinView, ProfileView } from './api.js'
import { RetinueError } from './errors.js'

export type ControlParts = {
  records: Records
  /** Before everything: rejects where what is in the records is not to be believed. Default: it is. */
  check?: () => Promise<void>
  catalog: () => Promise<Catalog>
  principal: Principal
  /** The real path of the folder that runs work in. */
  workspace_root: string
  /** null: there is no such session in the store. */
  session: (session_id: string) => Promise<{ owner: string | null } | null>
  redactor: Redactor
  now: () => number
  /** For requests in the control log. */
  new_id: () => string
  /** What is wrong with a profile as far as tools, models and files go. Default: that is not asked. */
  profile_faults?: MoreProfileFaults
}

/** Who asks, or a `RetinueError`. `name` undefined: the person whose process this is. */
export function principalFor(name: string | undefined, principals: Principals): Principal {
  const found = principalOf(name, principals)
  if (!found.ok) throw new RetinueError(found.code, found.message)
  return found.principal
}

/** The control plane over a store, as one principal may see and change it. */
export function createControl(parts: ControlParts): Control {
  return new StoreControl(parts)
}

type Place = { session_id?: string }

function commandsIn(place: ControlPlace, more: readonly Command[]): Command[] {
  const commands = [...agentsCommands(place), ...more]
  return more.some(({ name }) => name === 'help') ? commands : [helpCommand(commands), ...commands]
}

class StoreControl implements Control {
  readonly principal: Principal
  readonly #parts: ControlParts
  readonly #workspace: string

  constructor(parts: ControlParts) {
    this.#parts = parts
    this.principal = parts.principal
    this.#workspace = workspaceId(parts.workspace_root)
  }

  agents(place?: Place): Promise<AgentsView> {
    return this.#do({ command: 'agents', given: '', least: LEAST.agents, looks: true }, viewAgents, place)
  }

  show(name: string): Promise<{ profile: ProfileView; entry: RegistryEntry | null }> {
    const call = { command: 'agents show', given: text(name), least: LEAST['agents show'], looks: true }
    return this.#do(call, (place) => showAgent(place, text(name)))
  }

  registry(): Promise<{ version: number; value: AgentRegistry }> {
    const call = { command: 'agents registry', given: '', least: LEAST['agents registry'], looks: true }
    return this.#do(call, (place) => loadRegistry(place.records))
  }

  putRegistry(value: unknown, expected_version: number): Promise<{ version: number; value: AgentRegistry }> {
    const given = `--expect ${expected_version}`
    const call = { command: 'agents registry put', given, least: LEAST['agents registry put'] }
    return this.#do(call, (place) => replaceRegistry(place, value, expected_version))
  }

  register(entry: RegistryEntry, options: { keep?: boolean } = {}): Promise<{ version: number; value: AgentRegistry }> {
    const { agentId, profileId, description, ...lists } = { ...entry }
    const named = Object.entries(lists).map(([field, names]) => `${field}: ${listed(names)}`)
    const given = [agentId, profileId, description, ...named].map(text).join(' | ')
    const call = { command: 'agents register', given, least: LEAST['agents register'] }
    return this.#do(call, (place) => registerAgent(place, entry, options))
  }

  unregister(handle: string): Promise<{ version: number; value: AgentRegistry }> {
    const call = { command: 'agents unregister', given: text(handle), least: LEAST['agents unregister'] }
    return this.#do(call, (place) => unregisterAgent(place, text(handle)))
  }

  history(profile?: string): Promise<ControlRecord[]> {
    const name = profile === undefined ? undefined : text(profile)
    const call = { command: 'agents history', given: name ?? '', least: LEAST['agents history'], looks: true }
    return this.#do(call, (place) => registryHistory(place, name))
  }

  putProfile(name: string, profile: unknown, expected_version?: number): Promise<ControlRecord> {
    const given = `${text(name)}${expected_version === undefined ? '' : ` --expect ${text(expected_version)}`}`
    const call = { command: 'agents put', given, least: LEAST['agents put'] }
    const more = this.#parts.profile_faults ?? (() => [])
    return this.#do(call, (place) => putProfile(place, { name, profile, expected_version }, more))
  }

  removeProfile(name: string): Promise<ControlRecord> {
    const call = { command: 'agents remove', given: text(name), least: LEAST['agents remove'] }
    return this.#do(call, (place) => removeProfile(place, name))
  }

  pin(name: string, scope: PinScope, place?: Place): Promise<PinView> {
    const given = `${text(name)} --${text(scope)}`
    const call = { command: 'agents pin', given, least: leastToPin(scope), what: `agents pin --${text(scope)}` }
    return this.#do(call, (here) => pinProfile(here, text(name), scope), place)
  }

  unpin(scope: PinScope, place?: Place): Promise<PinView> {
    const given = `--${text(scope)}`
    const call = { command: 'agents unpin', given, least: leastToPin(scope), what: `agents unpin ${given}` }
    return this.#do(call, (here) => unpinProfile(here, scope), place)
  }

  async execute(line: string, place?: Place, more: readonly Command[] = []): Promise<CommandResult> {
    await this.#parts.check?.()
    const here = this.#place(place)
    return runCommand(commandsIn(here, more), text(line), here)
  }

  commands(more: readonly Command[] = []): Command[] {
    return commandsIn(this.#place(), more)
  }

  /** As it was before this look at it. */
  log({ last }: { last?: number } = {}): Promise<ControlEvent[]> {
    const given = last === undefined ? '' : `--last ${text(last)}`
    return this.#do({ command: 'audit', given, least: LEAST.audit, looks: true }, async ({ records }) => {
      if (last !== undefined && !Number.isSafeInteger(last)) {
        return { ok: false, code: 'input', message: `last must be a whole number, not ${quoted(last)}` }
      }
      // A command has two events at most, so those of the newest are among twice as many.
      const read = await records.readControl(last === undefined ? {} : { last: 2 * last })
      const events = last === undefined ? read : ofNewestCommands(read, last)
      return { ok: true, value: events, said: `${events.length} events.` }
    })
  }

  async #do<T>(
    { looks = false, ...call }: ControlCall & { looks?: boolean },
    work: (place: ControlPlace) => Promise<ControlDone<T>>,
    given: Place = {},
  ): Promise<T> {
    await this.#parts.check?.()
    const place = this.#place(given)
    const result = await executed<{ value: T; said: string }>(place, call, () => {
      return { ok: true, looks, work: () => work(place) }
    })
    if (result.ok) return result.value
    throw new RetinueError(result.code, plainText(this.#parts.redactor.redact(result.message)))
  }

  #place({ session_id }: Place = {}): ControlPlace {
    const { records, catalog, principal, session, redactor, now, new_id } = this.#parts
    const workspace = this.#workspace
    return { records, catalog, principal, session, redactor, now, new_id, workspace, session_id: session_id ?? null }
  }
}

function listed(names: unknown): string {
  if (!Array.isArray(names)) return typeof names
  return names.map((name) => (typeof name === 'string' ? name : typeof name)).join(', ') || 'none'
}

/** Programs in plain JavaScript give anything. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}
