import type { Profile } from '../../domain/index.js'
import type { ParsedAgent } from './parse.js'

/**
 * An agent as a file of ours: our keys, then those that mean nothing here, then the prompt, byte for byte as it was.
 * Read again, it is the same profile.
 */
export async function nativeText(agent: ParsedAgent & { profile: Profile }): Promise<string> {
  const { stringify } = await import('yaml')
  const { description, system_prompt, ...fields } = agent.profile
  const ours = { name: agent.name, ...(description === undefined ? {} : { description }), ...fields }
  const header = stringify({ ...agent.kept, ...ours }, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries })
  const body = agent.body.trim() === '' && system_prompt !== undefined ? `\n${system_prompt}\n` : agent.body
  return `---\n${header}---\n${body}`

  function sortMapEntries(a: { key: unknown }, b: { key: unknown }): number {
    return place(a.key) - place(b.key)
  }
  /** Ours first; inside other mappings nothing is moved. */
  function place(key: unknown): number {
    const name = typeof key === 'object' && key !== null && 'value' in key ? String(key.value) : String(key)
    const at = Object.keys(ours).indexOf(name)
    return at === -1 ? Object.keys(ours).length : at
  }
}
