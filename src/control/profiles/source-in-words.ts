import { plainLine } from '../plain.js'
import type { ProfileSource } from './found.js'

/** Where a profile comes from, as in "it comes from the store". */
export function sourceInWords(source: ProfileSource): string {
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
