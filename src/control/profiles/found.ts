import type { Profile, ProfileSource } from '../../domain/index.js'

/** A profile that somebody wrote down, or why it cannot be used: it then hides others of its name all the same. */
export type FoundProfile = {
  name: string
  source: ProfileSource
  /** What a person should know about how it was understood. */
  notes: string[]
  /** Keys of the file that mean nothing here, as they were. */
  kept: Record<string, unknown>
} & ({ profile: Profile; fault: null } | { profile: null; fault: string })
