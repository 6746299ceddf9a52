import { jsonFault } from '#domain'
import { endOfAgents } from './places'

/** What is written where for another agent, and what of it is to be filled in first. null: the text is no registry. */
export function newAgent(text: string): { at: number; text: string; select: { from: number; to: number } } | null {
  const end = jsonFault(text) === null ? endOfAgents(text) : null
  if (end === null) return null
  const fields = ['"agentId": "@"', '"profileId": ""', '"description": ""']
  const entry = `    {\n${fields.map((field) => `      ${field}`).join(',\n')}\n    }`
  const closing =
    end.is_first && /^\s*\]/.test(text.slice(end.at)) && !text.slice(end.at).startsWith('\n') ? '\n  ' : ''
  const written = `${end.is_first ? '' : ','}\n${entry}${closing}`
  const handle = written.indexOf('"@"') + 2
  return { at: end.at, text: written, select: { from: handle, to: handle } }
}
