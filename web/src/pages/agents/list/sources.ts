import { type ProfileSource, profileSourceInWords } from '#domain'
import type { ProfileView } from '../data'

/** Whose agent files are in which folders. */
const TOOLS: readonly [RegExp, string][] = [
  [/(^|\/)\.claude\//, 'Claude Code'],
  [/(^|\/)\.?opencode\//, 'opencode'],
  [/(^|\/)\.gemini\//, 'Gemini'],
]

/** Where a profile comes from, in two or three words for a list. */
export function sourceLabel(source: ProfileSource): string {
  switch (source.kind) {
    case 'role':
      return 'role'
    case 'file':
      return `${TOOLS.find(([folder]) => folder.test(source.file))?.[1] ?? 'agent file'}${source.scope === 'home' ? ', yours' : ''}`
    case 'config':
      return source.scope === 'user' ? 'your configuration' : 'project'
    case 'options':
      return 'program'
    case 'store':
      return 'store'
  }
}

/** Where a profile is changed: here it is not. The command, where there is one. */
export function whereChanged({ name, source }: Pick<ProfileView, 'name' | 'source'>): {
  says: string
  command: string | null
} {
  switch (source.kind) {
    case 'role':
      return {
        says: `It ships with Retinue. One of your own takes its place: .retinue/agents/${name}.md`,
        command: null,
      }
    case 'file':
    case 'config':
      return { says: `It is changed in ${source.file}`, command: null }
    case 'options':
      return { says: 'It is changed in the program that uses Retinue', command: null }
    case 'store':
      return { says: 'It is in the store, and replaced with:', command: `retinue agents put ${name} <file>` }
  }
}

/** How somebody gets a profile to work again that cannot be used. */
export function howToMend({ name, source, shadows }: Pick<ProfileView, 'name' | 'source' | 'shadows'>): string {
  const hidden = shadows[0]
  const before = hidden === undefined ? '' : ` It hides the one from ${profileSourceInWords(hidden)} until then.`
  switch (source.kind) {
    case 'file':
      return `Mend ${source.file}, or remove it: it is read again when it is used next.${before}`
    case 'config':
      return `Mend ${name} below profiles in ${source.file}, or remove it.${before}`
    case 'store':
      return `Replace it with: retinue agents put ${name} <file>, or remove it with: retinue agents remove ${name}.${before}`
    case 'role':
    case 'options':
      return `Put a profile of this name before it, such as .retinue/agents/${name}.md.${before}`
  }
}
