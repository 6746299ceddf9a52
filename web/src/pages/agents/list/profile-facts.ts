import { type Profile, timeInWords } from '#domain'
import { limitWords } from '../../../parts/limit-words'

/** One thing that a profile says: a sentence, or names that stand for themselves. */
export type Fact = { label: string; says: string; names?: never } | { label: string; names: string[]; says?: never }

/** What a profile says of the contracts that are made from it; what decides most also where it says nothing. */
export function profileFacts(profile: Profile): Fact[] {
  const { model, pool, models, mode, isolation, can_spawn_children, may_spawn, context_share } = profile
  const choice = model ?? (pool === undefined ? "its parent's, or what is configured" : `the pool ${pool}`)
  return [
    { label: 'Model', says: choice },
    ...names('Other models', models),
    ...(profile.tools === undefined
      ? [{ label: 'Tools', says: 'all that its parent may use' }]
      : names('Tools', profile.tools)),
    ...names('Denied', profile.deny),
    ...names('Asks', profile.ask),
    ...names('Reads', profile.read_paths),
    ...names('Writes', profile.write_paths),
    ...names('Skills', profile.skills),
    ...names('MCP servers', profile.mcp_servers),
    ...(mode === undefined ? [] : [{ label: 'Mode', says: mode }]),
    ...(isolation === undefined ? [] : [{ label: 'Isolation', says: isolation.replace('_', ' ') }]),
    ...budgetFacts(profile),
    ...(context_share === undefined ? [] : [{ label: 'Context', says: `${context_share} % of the model's window` }]),
    ...(may_spawn !== undefined
      ? names('Sub-agents', may_spawn)
      : can_spawn_children === undefined
        ? []
        : [{ label: 'Sub-agents', says: can_spawn_children ? 'yes' : 'no' }]),
    ...(profile.max_retries === undefined ? [] : [{ label: 'Retries', says: String(profile.max_retries) }]),
    ...(profile.label === undefined ? [] : [{ label: 'Worker', says: `with the label ${profile.label}` }]),
    ...(profile.cache === undefined
      ? []
      : [{ label: 'Same task again', says: profile.cache ? 'gets the earlier result' : 'is worked on again' }]),
    ...names('Files', profile.bootstrap_files),
    ...(profile.system_prompt_file === undefined ? [] : [{ label: 'Prompt file', says: profile.system_prompt_file }]),
  ]
}

function names(label: string, list: string[] | undefined): Fact[] {
  if (list === undefined) return []
  return [list.length === 0 ? { label, says: 'none' } : { label, names: list }]
}

/** Short, for a list: what it may spend. */
export function budgetWords({ budget = {}, attempt_timeout_ms }: Profile): string[] {
  const attempt = attempt_timeout_ms === undefined ? [] : [`${timeInWords(attempt_timeout_ms)} for an attempt`]
  return [...limitWords(budget), ...attempt]
}

function budgetFacts(profile: Profile): Fact[] {
  const words = budgetWords(profile)
  return [{ label: 'Budget', says: words.join(', ') || 'of what its parent has left' }]
}
