import { z } from 'zod'
import { budgetSchema, MIN_WALL_MS } from './budget.js'
import { modeSchema } from './modes.js'
import { isolationSchema } from './workspace.js'

/** A name that fits into a list of choices and an attribute as it is. */
export const PROFILE_NAME = /^[a-z][a-z0-9_-]{0,63}$/

export const PROFILE_NAME_FAULT =
  'a profile name begins with a lower-case letter and has at most 64 letters, digits, dashes and underscores'

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
  tools: z.array(z.string()).optional(),
  skills: z.array(z.string()).optional(),
  mcp_servers: z.array(z.string()).optional(),
  /** A model as `provider/model`, or the name of a pool. */
  model: z.string().optional(),
  pool: z.string().optional(),
  mode: modeSchema.optional(),
  /** At most: `read_only` has nothing to write with, `worktree` has a tree of its own, `shared` is in the folder. */
  isolation: isolationSchema.optional(),
  budget: budgetSchema.partial().optional(),
  attempt_timeout_ms: z.int().optional(),
  max_retries: z.int().min(0).optional(),
  /** Whether it may have sub-agents of its own. */
  can_spawn_children: z.boolean().optional(),
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
  return faults
}
