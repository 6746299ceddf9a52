import type { Adjustment, Contract, ModelSource } from './contract.js'
import type { DelegationRequest } from './delegation.js'
import type { ModelChoice, NamedProfile } from './derive.js'

/** A model as `provider/model`. A name without a slash is a pool's. */
export function canonicalModel(name: string): string {
  return name.includes('/') ? name : `pool/${name}`
}

/** Every model that a profile's agents may run on, its own first; null where it says nothing about that. */
function modelPolicy(profile: NamedProfile | null): string[] | null {
  const { models } = profile?.profile ?? {}
  const own = ownModel(profile)
  if (own === null && models === undefined) return null
  return [...new Set([...(own === null ? [] : [own]), ...(models ?? []).map(canonicalModel)])]
}

type ChildModelChoice = ({ ok: true } & ModelChoice) | { ok: false; message: string }

/**
 * Which model a sub-agent gets: the request's, else the profile's, else its parent's. Only such as its parent may give,
 * and never one that its profile is not for: rather none.
 */
export function chooseChildModel(
  parent: Contract,
  profile: NamedProfile | null,
  request: Pick<DelegationRequest, 'model'>,
): ChildModelChoice {
  const models = givable(parent)
  const policy = modelPolicy(profile)
  const usual = usualModel(parent, profile)
  const asked = request.model === undefined ? null : canonicalModel(request.model)
  const reason =
    asked === null ? null : (outsidePolicy(asked, profile) ?? (models.includes(asked) ? null : limitsOf(models)))
  if (asked !== null && reason === null) return { ok: true, ...split(asked), source: 'request', adjustments: [] }
  if (usual === null) return { ok: false, message: noModelMessage(models, profile, policy ?? []) }
  const given = usual.name
  const own = ownModel(profile)
  const refused: { asked: string; reason: string }[] = []
  if (request.model !== undefined) refused.push({ asked: request.model, reason: reason as string })
  // Another one of those that its profile is for.
  if (own !== null && own !== given) refused.push({ asked: own, reason: limitsOf(models) })
  const clamps = refused.map((one) => ({ field: 'model', asked: one.asked, given, reason: one.reason }))
  const adjustments = [...clamps, ...unmetModel(profile, given)]
  return { ok: true, ...split(given), source: usual.source, adjustments }
}

/** Another tool's word for a model is a wish all the same: whoever looks must see that it got something else. */
export function unmetModel(profile: NamedProfile | null, given: string): Adjustment[] {
  const asked = profile?.unmet_model
  if (asked === undefined) return []
  const reason = `${asked} is no model here: make a pool of that name for the profile ${profile?.name}`
  return [{ field: 'model', asked, given, reason }]
}

/** What a sub-agent has that nobody asks another model for; null where there is none that everybody allows. */
function usualModel(
  parent: Contract,
  profile: NamedProfile | null,
): { name: string; source: ModelChoice['source'] } | null {
  const above = nameOf(parent.model)
  const models = givable(parent)
  const policy = modelPolicy(profile)
  if (policy === null) return { name: above, source: 'inherited' }
  const own = ownModel(profile)
  if (own === null && policy.includes(above)) return { name: above, source: 'inherited' }
  const name = policy.find((one) => models.includes(one))
  return name === undefined ? null : { name, source: 'profile' }
}

function noModelMessage(models: readonly string[], profile: NamedProfile | null, policy: readonly string[]): string {
  if (policy.length === 0)
    return `Not spawned: the profile ${profile?.name} is for no model at all. Use another profile, or none.`
  const needs = policy.join(' or ')
  return `Not spawned: the profile ${profile?.name} is for ${needs}, and ${limitsOf(models)}. Allow ${needs} with delegation.models (and the models of the profile that delegates), or use another profile.`
}

/** What a sub-agent may give to its own: what its parent may, as far as its profile is for it. */
export function allowedModels(parent: Contract, profile: NamedProfile | null): string[] {
  return withinPolicy(givable(parent), profile)
}

export function withinPolicy(models: readonly string[], profile: NamedProfile | null): string[] {
  const policy = modelPolicy(profile)
  return policy === null ? [...models] : models.filter((name) => policy.includes(name))
}

/** Every model that a sub-agent of this agent can have. */
export function givable({ model }: Contract): string[] {
  return [...new Set([nameOf(model), ...model.allowed])]
}

export function nameOf({ provider, model }: Pick<Contract['model'], 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

/** Why a profile is not for a model, or null. */
export function outsidePolicy(name: string, profile: NamedProfile | null): string | null {
  const policy = modelPolicy(profile)
  if (policy === null || policy.includes(name)) return null
  const [only, ...others] = policy
  if (only === undefined) return `the profile ${profile?.name} is for no model at all`
  return `the profile ${profile?.name} is for ${others.length > 0 ? policy.join(', ') : `${only} alone`}`
}

type NamedModel = { name: string; source: ModelSource }

/** `name` is null where nobody named a model: then it is whatever there is. */
type RootModelChoice =
  | { ok: true; name: string; source: ModelSource; adjustments: Adjustment[] }
  | { ok: true; name: null }
  | { ok: false; message: string }

/**
 * Which model a root agent gets: the one that was asked for, else its profile's, else the one in the settings; never one
 * that its profile is not for. Names stay as they were written.
 */
export function chooseRootModel(
  { asked, settings }: { asked: string | undefined; settings: NamedModel | undefined },
  profile: NamedProfile | null,
): RootModelChoice {
  const policy = modelPolicy(profile)
  if (policy?.length === 0) return { ok: false, message: `The profile ${profile?.name} is for no model at all` }
  const own = profile?.profile.model ?? profile?.profile.pool
  const usual: NamedModel | undefined = own === undefined ? settings : { name: own, source: 'profile' }
  const wish: NamedModel | undefined = asked === undefined ? usual : { name: asked, source: 'request' }
  const whyNot = (model: NamedModel) => outsidePolicy(canonicalModel(model.name), profile)
  const reason = wish ? whyNot(wish) : null
  if (wish && reason === null) {
    return { ok: true, ...wish, adjustments: asked === undefined ? unmetModel(profile, wish.name) : [] }
  }
  if (policy === null) return { ok: true, name: null }
  const listed: NamedModel = { name: policy[0] as string, source: 'profile' }
  const choice = usual && whyNot(usual) === null ? usual : listed
  const clamp = { field: 'model', asked: wish?.name as string, given: choice.name, reason: reason as string }
  return { ok: true, ...choice, adjustments: wish ? [clamp] : [] }
}

function ownModel(profile: NamedProfile | null): string | null {
  const name = profile?.profile.model ?? profile?.profile.pool
  return name === undefined ? null : canonicalModel(name)
}

function limitsOf(models: readonly string[]): string {
  return `sub-agents here may use ${models.join(', ')}`
}

function split(name: string): { provider: string; model: string } {
  const slash = name.indexOf('/')
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}
