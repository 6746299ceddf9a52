import { nearest, quoted } from '../../domain/index.js'
import { isScripted, poolNameFault, sameModel } from '../config/models.js'
import type { Path } from '../config/yaml-nodes.js'
import { type Draft, keep, note, refuse, took } from './draft.js'

/** Names that others give to whatever model is the newest of its size. */
const SIZES = /^(?:sonnet|opus|haiku|fable|mythos|opusplan|best|default|auto|pro|flash|flash-lite)$/i
const PROVIDERS: readonly [RegExp, string][] = [
  [/^claude-/, 'anthropic'],
  [/^(?:gpt-|o\d|codex-|chatgpt-)/, 'openai'],
  [/^gemini-/, 'google'],
]

/** `model`: a pool, `provider/model`, an id whose provider is plain to see, or a word of another tool. */
export function readModel(draft: Draft, key: string, value: unknown) {
  if (typeof value !== 'string' || value.trim() === '') {
    return refuse(draft, [key], `${key} must be provider/model or the name of a pool, not ${quoted(value)}`)
  }
  // Claude Code says the size of the window with the model.
  const written = value.trim().replace(/\[1m\]$/i, '')
  if (written === 'inherit') return took(draft, key, 'inherit -> that of its parent')
  const model = modelFor(draft, written)
  if (model !== null) {
    if (!mayChoose(draft, [key], model)) return
    draft.profile.model = model
    if (model !== written) note(draft, key, `${written} is taken for ${model}`)
    return took(draft, key, `${written} -> ${model}`)
  }
  if (SIZES.test(written)) {
    const text = `${written} is no model here: it has that of its parent. Make a pool named ${written} to choose one`
    return keep(draft, key, value, text)
  }
  const { pools } = draft.surroundings
  const near = nearest(written, pools)
  const hint = near === null ? '' : `: did you mean "${near}"?`
  const known = pools.length === 0 ? '' : `, or one of the pools ${pools.join(', ')}${hint}`
  refuse(draft, [key], `${quoted(written)} is no model: write provider/model, as in openai/gpt-5.2${known}`)
}

/** `models`: what may be asked for instead. */
export function readModels(draft: Draft, key: string, value: unknown) {
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) {
    return refuse(draft, [key], `${key} must be a list of models, as provider/model, and of pools`)
  }
  for (const [i, name] of (value as string[]).entries()) {
    if (modelFor(draft, name) === name) mayChoose(draft, [key, i], name)
    else refuse(draft, [key, i], `${quoted(name)} is no model: write provider/model, or the name of a pool`)
  }
  draft.profile.models = value as string[]
  took(draft, key, (value as string[]).join(', ') || 'none')
}

export function readPool(draft: Draft, key: string, value: unknown) {
  if (typeof value !== 'string') return refuse(draft, [key], `${key} must be the name of a pool, not ${quoted(value)}`)
  const fault = poolNameFault(value, draft.surroundings.pools)
  if (fault) return refuse(draft, [key], fault.message)
  if (!mayChoose(draft, [key], value)) return
  draft.profile.pool = value
  took(draft, key, value)
}

function modelFor({ surroundings: { pools } }: Draft, written: string): string | null {
  if (pools.some((pool) => sameModel(pool, written))) return written
  if (/^pool\//.test(written)) return null
  if (/^[^/\s]+\/\S+$/.test(written) && written.length <= 200) return written
  const provider = PROVIDERS.find(([beginning]) => beginning.test(written))?.[1]
  return provider !== undefined && /^[\w.:@-]{1,100}$/.test(written) ? `${provider}/${written}` : null
}

/** A project may come from a stranger, who chooses no script, and no others than the person's models where those are listed. */
function mayChoose(draft: Draft, path: Path, model: string): boolean {
  const { models_listed } = draft.surroundings
  if (draft.scope === 'home') return true
  const remedy = 'put the agent into your home folder, or choose another'
  if (isScripted(model)) {
    refuse(
      draft,
      path,
      `a project's file cannot choose ${quoted(model)}, whose answers somebody wrote beforehand: ${remedy}`,
    )
    return false
  }
  if (models_listed === null || models_listed.some((listed) => sameModel(listed, model))) return true
  const which = `${quoted(model)}, which your delegation.models does not list`
  refuse(draft, path, `a project's file cannot let sub-agents use ${which}: add it there, ${remedy}`)
  return false
}
