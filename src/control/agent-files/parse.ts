import { posix } from 'node:path'
import { type Budget, budgetFaults, type Profile, plainLine, profileFaults, quoted } from '../../domain/index.js'
import { createDraft, type Draft, type FieldReport, keep, note, refuse, type Scope, took } from './draft.js'
import { readField } from './fields.js'
import { LINES_ABOVE, readHeader, roughName, splitFile } from './front-matter.js'
import { readName, slug } from './name.js'
import type { AgentFileSurroundings } from './surroundings.js'
import { settleTools } from './tools-field.js'

type AgentFile = {
  /** As a person writes it, for messages. */
  shown: string
  /** The name of the file itself. */
  base: string
  text: string
  /** Whose file it is. A project's may be a stranger's. */
  scope: Scope
  /** Its folder in the project, with `/`; null where it is not in the project. */
  folder: string | null
}

/** What a file came to. `disabled`: it says that it is not to be used. */
export type ParsedAgent = {
  name: string
  notes: string[]
  kept: Record<string, unknown>
  /** What became of each key, in the order of the file. */
  fields: FieldReport[]
  /** What stands below the header, byte for byte. */
  body: string
} & ({ profile: Profile; fault: null; disabled: boolean } | { profile: null; fault: string; disabled: false })

const MAX_FAULTS = 8
/** More than the parser of YAML takes, so that its own message, which speaks of a file, is not needed. */
const MAX_HEADER = 32 * 1024

export async function parseAgentFile(file: AgentFile, surroundings: AgentFileSurroundings): Promise<ParsedAgent> {
  const split = splitFile(file.text)
  const broken = (line: number, message: string, header = ''): ParsedAgent => ({
    name: slug(roughName(header) ?? fileName(file.base)),
    notes: [],
    kept: {},
    fields: [],
    body: split.ok ? split.body : '',
    profile: null,
    fault: at(file, line, message),
    disabled: false,
  })
  if (!split.ok) return broken(split.line, split.message)
  if (split.header.length > MAX_HEADER) {
    return broken(2, `its YAML is longer than ${MAX_HEADER} characters: put the prompt below it`)
  }
  const { yaml, note: mended } = await readHeader(file.shown, split.header)
  const [problem] = yaml.problems
  if (problem) return broken(problem.line + LINES_ABOVE, problem.message, split.header)
  const value = yaml.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    return broken(2, 'its YAML must be keys with values, such as description: what it is good for')
  }
  const draft = createDraft(file.scope, surroundings, yaml)
  if (mended !== null) note(draft, 'description', mended)
  const { name = fileName(file.base), ...keys } = value as Record<string, unknown>
  const named = readName(name)
  if (!named.ok) refuse(draft, ['name'], named.message)
  else if (named.note !== null) note(draft, 'name', named.note)
  const disabled = keys.disable === true || keys.disabled === true
  // What `permission` says is held against what the other keys say, wherever it stands.
  const { permission, ...others } = keys
  for (const [key, item] of Object.entries(permission === undefined ? others : { ...others, permission })) {
    if (key === 'disable' || key === 'disabled') readDisabled(draft, key, item)
    else if (key !== 'prompt' && key !== 'system_prompt') readField(draft, key, item)
  }
  readPrompt(draft, keys, split.body, file)
  settleTools(draft)
  settleLimits(draft)
  return {
    name: named.ok ? named.name : slug(typeof name === 'string' ? name : fileName(file.base)),
    notes: [...draft.notes, ...keptNote(draft)],
    kept: draft.kept,
    fields: draft.fields,
    body: split.body,
    ...outcome(draft, file, disabled),
  }
}

function outcome(draft: Draft, file: AgentFile, disabled: boolean) {
  if (draft.faults.length === 0) return { profile: draft.profile, fault: null, disabled }
  const faults = [...draft.faults].sort((a, b) => a.line - b.line)
  const lines = [...new Set(faults.map(({ line, message }) => at(file, line, message)))]
  const more = lines.length > MAX_FAULTS ? [`and ${lines.length - MAX_FAULTS} more`] : []
  return { profile: null, fault: [...lines.slice(0, MAX_FAULTS), ...more].join('\n'), disabled: false as const }
}

