import { plainLine } from './plain.js'

/** Where a profile comes from. */
export type ProfileSource =
  | { kind: 'role' }
  /** An agent file: whose, and its path as a person would write it. */
  | { kind: 'file'; scope: 'project' | 'home'; file: string }
  | { kind: 'config'; scope: 'project' | 'user'; file: string }
  /** Given by a program. */
  | { kind: 'options' }
  | { kind: 'store'; version: number }

/** Where a profile comes from, as in "it comes from the store". */
export function profileSourceInWords(source: ProfileSource): string {
  switch (source.kind) {
    case 'role':
      return 'Retinue (a role that ships)'
    case 'file':
      return `${plainLine(source.file)} (${source.scope === 'home' ? 'your own' : "the project's"} agent file)`
    case 'config':
      return `${plainLine(source.file)} (${source.scope === 'user' ? 'your own' : "the project's"} configuration)`
    case 'options':
      return 'the program that uses Retinue'
    case 'store':
      return `the store, version ${source.version}`
  }
}
