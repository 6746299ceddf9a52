import { PROFILE_NAME, quoted } from '../../domain/index.js'

type ReadName = { ok: true; name: string; note: string | null } | { ok: false; message: string }

/**
 * Other tools show names as they are written; here they are words that models choose from, so that upper case and
 * blanks, which people write for their own eyes, become lower case and dashes. Anything else is for the person to say.
 */
export function readName(written: unknown): ReadName {
  if (typeof written !== 'string') return { ok: false, message: `name must be text, not ${quoted(written)}` }
  if (PROFILE_NAME.test(written) && !written.includes('..')) return { ok: true, name: written, note: null }
  const name = slug(written)
  if (!/^[A-Za-z0-9_.: -]+$/.test(written) || written.includes('..') || !PROFILE_NAME.test(name)) {
    const hint = PROFILE_NAME.test(name) ? `, such as ${name}` : ''
    return {
      ok: false,
      message: `${quoted(written)} is no name of an agent: write at most 64 lower-case letters, digits and dashes, beginning with a letter${hint}`,
    }
  }
  return { ok: true, name, note: `${quoted(written)} is asked for as ${name}` }
}

/** The nearest name that an agent can have. A file that cannot be read goes by it, so that nothing else takes its place. */
export function slug(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/[^a-z0-9_.:]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^a-z]+|[^a-z0-9]+$/g, '')
    .slice(0, 64)
  return PROFILE_NAME.test(words) ? words : 'unnamed'
}
