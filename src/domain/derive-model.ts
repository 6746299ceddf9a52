import type { Contract } from './contract.js'
import type { DelegationRequest } from './delegation.js'
import type { ModelChoice, NamedProfile } from './derive.js'

/** A model as `provider/model`. A name without a slash is a pool's. */
export function canonicalModel(name: string): string {
  return name.includes('/') ? name : `pool/${name}`
}

/** Which model a sub-agent gets: the request's, else the profile's, else its parent's; only such as its parent may give. */
export function chooseChildModel(
  parent: Contract,
  profile: NamedProfile | null,
  request: DelegationRequest,
): ModelChoice {
  const wishes: { asked: string; source: 'request' | 'profile' }[] = []
  if (request.model !== undefined) wishes.push({ asked: request.model, source: 'request' })
  const own = profile?.profile.model ?? profile?.profile.pool
  if (own !== undefined) wishes.push({ asked: own, source: 'profile' })

  const refused: { asked: string; reason: string }[] = []
  let chosen: { name: string; source: ModelChoice['source'] } = { name: nameOf(parent.model), source: 'inherited' }
  for (const { asked, source } of wishes) {
    const reason = whyNot(canonicalModel(asked), parent, profile)
    if (reason === null) {
      chosen = { name: canonicalModel(asked), source }
      break
    }
    refused.push({ asked, reason })
  }

  const slash = chosen.name.indexOf('/')
  return {
    provider: chosen.name.slice(0, slash),
    model: chosen.name.slice(slash + 1),
    source: chosen.source,
    // Who falls back to what was asked for has got it.
    adjustments: refused
      .filter(({ asked }) => canonicalModel(asked) !== chosen.name)
      .map(({ asked, reason }) => ({ field: 'model', asked, given: chosen.name, reason })),
  }
}

/** What a sub-agent that got this model may give to its own. A profile that names a model is for no other. */
export function allowedModels(parent: Contract, profile: NamedProfile | null, chosen: string): string[] {
  return modelOf(profile) === null ? givable(parent) : [chosen]
}

/** Every model that a sub-agent of this agent can have. */
export function givable({ model }: Contract): string[] {
  return [...new Set([nameOf(model), ...model.allowed])]
}

export function nameOf({ provider, model }: Pick<Contract['model'], 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

function modelOf(profile: NamedProfile | null): string | null {
  const name = profile?.profile.model ?? profile?.profile.pool
  return name === undefined ? null : canonicalModel(name)
}

function whyNot(name: string, parent: Contract, profile: NamedProfile | null): string | null {
  const own = modelOf(profile)
  if (own !== null && own !== name) return `the profile ${profile?.name} is for ${own} alone`
  const models = givable(parent)
  return models.includes(name) ? null : `sub-agents here may use ${models.join(', ')}`
}