function at({ shown }: AgentFile, line: number, message: string): string {
  return `${shown}:${line}: ${message}`
}

function fileName(base: string): string {
  return base.replace(/\.(?:md|markdown)$/i, '')
}

function readDisabled(draft: Draft, key: string, value: unknown) {
  if (typeof value !== 'boolean') return refuse(draft, [key], `${key} must be true or false, not ${quoted(value)}`)
  if (value) return note(draft, key, 'it is turned off, and not there')
  took(draft, key, 'false')
}

/** Below the header; or in it, where nothing is below. */
function readPrompt(draft: Draft, keys: Record<string, unknown>, body: string, file: AgentFile) {
  const below = body.trim()
  if (below !== '') draft.profile.system_prompt = below
  for (const key of ['system_prompt', 'prompt']) {
    const text = keys[key]
    if (text === undefined) continue
    if (typeof text !== 'string') refuse(draft, [key], `${key} must be text, not ${quoted(text)}`)
    else if (below !== '' && key === 'prompt') keep(draft, key, text, 'what stands below the header is said instead')
    else if (below !== '') refuse(draft, [key], 'there is a prompt below the header, too: say it there')
    else if (/\{file:[^}]*\}|\{env:[^}]*\}/.test(text)) readReference(draft, key, text.trim(), file)
    else {
      draft.profile.system_prompt = text.trim()
      took(draft, key, 'the prompt')
    }
  }
}

/** opencode's `{file:./prompt.md}`, relative to the agent file. */
function readReference(draft: Draft, key: string, text: string, { folder }: AgentFile) {
  const written = /^\{file:\s*([^}]+?)\s*\}$/.exec(text)?.[1]
  if (written === undefined) {
    return refuse(draft, [key], `${key}: only {file:...} alone is understood: put the text below the header`)
  }
  const path = folder === null || /^[~/]/.test(written) ? null : posix.join(folder, written.replaceAll('\\', '/'))
  if (path === null || path === '..' || path.startsWith('../')) {
    const message = `${key}: ${quoted(written)} is not in the project, and a prompt can be read from nowhere else: put the text below the header`
    return refuse(draft, [key], message)
  }
  draft.profile.system_prompt_file = path
  took(draft, key, `system_prompt_file: ${path}`)
}

function settleLimits(draft: Draft) {
  const { profile, scope, surroundings } = draft
  for (const { path, message } of profileFaults(profile)) refuse(draft, path, message)
  for (const message of budgetFaults(profile.budget ?? {})) {
    refuse(draft, ['budget', message.split(' ', 1)[0] as string], message)
  }
  const fixed = scope === 'project' ? surroundings.fixed : undefined
  for (const [name, most] of Object.entries(fixed?.budget ?? {}) as [keyof Budget, number | null | undefined][]) {
    const asked = profile.budget?.[name]
    if (asked === undefined || most == null || (asked !== null && asked <= most)) continue
    profile.budget = { ...profile.budget, [name]: most }
    note(draft, `budget.${name}`, `${asked ?? 'no limit'} becomes ${most}, which is fixed in your own file`)
  }
  if (fixed?.max_retries !== undefined && (profile.max_retries ?? 0) > fixed.max_retries) {
    profile.max_retries = fixed.max_retries
    note(draft, 'max_retries', `it becomes ${fixed.max_retries}, which is fixed in your own file`)
  }
  // How many tokens a share comes to is known only with the model, so any of it may be more than what is fixed.
  const most = fixed?.budget?.context_tokens
  if (most != null && profile.context_share !== undefined) {
    const message = `a project's file cannot fill ${profile.context_share} % of a model's window, where your file has ${most} context_tokens: write budget.context_tokens, or put the agent into your home folder`
    refuse(draft, ['context_share'], message)
  }
}

/** One line for all keys that nobody here reads. */
function keptNote({ kept, notes }: Draft): string[] {
  const silent = Object.keys(kept).filter((key) => !notes.some((text) => text.startsWith(`${key}: `)))
  return silent.length === 0
    ? []
    : [`kept, without a meaning here: ${silent.map((key) => plainLine(key, 40)).join(', ')}`]
}
