import {
  agentsText,
  agentText,
  type Control,
  PIN_SCOPES,
  type PinScope,
  type RegistryEntry,
  type Retinue,
  RetinueError,
} from '../../index.js'
import { EXIT } from '../exit.js'
import { textOf } from '../input.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { line, paintFor } from '../style.js'
import { profileFrom } from './agents-profile.js'

type Options = StoreOptions & { as?: string; json?: boolean }
type ScopeOptions = Options & { session?: string; user?: boolean; workspace?: boolean; global?: boolean }

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Does something in the name of a principal, and prints what came of it as text or JSON. */
async function withControl<T>(
  options: Options,
  work: (control: Control, retinue: Retinue) => Promise<T>,
  text: (value: T) => string,
): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const value = await work(retinue.control(options.as), retinue)
    say(options.json ? JSON.stringify(value) : text(value))
    return EXIT.ok
  })
}

export function agentsList(options: Options & { session?: string }): Promise<number> {
  return withControl(options, async (control, retinue) => control.agents(await sessionOf(retinue, options)), agentsText)
}

export function agentsShow(name: string, options: Options): Promise<number> {
  return withControl(options, (control) => control.show(name), agentText)
}

type EntryOptions = Options & {
  tag?: string[]
  skills?: string
  allowedSkills?: string
  mcp?: string
  allowedMcp?: string
}

export function agentsRegister(
  agentId: string,
  profileId: string,
  description: string,
  options: EntryOptions,
): Promise<number> {
  const { tag, skills, allowedSkills, mcp, allowedMcp } = options
  const entry: RegistryEntry = {
    ...{ agentId, profileId, description },
    ...(skills === undefined ? {} : { defaultForwardSkills: names(skills) }),
    ...(allowedSkills === undefined ? {} : { allowedForwardSkills: names(allowedSkills) }),
    ...(mcp === undefined ? {} : { defaultMcpServers: names(mcp) }),
    ...(allowedMcp === undefined ? {} : { allowedMcpServers: names(allowedMcp) }),
    ...(tag === undefined ? {} : { tags: tag }),
  }
  return withControl(
    options,
    (control) => control.register(entry, { keep: true }),
    ({ version, value }) => {
      const stored = value.agents.find((agent) => agent.agentId === agentId) ?? entry
      const kept = Object.keys(stored).filter((field) => !Object.hasOwn(entry, field))
      const as_before = kept.length > 0 ? ` As before: ${kept.join(', ')}.` : ''
      return `${agentId} is registered with the profile ${profileId} (version ${version} of the registry).${as_before}`
    },
  )
}

/** An empty text is an empty list: none. */
function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

export function agentsUnregister(handle: string, options: Options): Promise<number> {
  return withControl(
    options,
    (control) => control.unregister(handle),
    ({ version }) => `${handle} is not registered any more (version ${version} of the registry).`,
  )
}

export async function agentsPin(name: string, options: ScopeOptions): Promise<number> {
  const scope = scopeOf(options)
  if (scope === null) return EXIT.usage
  return withControl(
    options,
    async (control, retinue) => control.pin(name, scope, await sessionToPinIn(retinue, options)),
    ({ profile_id }) =>
      `${profile_id} is pinned for ${WHOM[scope]}. Take it back with: retinue agents unpin ${flag(scope, options)}`,
  )
}

export async function agentsUnpin(options: ScopeOptions): Promise<number> {
  const scope = scopeOf(options)
  if (scope === null) return EXIT.usage
  return withControl(
    options,
    async (control, retinue) => control.unpin(scope, await sessionToPinIn(retinue, options)),
    ({ profile_id }) => `${profile_id} is not pinned any more for ${WHOM[scope]}.`,
  )
}

const WHOM: Record<PinScope, string> = {
  session: 'the session',
  user: 'you',
  workspace: 'this folder',
  global: 'everybody who uses this store',
}

/** In a chat the session is the one that is talked in; here somebody has to say what is meant. */
function scopeOf(options: ScopeOptions): PinScope | null {
  const given = PIN_SCOPES.filter((scope) => options[scope] !== undefined)
  const [scope] = given
  if (scope && given.length === 1) return scope
  const which = '--session <id>, --user, --workspace or --global'
  const fault = given.length > 1 ? 'A pin has one scope' : 'Say where it holds'
  process.stderr.write(`retinue: ${fault}: ${which}\n`)
  return null
}

function flag(scope: PinScope, { session }: ScopeOptions): string {
  return scope === 'session' ? `--session ${session}` : `--${scope}`
}

/** Also by the beginning of its id, or by one of its runs. */
async function sessionOf(retinue: Retinue, { session }: { session?: string }): Promise<{ session_id?: string }> {
  return session === undefined ? {} : { session_id: (await retinue.sessions.find(session)).session_id }
}

/** One that is not found is refused, and written to the log, where it is asked for. */
async function sessionToPinIn(retinue: Retinue, options: ScopeOptions): Promise<{ session_id?: string }> {
  return sessionOf(retinue, options).catch((error: unknown) => {
    if (error instanceof RetinueError && options.session !== undefined) return { session_id: options.session }
    throw error
  })
}

export async function agentsPut(name: string, file: string, options: Options & { expect?: number }): Promise<number> {
  const profile = await profileFrom(file, options)
  return withControl(
    options,
    (control) => inFile(file, control.putProfile(name, profile, options.expect)),
    ({ version }) => `The profile ${name} is in the store (version ${version}).`,
  )
}

export function agentsRemove(name: string, options: Options): Promise<number> {
  return withControl(
    options,
    (control) => control.removeProfile(name),
    () => `The profile ${name} is not in the store any more.`,
  )
}

export function agentsHistory(profile: string | undefined, options: Options): Promise<number> {
  const { dim } = paintFor(process.stdout, process.env)
  return withControl(
    options,
    (control) => control.history(profile),
    (records) =>
      records
        .map(({ version, by, at, value }) => {
          const when = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
          return `${String(version).padStart(4)}  ${when}  ${line(by).padEnd(12)} ${dim(profile === undefined ? handlesIn(value) : summaryOf(value))}`
        })
        .join('\n') || `${profile === undefined ? 'The registry' : `The profile ${line(profile)}`} was never written.`,
  )
}

function handlesIn(value: unknown): string {
  const { agents = [] } = (value ?? {}) as { agents?: RegistryEntry[] }
  return agents.map(({ agentId }) => agentId).join(', ') || 'no agents'
}

function summaryOf(value: unknown): string {
  return value === null ? 'removed' : line((value as { description?: string }).description ?? '')
}

/** What is wrong with what a file says is told with the name of the file. */
async function inFile<T>(file: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof RetinueError) || error.code !== 'input') throw error
    throw new RetinueError('input', `${file === '-' ? 'stdin' : file}: ${error.message}`)
  })
}

/** Prints the registry as its JSON is written; with `set` it is replaced by that of a file. */
export async function agentsRegistry(options: Options & { set?: string; expect?: number }): Promise<number> {
  const { set, expect } = options
  if (set === undefined) {
    return withControl(
      options,
      (control) => control.registry(),
      ({ value }) => JSON.stringify(value, null, 2),
    )
  }
  const text = await textOf(set)
  return withControl(
    options,
    async (control) => inFile(set, control.putRegistry(text, expect ?? (await control.registry()).version)),
    ({ version, value }) => `The registry has ${value.agents.length} agents now (version ${version}).`,
  )
}
