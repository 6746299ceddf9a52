import type { Profile } from '../../domain/index.js'

/** Where a profile comes from. */
export type ProfileSource =
  | { kind: 'role' }
  /** An agent file: whose, and its path as a person would write it. */
  | { kind: 'file'; scope: 'project' | 'home'; file: string }
  | { kind: 'config'; scope: 'project' | 'user'; file: string }
  /** Given by a program. */
  | { kind: 'options' }
  | { kind: 'store'; version: number }

/** A profile that somebody wrote down, or why it cannot be used: it then hides others of its name all the same. */
export type FoundProfile = {
  name: string
  source: ProfileSource
  /** What a person should know about how it was understood. */
  notes: string[]
  /** Keys of the file that mean nothing here, as they were. */
  kept: Record<string, unknown>
} & ({ profile: Profile; fault: null } | { profile: null; fault: string })
