import { defaultText } from './document.js'
import { type Field, fieldsOf } from './fields.js'
import { createConfigSchema } from './schema.js'
import type { Surroundings } from './surroundings.js'

/**
 * The `retinue.yaml` that `retinue init` writes: everything a project's file can say, explained and commented out.
 * Without the first `#` of each line it is a file that says all of it.
 */
export async function starterConfig(surroundings: Omit<Surroundings, 'tools'>): Promise<string> {
  const { stringify } = await import('yaml')
  const fields = fieldsOf(createConfigSchema({ ...surroundings, tools: [] })).filter((field) => !field.user_only)
  const blocks = fields.map((field) => commented(lines(field, '', (value) => stringify(value, STYLE))))
  return `${[commented(INTRODUCTION.map((line) => `# ${line}`)), ...blocks].join('\n\n')}\n`
}

const STYLE = { singleQuote: true, lineWidth: 0 }

const INTRODUCTION = [
  'Configuration of Retinue for this project. Every setting is optional; remove the first # of a line to use it.',
  'Your own settings for all projects belong in ~/.config/retinue/config.yaml. What this file would widen (mode,',
  'network, allow rules, budget, delegation, workspace, providers, web, no sandbox) counts only where that file lists',
  'this folder under trusted_projects.',
]

function lines(field: Field, indent: string, yaml: (value: unknown) => string): string[] {
  const fallback = defaultText(field).replaceAll('`', '')
  const about = `${field.description.replaceAll('`', '')}${fallback === '' ? '' : ` Default: ${fallback}.`}`
  const comment = wrapped(about, 116 - indent.length).map((line) => `${indent}# ${line}`)
  if (field.fields.length > 0 && !field.by_name && field.example === undefined) {
    const children = field.fields.flatMap((child) => lines(child, `${indent}  `, yaml))
    return [...comment, `${indent}${field.key}:`, ...children]
  }
  const setting = yaml({ [field.key]: field.default ?? field.example })
    .trimEnd()
    .split('\n')
  return [...comment, ...setting.map((line) => `${indent}${line}`)]
}

function commented(text: readonly string[]): string {
  return text.map((line) => `#${line}`).join('\n')
}

function wrapped(text: string, width: number): string[] {
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const row = rows.at(-1)
    if (row === undefined || row.length + 1 + word.length > width) rows.push(word)
    else rows[rows.length - 1] = `${row} ${word}`
  }
  return rows
}
