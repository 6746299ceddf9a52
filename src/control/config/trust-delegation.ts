import type { Budget } from '../../domain/index.js'
import { isScripted, modelsNamed, sameModel } from './models.js'
import type { ResolvedConfig } from './resolve.js'
import type { Config } from './schema.js'
import type { Path } from './yaml-nodes.js'

type Refusal = { path: Path; what: string }

/**
 * What a project's file says about sub-agents that needs the person's word. Profiles are within what their parents may
 * do and spend, whoever wrote them, so of them only what the person's own file has fixed for sub-agents is refused. The
 * role tester is a profile too, and one of the project could stand before it: `test_paths` need no more trust than that.
 */
export function delegationRefusals(project: Config, user: Config, without: ResolvedConfig): Refusal[] {
  const { delegation } = project
  const refusals: Refusal[] = []
  const refuse = (path: Path, what: string) => refusals.push({ path, what })
  if (delegation?.enabled && !without.delegation.enabled) refuse(['delegation', 'enabled'], 'turn delegation on')
  if (delegation?.ask_person && !without.delegation.ask_person) {
    refuse(['delegation', 'ask_person'], 'let sub-agents ask you')
  }
  if (delegation?.report_path_pattern && without.delegation.report_path_pattern === null) {
    refuse(['delegation', 'report_path_pattern'], 'have reports written, which your file turns off')
  }
  if (delegation?.roles && !without.delegation.roles) {
    refuse(['delegation', 'roles'], 'bring the roles back, which your file turns off')
  }
  for (const [i, glob] of (delegation?.test_paths ?? []).entries()) {
    // Without a word of the person's it is the project that knows where its tests are.
    if (user.delegation?.test_paths === undefined || user.delegation.test_paths.includes(glob)) continue
    refuse(
      ['delegation', 'test_paths', i],
      `let the tester write ${glob}, which your delegation.test_paths does not list`,
    )
  }
  return [
    ...refusals,
    ...raisedDelegation(project, without),
    ...raisedByProfiles(project, user),
    ...models(project, user),
  ]
}

function raisedDelegation({ delegation = {} }: Config, without: ResolvedConfig): Refusal[] {
  const limits = without.delegation
  return [
    ...(['max_depth', 'max_concurrent', 'max_retries'] as const).flatMap((name) =>
      raised(['delegation', name], limits[name], delegation[name]),
    ),
    ...raisedBudget(['delegation', 'budget'], limits.budget, delegation.budget),
  ]
}

function raisedByProfiles({ profiles = {} }: Config, { delegation: fixed = {} }: Config): Refusal[] {
  return Object.entries(profiles).flatMap(([name, { budget, max_retries, context_share }]) => [
    ...raisedBudget(['profiles', name, 'budget'], fixed.budget, budget),
    ...raised(['profiles', name, 'max_retries'], fixed.max_retries, max_retries),
    ...shared(['profiles', name, 'context_share'], fixed.budget?.context_tokens, context_share),
  ])
}

/** How many tokens a share comes to is known only with the model, so any of it may be more than the person's limit. */
function shared(path: Path, fixed: number | undefined, share: number | undefined): Refusal[] {
  if (fixed === undefined || share === undefined) return []
  return [{ path, what: `fill ${share} % of a model's window, where your file has ${fixed} context_tokens` }]
}

type Limits = { [name in keyof Budget]?: Budget[name] | undefined } | undefined

function raisedBudget(path: Path, from: Limits, to: Limits): Refusal[] {
  return Object.keys(to ?? {}).flatMap((name) => {
    const key = name as keyof Budget
    return raised([...path, key], from?.[key], to?.[key])
  })
}

function raised(path: Path, from: number | null | undefined, to: number | null | undefined): Refusal[] {
  if (from == null || to == null || to <= from) return []
  return [{ path, what: `raise ${path.at(-1)} from ${from} to ${to}` }]
}

/** A project may choose models, but no script, and no others than the person's where those are listed. */
function models(project: Config, user: Config): Refusal[] {
  const known = modelsNamed(user).map(({ name }) => name)
  const listed = user.delegation?.models && [...known, ...(project.model ? [project.model] : [])]
  return modelsNamed(project).flatMap(({ path, name }): Refusal[] => {
    const isOf = (names: readonly string[]) => names.some((other) => sameModel(other, name))
    if (path[0] === 'model' || isOf(known)) return []
    if (isScripted(name)) return [{ path, what: `choose ${name}, whose answers somebody wrote beforehand` }]
    if (listed === undefined || isOf(listed)) return []
    return [{ path, what: `let sub-agents use ${name}, which your delegation.models does not list` }]
  })
}
