import { jsonFault, parseRegistryText, type RegistryFault } from '#domain'
import type { ProfileView } from '../data'
import { placesIn } from './places'

/**
 * What is wrong with the text of a registry, in the server's words, and where in the text. What is only warned of is
 * stored all the same.
 */
export type TextFault = RegistryFault & { from: number; to: number; line: number; severity: 'error' | 'warning' }

type Known = Pick<ProfileView, 'name' | 'fault'>

/** `profiles` null: it is not known which there are. */
export function textFaults(text: string, profiles: readonly Known[] | null): TextFault[] {
  const syntax = syntaxFault(text)
  if (syntax) return [syntax]
  const placed = placing(text)
  return [
    ...faultsOf(text, profiles).map((fault) => placed(fault, 'error')),
    ...brokenProfiles(text, profiles ?? []).map((fault) => placed(fault, 'warning')),
  ].sort((a, b) => a.from - b.from)
}

function faultsOf(text: string, profiles: readonly Known[] | null): RegistryFault[] {
  const read = parseRegistryText(text, profiles?.map(({ name }) => name) ?? null)
  return read.ok ? [] : read.faults
}

/** Agents whose profile is there and cannot be used: they can be stored, and whoever asks for them is refused. */
function brokenProfiles(text: string, profiles: readonly Known[]): RegistryFault[] {
  const agents = (JSON.parse(withoutMark(text)) as { agents?: unknown } | null)?.agents
  if (!Array.isArray(agents)) return []
  return agents.flatMap((agent: { profileId?: unknown } | null, i) => {
    const found = profiles.find(({ name }) => name === agent?.profileId)
    if (!found || found.fault === null) return []
    return [{ path: `agents[${i}].profileId`, message: `the profile ${found.name} is broken: ${found.fault}` }]
  })
}

function placing(text: string): (fault: RegistryFault, severity: TextFault['severity']) => TextFault {
  const place = placesIn(text)
  return (fault, severity) => {
    const { from, to } = place(fault)
    return { ...fault, from, to, line: lineAt(text, from), severity }
  }
}

function syntaxFault(text: string): TextFault | null {
  const found = jsonFault(withoutMark(text))
  if (!found) return null
  const lines = text.split('\n').slice(0, found.line)
  const last = lines.pop() ?? ''
  // The column counts code points, as people do; places in a text are counted in units of UTF-16.
  const column = [...last].slice(0, found.column - 1).join('').length
  const from = Math.min(lines.reduce((sum, line) => sum + line.length + 1, 0) + column, text.length)
  const message = `line ${found.line}, column ${found.column}: this is no JSON: ${found.message}`
  return { path: '', message, from, to: Math.min(from + 1, text.length), line: found.line, severity: 'error' }
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

/** `agents[0].agentId: …`, as the server says it. */
export function faultInWords({ path, message }: RegistryFault): string {
  return path === '' ? message : `${path}: ${message}`
}
