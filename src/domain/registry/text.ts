import { jsonFault } from './json.js'
import { type ReadRegistry, readRegistry } from './read.js'

/** Room for as many agents as there may be, with all that each may have. */
const LONGEST = 2_000_000

/** Reads a registry from the text of its JSON. Where it is no JSON, the fault says line and column. */
export function parseRegistryText(text: string, profileIds: Iterable<string> | null): ReadRegistry {
  const source = text.replace(/^\ufeff/, '')
  if (source.length > LONGEST) {
    return no(`the text has ${source.length} characters: a registry has at most ${LONGEST}`)
  }
  const fault = jsonFault(source)
  if (fault) return no(`line ${fault.line}, column ${fault.column}: this is no JSON: ${fault.message}`)
  return readRegistry(JSON.parse(source), profileIds)
}

function no(message: string): ReadRegistry {
  return { ok: false, faults: [{ path: '', message }] }
}
