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
    (control) => control.register(entry),
    ({ version }) => `${agentId} is registered with the profile ${profileId} (version ${version} of the registry).`,
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
    async (control, retinue) => control.pin(name, scope, await sessionOf(retinue, options)),
    ({ profile_id }) =>
      `${profile_id} is pinned for ${WHOM[scope]}. Take it back with: retinue agents unpin ${flag(scope, options)}`,
  )
}

export async function agentsUnpin(options: ScopeOptions): Promise<number> {
  const scope = scopeOf(options)
  if (scope === null) return EXIT.usage
  return withControl(
    options,
    async (control, retinue) => control.unpin(scope, await sessionOf(retinue, options)),
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

export async function agentsPut(name: string, file: string, options: Options & { expect?: number }): Promise<number> {
  const profile = await profileFrom(file, options)
  return withControl(
    options,
    async (control, retinue) => {
      const before = options.expect ?? (await retinue.store.record('profile', name))?.version ?? 0
      return control.putProfile(name, profile, before)
    },
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

export function agentsHistory(options: Options): Promise<number> {
  const { dim } = paintFor(process.stdout, process.env)
  return withControl(
    options,
    (control) => control.history(),
    (records) =>
      records
        .map(({ version, by, at, value }) => {
          const handles = ((value as { agents?: RegistryEntry[] } | null)?.agents ?? []).map(({ agentId }) => agentId)
          const when = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
          return `${String(version).padStart(4)}  ${when}  ${line(by).padEnd(12)} ${dim(handles.join(', ') || 'no agents')}`
        })
        .join('\n') || 'The registry was never written.',
  )
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
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RetinueError('input', `${set === '-' ? 'stdin' : set} is no JSON: ${(error as Error).message}`)
  }
  return withControl(
    options,
    async (control) => control.putRegistry(value, expect ?? (await control.registry()).version),
    ({ version, value }) => `The registry has ${value.agents.length} agents now (version ${version}).`,
  )
}
