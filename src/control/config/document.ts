import { type Field, fieldsOf } from './fields.js'
import { createConfigSchema } from './schema.js'
import type { Surroundings } from './surroundings.js'

/** The page about configuration, from the schema alone: a key that is added appears, one that is gone disappears. */
export async function documentConfig(surroundings: Omit<Surroundings, 'tools'>): Promise<string> {
  const { stringify } = await import('yaml')
  const yaml = (value: unknown) => `\`\`\`yaml\n${stringify(value, { singleQuote: true, lineWidth: 0 })}\`\`\``
  const fields = fieldsOf(createConfigSchema({ ...surroundings, tools: [] }))
  const sections = fields.map((field) => section(field, yaml))
  return `${[INTRODUCTION, ...sections, '## A complete example', EXAMPLE_TEXT, yaml(exampleOf(fields))].join('\n\n')}\n`
}

/** Every setting with its example, as one value. */
function exampleOf(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.key, field.example ?? exampleOf(field.fields)]))
}

function section(field: Field, yaml: (value: unknown) => string): string {
  const parts = [`## \`${field.key}\``, field.description]
  if (field.user_only) parts.push("Only in the user's file.")
  if (field.fields.length === 0 || field.by_name) {
    parts.push(`- Type: ${field.type}\n- Default: ${defaultText(field)}`)
  }
  if (field.fields.length > 0) parts.push(table(field))
  parts.push(yaml(exampleOf([field])))
  return parts.join('\n\n')
}

function table({ fields, by_name }: Field): string {
  const withDefault = !by_name || fields.some((field) => defaultText(field) !== '')
  const row = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const cells = (key: string, type: string, def: string, meaning: string) =>
    row(withDefault ? [key, type, def, meaning] : [key, type, meaning])
  return [
    cells('key', 'type', 'default', 'meaning'),
    cells('---', '---', '---', '---'),
    ...fields.map((f) => cells(`\`${f.key}\``, f.type, defaultText(f), f.description)),
  ].join('\n')
}

export function defaultText(field: Field): string {
  if (field.default_text !== null) return field.default_text
  return field.default === null ? '' : `\`${String(field.default)}\``
}

const INTRODUCTION = `# Configuration

<!-- Written by scripts/generate-docs.ts from the schema in src/control/config. Do not edit. -->

Retinue reads two files, both YAML, both optional, and every setting in them is optional too:

| file | whose it is |
|---|---|
| \`~/.config/retinue/config.yaml\` (\`$XDG_CONFIG_HOME/retinue/config.yaml\` where that is set) | yours, for all projects |
| \`retinue.yaml\` in the project folder | the project's, for everybody who works on it |

Both may end in \`.yml\` instead; having both spellings in one folder is an error. \`retinue init\` writes a
\`retinue.yaml\` in which every setting is explained and commented out.

A file with a mistake is refused as a whole: an unknown key, a rule for a tool that does not exist, a number out of
range or a key without a value. All mistakes of both files are reported together, with file, line and column.

## What wins

Flags win over the project's file, the project's file over yours, and yours over the defaults, setting by setting
(\`budget.turns\` in one file and \`budget.wall_ms\` in the other both hold). A list replaces the other file's list, a
provider or a pool the other file's of that name. With \`mcp_servers\` and \`profiles\` it is the other way round: your
server or profile wins over the project's of that name. \`secrets\` of both files add up. Permissions are different, since neither file can lift a
restriction of the other:

- rules (\`allow\`, \`ask\`, \`deny\`) of both files hold; where several rules speak about one call, \`deny\` wins over
  \`ask\` and \`ask\` over \`allow\`
- a path has to match \`read_paths\` or \`write_paths\` of each file that has the list
- a tool has to be in \`tools\` of each file that has the list, a server in \`mcp_servers\`, a skill in \`skills\`
- of two values for \`network\` the narrower holds

A list that is absent says nothing; an empty list says "none".

## What a project's file cannot do

A \`retinue.yaml\` may come from a stranger, with the repository. So it can only narrow what holds without it. It is
refused, with the line, when it

- sets a \`mode\` or \`permissions.network\` wider than yours (or than the default)
- turns the \`sandbox\` off
- chooses a scripted model, alone, in a pool or for sub-agents: a script is answers that somebody else wrote
- has an \`allow\` rule that yours does not have
- raises a number of \`budget\`, \`limits\` or \`retry\`, or \`model_timeout_ms\` or \`idle_timeout_ms\`, over yours (or
  over the default)
- turns \`delegation\` or its \`ask_person\` on, or raises one of its numbers over yours (or over the default)
- has a profile with a larger \`budget\` or more \`max_retries\` than your own file has under \`delegation\`
- has a profile with a \`context_share\`, where your own file has \`delegation.budget.context_tokens\`
- names a model for sub-agents that yours does not, where your own file has \`delegation.models\`
- names a glob in \`delegation.test_paths\` that yours does not, where your own file has that list
- turns \`delegation.roles\` on, where your own file turns them off
- has reports of sub-agents written, where your own file has \`report_path_pattern: null\`
- has a command for fresh worktrees (\`workspace.setup\`) that is not yours, turns \`workspace.repair\` on, lets sub-agents
  write into your folder itself (\`isolation: shared\`), or has results reach it in a bolder way than yours (\`land\`)
- sets a provider, unless that is a new one of type \`openai-compatible\` on this machine (\`localhost\`, \`127.0.0.1\`,
  \`[::1]\`) without key and headers: anything else could send your key or your code elsewhere
- names a host in \`web.allow_private\` that yours does not name, or sets \`web.search\`
- puts the \`store\` outside its folder

It may name \`mcp_servers\`, but none of them starts before you trusted it.

Where you trust a project, list its folder under \`trusted_projects\` in your own file, and its \`retinue.yaml\` may do
all of these. \`trusted_projects\` itself counts in your own file only, and so do \`principals\`, \`server\`,
\`workers\`, \`engine\` and a \`store\` that is a database.`

const EXAMPLE_TEXT = 'All settings, as your own file could have them.'
