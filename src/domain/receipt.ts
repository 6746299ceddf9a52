import { z } from 'zod'

export const fileChangeSchema = z.strictObject({ path: z.string(), kind: z.enum(['added', 'modified', 'deleted']) })
export type FileChange = z.infer<typeof fileChangeSchema>

export const mergeKindSchema = z.enum(['fast_forward', 'merge'])

/** What became of what an agent wrote in a worktree of its own: what it can be held to, whatever its words say. */
export const receiptSchema = z.strictObject({
  branch: z.string(),
  /** The commit that it started from. */
  base: z.string(),
  commits: z.array(z.strictObject({ id: z.string(), title: z.string(), author: z.string() })),
  files: z.array(fileChangeSchema),
  gates: z.array(
    z.strictObject({ what: z.string(), stage: z.enum(['before_merge', 'after_merge']), passed: z.boolean() }),
  ),
  /** null: it is not in its parent's tree. */
  merged: z.strictObject({ commit: z.string(), kind: mergeKindSchema }).nullable(),
  /** Where work is that was not integrated. null: there is none, or all of it is. */
  kept: z.strictObject({ branch: z.string(), path: z.string() }).nullable(),
  /** Files that it wrote and git ignores: no commit has them, and its worktree is kept for them. */
  left_out: z.array(z.string()),
})
export type Receipt = z.infer<typeof receiptSchema>

/** How the result of a run reached the person's folder, or where it is instead. */
export const landingSchema = z.strictObject({
  state: z.enum(['landed', 'kept']),
  base: z.string(),
  commit: z.string(),
  files: z.array(fileChangeSchema),
  /** The commit in the person's own repository, where one was asked for. */
  landed_commit: z.string().nullable(),
  /** Where it is kept; null once it has landed. */
  branch: z.string().nullable(),
  /** Why it did not land. */
  reason: z.string().nullable(),
  /** Files that the root wrote and git ignores: no commit has them, and its worktree is kept for them. Absent: none. */
  left_out: z.array(z.string()).optional(),
  /** Nothing stands in its way but that the run ended in another checkout than it began in. */
  away: z.literal(true).optional(),
})
export type Landing = z.infer<typeof landingSchema>
