import { readYaml } from '../config/yaml.js'

export type SkillHeader = { name: string; description: string }
export type ParsedSkill = { ok: true; header: SkillHeader } | { ok: false; message: string }

const MAX_DESCRIPTION = 1024

/** Reads a SKILL.md: YAML between two lines of `---`, then Markdown. Other keys are somebody else's and are let be. */
export async function parseSkill(file: string, text: string, folder: string): Promise<ParsedSkill> {
  const source = text.replace(/^\uFEFF/, '')
  const header = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(source)
  if (!header) return no('it does not begin with YAML between two lines of ---')
  const yaml = await readYaml(file, header[1] as string)
  const [problem] = yaml.problems
  // The first line of the file is the one above the YAML.
  if (problem) return no(`line ${problem.line + 1}: ${problem.message}`)
  if (typeof yaml.value !== 'object' || yaml.value === null) return no('name and description are missing')
  const { name = folder, description } = yaml.value as Record<string, unknown>
  if (typeof name !== 'string' || !isSkillName(name)) {
    return no(`name: ${JSON.stringify(name)} is no name of a skill: up to 64 letters, digits, - and _`)
  }
  if (typeof description !== 'string' || description.trim() === '') {
    return no('description: say in a sentence what the skill is for and when to use it')
  }
  const short = description.replace(/\s+/g, ' ').trim()
  if (short.length > MAX_DESCRIPTION) return no(`description: at most ${MAX_DESCRIPTION} characters`)
  return { ok: true, header: { name, description: short } }
}

function isSkillName(name: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name)
}

function no(message: string): ParsedSkill {
  return { ok: false, message }
}
