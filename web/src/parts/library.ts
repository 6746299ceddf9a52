/** Types of the library that the server's answers are made of. */
export type { Standing } from '#domain'

import type { RunList } from '#wire'

export type RunSummary = RunList['runs'][number]
