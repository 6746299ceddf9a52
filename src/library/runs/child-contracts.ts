import { type Catalog, listProfiles, resolveProfile } from '../../control/index.js'
import {
  type AgentMemory,
  type Check,
  type Contract,
  childNeeds,
  chooseChildModel,
  type DelegationRequest,
  type DelegationSettings,
  deriveContract,
  left,
  MIN_CHILD_TOKENS,
  type Parent,
} from '../../domain/index.js'
import { estimateFirst, type PreparedChild, priceToRead, type Reuse, taskMessage } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import { builtinToolNames, createSchemaCompiler, judgeCommand } from '../../tools/index.js'
import type { Files, RunTrees } from '../../workspaces/index.js'
import type { Watching } from '../api.js'
import { isProgram, partsOf } from '../programs/programs.js'
import type { Preparation } from './preparation.js'
import { cacheKey, ResultCache } from './result-cache.js'

const NO_PROFILE = { ok: true, profile: null, entry: null } as const

/** What a parent keeps for its own next turn and report, besides what its last request measured. */
const OWN_TURNS = 2
const OWN_TOKENS = 2000

type Parts = {
  preparation: Preparation
  store: Store
  settings: DelegationSettings
  catalog: Catalog
  now: () => number
  trees: RunTrees
  session_id: string
}

/** Makes the contracts of a run's sub-agents, with the prompts and the task that go with them. */
export class ChildContracts {
  readonly #cache: ResultCache

  constructor(private readonly parts: Parts) {
    this.#cache = new ResultCache(parts.store, parts.session_id)
  }

  get profiles(): { name: string; description: string }[] {
    return listProfiles(this.parts.catalog)
  }

  async prepare(
    parent: AgentMemory,
    request: DelegationRequest,
    child: { id: string; step_idx: number },
    { files, watching }: { files: Files | null; watching: Watching },
  ): Promise<PreparedChild> {
    const { total_tokens, cost_usd, sub_agents } = parent.ledger.reserved
    const waits = total_tokens > 0 || cost_usd > 0 || sub_agents > 0
    const refused = (message: string): PreparedChild => ({ ok: false, message })
    /** What does not fit now may fit when others have closed. */
    const short = (message: string): PreparedChild => ({ ok: false, message, ...(waits ? { short: true } : {}) })
    if (request.task.trim() === '') return refused('The task is empty: say what is to be done.')
    const asked = request.profile ? resolveProfile(this.parts.catalog, request.profile) : NO_PROFILE
    if (!asked.ok) return refused(asked.message)
    const { profile, entry } = asked
    const choice = chooseChildModel(parent.contract, profile, request)
    if (!choice.ok) return refused(choice.message)
    const resolved = await this.parts.preparation.childModel(`${choice.provider}/${choice.model}`)
    if (!resolved.ok) return refused(`Not spawned: ${resolved.message}`)
    const place = await this.parts.preparation.place(resolved.model, watching, {
      launcher: null,
      trees: this.parts.trees,
      above: null,
      catalog: this.parts.catalog,
    })
    const side = await this.#side(parent)
    const derive = (least_tokens: number, prompt_digest: string) =>
      deriveContract({
        ...{ parent: side, child, profile, entry, request, settings: this.parts.settings },
        workspace: this.parts.preparation.worktrees,
        model: {
          ...choice,
          window: resolved.model.window,
          least_tokens,
          least_usd: priceToRead(resolved.model, least_tokens),
        },
        known_tools: place.registry.names(),
        nameable_tools: builtinToolNames(),
        prompt_digest,
      })
    let derived = derive(MIN_CHILD_TOKENS, '')
    if (!derived.ok) return short(derived.message)
    const fault =
      this.parts.preparation.fault(derived.contract, place) ??
      (await checksFault(request.checks, parent, place.sandboxed))
    if (fault !== null) return refused(`Not spawned: ${fault}`)
    const written = await this.parts.preparation.prompts.child(
      derived.contract,
      place,
      { catalog: this.parts.catalog, profile: profile?.profile ?? null },
      request,
    )
    if (!written.ok) return refused(`Not spawned: ${written.message}`)
    const { stored } = written
    const task = taskMessage(request)
    // Only now is it known how large its first request is; one that could not make it is not begun.
    derived = derive(childNeeds(estimateFirst(stored.prompt, task)), stored.digest)
    if (!derived.ok) return short(derived.message)
    const { contract } = derived
    const caches = request.cache ?? profile?.profile.cache ?? false
    const cache_key = caches ? cacheKey(contract, task, request) : null
    const reuse = cache_key === null || files === null ? null : await this.#cache.earlier(cache_key, files)
    return { ok: true, contract, task, prompt: stored, cache_key, reuse }
  }

  /** Its result may be used again in this session. */
  keep(cache_key: string, reuse: Reuse, files: Files): Promise<void> {
    return this.#cache.keep(cache_key, reuse, files)
  }

  async #side(memory: AgentMemory): Promise<Parent> {
    const { agent_id, contract, ledger, measured, at } = memory
    // A program uses no tokens.
    const program = isProgram(contract)
    const own = program ? 0 : OWN_TURNS * ((measured?.tokens ?? 0) + OWN_TOKENS)
    const kept = { total_tokens: own, cost_usd: await this.#price(contract, own) }
    const { total_tokens, cost_usd } = ledger.reserved
    return {
      agent_id,
      contract,
      kept,
      reserved: { total_tokens, cost_usd },
      ...(program ? { parts: partsOf(memory) } : {}),
      left: {
        total_tokens: left(ledger, 'total_tokens') - kept.total_tokens,
        cost_usd: left(ledger, 'cost_usd') - kept.cost_usd,
        sub_agents: left(ledger, 'sub_agents'),
        wall_ms: left(ledger, 'wall_ms') - Math.max(0, Math.round(this.parts.now() - at)),
      },
    }
  }

  /** What an agent has to pay for so many tokens of its own. */
  async #price({ model, execution }: Contract, tokens: number): Promise<number> {
    if (execution.budget.cost_usd === null || tokens === 0) return 0
    const resolved = await this.parts.preparation.childModel(`${model.provider}/${model.model}`)
    return resolved.ok ? priceToRead(resolved.model, tokens) : 0
  }
}

/** A gate is set by the parent and run for it, so it may be nothing that the parent could not run without asking. */
async function checksFault(
  checks: readonly Check[] = [],
  parent: AgentMemory,
  sandboxed: boolean,
): Promise<string | null> {
  for (const check of checks) {
    if (check.kind === 'schema') {
      const compiled = (await createSchemaCompiler())(check.schema)
      if (!compiled.ok) return `the schema cannot be used: ${compiled.message}`
      continue
    }
    if (check.kind === 'paths') continue
    const verdict = await judgeCommand(parent.contract.permissions, check.command, sandboxed)
    if (verdict.decision !== 'allow') {
      return `the check "${check.command}" is not allowed without asking (${verdict.reason}). Leave it out, or run it yourself.`
    }
  }
  return null
}
