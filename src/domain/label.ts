import { z } from 'zod'

/** What a machine has that others have not: a GPU, a checkout, a network. */
export const LABEL = /^[a-z0-9][a-z0-9_.-]{0,39}$/

export const LABEL_FAULT =
  'a label has at most 40 lower-case letters, digits, dashes, underscores and dots, and begins with a letter or digit'

/** A worker listens for each of its own. */
export const MAX_LABELS = 16

export const labelSchema = z.string().regex(LABEL, LABEL_FAULT)
export const labelsSchema = z.array(labelSchema).max(MAX_LABELS, `at most ${MAX_LABELS} labels`)

/** The least and the most of what workers work on at once. */
export const WORKER_BOUNDS = [1, 1000] as const
