import { z } from 'zod'
import { budgetSchema, MIN_WALL_MS } from './budget.js'
import { labelSchema } from './label.js'
import { modeSchema } from './modes.js'
import { isolationSchema } from './workspace.js'

/** A name that fits into a list of choices and an attribute as it is. */
export const PROFILE_NAME = /^[a-z][a-z0-9_.:-]{0,63}$/

export const PROFILE_NAME_FAULT =
  'a profile name begins with a lower-case letter and has at most 64 lower-case letters, digits, dashes, underscores, dots and colons'

/**
 * A reusable recipe for a contract, as seed 000 and the configuration write it. An absent list means "inherit", an
 * empty one "none". Nothing in a profile widens what its parent may do.
 */
export const profileSchema = z.strictObject({
  /** What it is good for, for whoever chooses. */
  description: z.string().optional(),
  /** Said after the files. */
  system_prompt: z.string().optional(),
  system_prompt_file: z.string().optional(),
  /** Absent: AGENTS.md and ENVIRONMENT.md, as far as they are there. */
  bootstrap_files: z.array(z.string()).optional(),
  /** Names and patterns of tools. `run_command(git diff *)`: the tool, for calls that match and no others. */
  tools: z.array(z.string()).optional(),
  /** Calls that are refused, and calls that ask a person, as rules such as `run_command(rm *)`. */
  deny: z.array(z.string()).optional(),
  ask: z.array(z.string()).optional(),
  /** Globs of the files that it may read and write. */
  read_paths: z.array(z.string()).optional(),
  write_paths: z.array(z.string()).optional(),
  skills: z.array(z.string()).optional(),
  mcp_servers: z.array(z.string()).optional(),
  /** A model as `provider/model`, or the name of a pool. */
  model: z.string().optional(),
  pool: z.string().optional(),
  /** What may be asked for instead of that. Absent: nothing, where it names a model or pool; else its parent's. */
  models: z.array(z.string()).optional(),
  mode: modeSchema.optional(),
  /** At most: `read_only` has nothing to write with, `worktree` has a tree of its own, `shared` is in the folder. */
  isolation: isolationSchema.optional(),
  budget: budgetSchema.partial().optional(),
  /** Of its model's window, what a request may fill, in per cent: where that is more than `budget.context_tokens`. */
  context_share: z.int().min(1).max(100).optional(),
  attempt_timeout_ms: z.int().optional(),
  max_retries: z.int().min(0).optional(),
  /** Of the workers that may have it. */
  label: labelSchema.optional(),
  /** Whether it may have sub-agents of its own. */
  can_spawn_children: z.boolean().optional(),
  /** Which profiles or handles those have. Absent: any, or none. Such a list says that it may have some. */
  may_spawn: z.array(z.string()).optional(),
  /** Whether the same task again gets the earlier result. */
  cache: z.boolean().optional(),
})
export type Profile = z.infer<typeof profileSchema>

/** What is wrong with a profile whatever tools, files and models there are, with the field; its budget: budgetFaults. */
export function profileFaults(profile: Profile): { path: string[]; message: string }[] {
  const faults: { path: string[]; message: string }[] = []
  if (profile.model !== undefined && profile.pool !== undefined) {
    faults.push({ path: ['pool'], message: 'a profile has a model or a pool, not both' })
  }
  if (profile.attempt_timeout_ms !== undefined && profile.attempt_timeout_ms < MIN_WALL_MS) {
    faults.push({ path: ['attempt_timeout_ms'], message: `attempt_timeout_ms must be at least ${MIN_WALL_MS}` })
  }
  if (profile.can_spawn_children === false && (profile.may_spawn ?? []).length > 0) {
    faults.push({
      path: ['may_spawn'],
      message: 'may_spawn names somebody, and can_spawn_children is false: remove one',
    })
  }
  return faults
}
