import { escapeXml } from '../escape.js'

/** What the system prompt says about skills: a line for each, in the order of their names. Nothing where there is none. */
export function skillsSection(skills: readonly { name: string; description: string }[]): string {
  if (skills.length === 0) return ''
  const lines = [...skills]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description }) => `<skill name="${escapeXml(name)}">${escapeXml(description)}</skill>`)
  return [
    'Skills are instructions for particular kinds of work. Where one fits the task, call load_skill with its name before you begin.',
    '<skills>',
    ...lines,
    '</skills>',
  ].join('\n')
}
