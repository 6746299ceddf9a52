import type { Decision, Mode, Rule, ToolLimits } from '../../domain/index.js'
import { type BudgetSettings, DEFAULTS } from './defaults.js'
import { machinePath } from './paths.js'
import type { Config } from './schema.js'
import type { Places, Surroundings, ToolName } from './surroundings.js'
import { readRule, toolsNamed } from './tools.js'

/** Configuration with nothing left open. */
export type ResolvedConfig<P = unknown> = {
  /** `provider/model`; null when nobody chose one. */
  model: string | null
  mode: Mode
  permissions: {
    /** Of all files, under the tools' own names. */
    rules: Rule[]
    /** Layers of globs: a path must match in each of them. At least one layer. */
    read_paths: string[][]
    write_paths: string[][]
    /** The tools' own names. */
    tools: string[]
  }
  budget: BudgetSettings
  providers: Record<string, P>
  /** `all`: each file has to be there. `first`: the first that is there, if any. */
  instructions: { take: 'all' | 'first'; files: string[] }
  limits: ToolLimits
  retry: { max_attempts: number }
  model_timeout_ms: number
  idle_timeout_ms: number
  /** Absolute. */
  store: string
}

/**
 * Puts files, widest reach first, and the defaults together. A later file wins setting by setting, a list is replaced
 * as a whole, and so is a provider: half of one must not end up with the key of another. Permissions are different,
 * because nothing may widen them: rules add up, paths become layers, and lists of tools intersect.
 */
export function resolveConfig<P>(
  files: readonly Config<P>[],
  surroundings: Omit<Surroundings, 'providers'>,
  places: Places,
): ResolvedConfig<P> {
  const each = <K extends keyof Config<P>>(key: K) => files.map((file) => file[key])
  const last = <K extends keyof Config<P>>(key: K) => each(key).findLast((said) => said !== undefined)
  const granted = each('permissions').map((said) => said ?? {})
  const rules = (decision: Decision) => granted.flatMap((said) => said[decision] ?? [])
  const instructions = last('instructions')
  return {
    model: last('model') ?? null,
    mode: last('mode') ?? DEFAULTS.mode,
    permissions: {
      rules: DECISIONS.flatMap((decision) => read(decision, rules(decision), surroundings.tools)),
      read_paths: layers(granted.map((said) => said.read_paths)),
      write_paths: layers(granted.map((said) => said.write_paths)),
      tools: surroundings.tools
        .map((tool) => tool.name)
        .filter((name) =>
          granted.every((said) => !said.tools || toolsNamed(said.tools, surroundings.tools).includes(name)),
        ),
    },
    budget: together(DEFAULTS.budget, each('budget')),
    providers: together<Record<string, P>>({}, each('providers')),
    instructions: instructions
      ? { take: 'all', files: instructions }
      : { take: 'first', files: [...DEFAULTS.instructions] },
    limits: together(surroundings.limits, each('limits')),
    retry: together(DEFAULTS.retry, each('retry')),
    model_timeout_ms: last('model_timeout_ms') ?? DEFAULTS.model_timeout_ms,
    idle_timeout_ms: last('idle_timeout_ms') ?? DEFAULTS.idle_timeout_ms,
    store: machinePath(last('store') ?? DEFAULTS.store, places),
  }
}

const DECISIONS = ['deny', 'ask', 'allow'] as const

function read(decision: Decision, texts: readonly string[], tools: readonly ToolName[]): Rule[] {
  return [...new Set(texts)].map((text) => {
    const rule = readRule(decision, text, tools)
    // The schema refuses what cannot be read, so files and flags have been through it.
    if (!rule.ok) throw new Error(rule.fault.message)
    return rule.rule
  })
}

function layers(lists: readonly (string[] | undefined)[]): string[][] {
  const given = lists.filter((list) => list !== undefined)
  return given.length === 0 ? [['**']] : given
}

function together<T extends object>(base: T, parts: readonly ({ [K in keyof T]?: T[K] | undefined } | undefined)[]): T {
  const given = parts.flatMap((part) => Object.entries(part ?? {}).filter(([, value]) => value !== undefined))
  return { ...base, ...Object.fromEntries(given) }
}
