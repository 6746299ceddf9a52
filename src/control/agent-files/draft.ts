import type { Profile } from '../../domain/index.js'
import { plainLine } from '../../domain/index.js'
import type { YamlFile } from '../config/yaml.js'
import type { Path } from '../config/yaml-nodes.js'
import { LINES_ABOVE } from './front-matter.js'
import type { AgentFileSurroundings } from './surroundings.js'

/** What became of one key of a file. `left_out`: it is not there any more, and `text` says why. */
export type FieldReport = { key: string; state: 'taken' | 'kept' | 'left_out' | 'refused'; text: string }

/** What is wrong, with the line of the file. */
export type FileFault = { line: number; message: string }

export type Scope = 'project' | 'home'

/** A file while it is read: what its keys have come to so far. */
export type Draft = {
  scope: Scope
  surroundings: AgentFileSurroundings
  profile: Profile
  /** Entries of its list of tools under our names; null: it has none, and inherits. */
  tools: string[] | null
  deny: string[]
  ask: string[]
  /** Somewhere it says that it may have no sub-agents, whatever else it says. */
  no_spawn: boolean
  kept: Record<string, unknown>
  notes: string[]
  faults: FileFault[]
  fields: FieldReport[]
  yaml: YamlFile
}

export function createDraft(scope: Scope, surroundings: AgentFileSurroundings, yaml: YamlFile): Draft {
  const empty = { deny: [], ask: [], no_spawn: false, kept: {}, notes: [], faults: [], fields: [] }
  return { scope, surroundings, yaml, profile: {}, tools: null, ...empty }
}

export function refuse(draft: Draft, path: Path, message: string, at: 'key' | 'value' = 'value'): void {
  draft.faults.push({ line: draft.yaml.locate(path, at).line + LINES_ABOVE, message })
  draft.fields.push({ key: String(path[0]), state: 'refused', text: message })
}

/** Something that a person should know about how a key was understood. */
export function note(draft: Draft, key: string, text: string): void {
  draft.notes.push(`${key}: ${text}`)
}

/** `text`: what it has become. */
export function took(draft: Draft, key: string, text: string): void {
  draft.fields.push({ key, state: 'taken', text })
}

export function leaveOut(draft: Draft, key: string, text: string): void {
  note(draft, key, text)
  draft.fields.push({ key, state: 'left_out', text })
}

/** `text`: why it means nothing here. */
export function keep(draft: Draft, key: string, value: unknown, text?: string): void {
  draft.kept[key] = value
  if (text !== undefined) note(draft, key, text)
  draft.fields.push({ key, state: 'kept', text: text ?? 'means nothing here' })
}

/** A list that several keys may have: what each of them names. An empty one stays empty. */
export function narrowList(
  draft: Draft,
  field: 'may_spawn' | 'skills' | 'mcp_servers',
  names: readonly string[],
): void {
  const before = draft.profile[field]
  draft.profile[field] = [...new Set(names)].filter((name) => before?.includes(name) ?? true)
}

/** A value as a person reads it in a line. */
export function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ') || 'none'
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => `${plainLine(key, 60)}: ${inWords(item)}`)
      .join(', ')
  }
  return plainLine(String(value), 200)
}

/** Names in one text, apart by commas or blanks that are not in parentheses. */
function splitNames(text: string): string[] {
  const names: string[] = []
  let depth = 0
  let name = ''
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth = Math.max(0, depth - 1)
    if (depth === 0 && /[,\s]/.test(char)) {
      if (name !== '') names.push(name)
      name = ''
    } else name += char
  }
  return name === '' ? names : [...names, name]
}

/** A list of names, as a list or in one text; a message where it is neither. Each has the path of its item. */
export function readNames(
  key: string,
  value: unknown,
): { ok: true; names: { name: string; path: Path }[] } | { ok: false; path: Path; message: string } {
  const unclear = (path: Path, message: string) => ({ ok: false as const, path, message })
  if (value === null || value === '') {
    return unclear([key], `${key} has no value: write [] for none, or remove it to inherit`)
  }
  if (typeof value === 'string') return { ok: true, names: splitNames(value).map((name) => ({ name, path: [key] })) }
  if (!Array.isArray(value)) return unclear([key], `${key} must be a list of names`)
  const names: { name: string; path: Path }[] = []
  for (const [i, item] of value.entries()) {
    if (typeof item !== 'string') return unclear([key, i], `${key}: each entry must be a name`)
    names.push(...splitNames(item).map((name) => ({ name, path: [key, i] })))
  }
  return { ok: true, names }
}
