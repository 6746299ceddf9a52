import { createHash } from 'node:crypto'

/** The digest that a workspace gives to a file with this text. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
