import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Files, filesIn } from './merge-files.js'

const FOLDER = fileURLToPath(new URL('../fixtures/merge', import.meta.url))

/** A file that is better not a file of this repository: its text, its bytes in base64, a link, a program. */
const fileSchema = z.union([
  z.string(),
  z.strictObject({ base64: z.string() }),
  z.strictObject({ link: z.string() }),
  z.strictObject({ program: z.string() }),
])

/**
 * When something happens: once the log has an event, as `<agent> <type>` and perhaps values that it must have in it, such
 * as `root tool.finished edit_file`; once the person has done what they do (`person`); or not at all (`never`).
 */
const onceSchema = z.string().regex(/^(?:person|never|[a-z][\w.]* [a-z]+\.\w+(?: \S+)*)$/)

type Json = z.infer<ReturnType<typeof z.json>>

/** A call of a tool, as in scripts. `gives`: what its result must have in it. `stops`: the agent does not get past it. */
const callSchema = z
  .looseObject({ once: onceSchema.optional(), gives: z.string().optional(), stops: z.boolean().default(false) })
  .transform(({ once, gives, stops, ...call }) => ({
    once,
    gives,
    stops,
    call: call as Record<string, Record<string, Json>>,
  }))

const checkSchema = z.union([z.string(), z.looseObject({ kind: z.enum(['command', 'schema', 'paths']) })])

const childSchema = z.strictObject({
  title: z.string(),
  owns: z.array(z.string()).optional(),
  checks: z.array(checkSchema).default([]),
  does: z.array(callSchema).default([]),
  /** When it gives its answer. */
  ends_once: onceSchema.optional(),
  /** Its own sub-agents. It starts them first, and waits for them when its calls are made. */
  get children() {
    return z.array(childSchema).default([])
  },
})
export type ScenarioChild = z.infer<typeof childSchema>

const scenarioSchema = z.strictObject({
  /** In one sentence. */
  shows: z.string(),
  /** `none`: no repository. `empty`: one without commits. Default: all of `base` is committed. */
  git: z.enum(['none', 'empty']).optional(),
  /** Files besides those of the folder `base`, before the commit. */
  files: z.record(z.string(), fileSchema).default({}),
  /** A shell script in the person's folder, after the commit. `$CANARY` is a program that must never be run. */
  setup: z.string().optional(),
  /** Where the top of the person's folder is then, from where the files were put. */
  top: z.string().default('.'),
  /** Which folder below that the run works in. */
  cwd: z.string().default('.'),
  settings: z.record(z.string(), z.json()).default({}),
  /** The person is asked about what agents may not do by themselves, and says yes to all of it. */
  permits: z.boolean().default(false),
  /** How the result is to reach the folder, instead of what is usual. */
  land: z.enum(['changes', 'commit', 'branch']).optional(),
  /** The calls of the root agent between the start of its sub-agents and their results. Absent: a program starts them. */
  lead: z.array(callSchema).optional(),
  children: z.array(childSchema).min(1),
  /** Agents that nobody but the runtime starts: those that repair. */
  others: z.record(z.string(), childSchema.pick({ does: true, ends_once: true })).default({}),
  /** What the person does in the middle: a shell script in their folder. */
  person: z.array(z.strictObject({ once: onceSchema, does: z.string() })).default([]),
  /** Agents that the person cancels; `root` is the whole run. */
  cancels: z.array(z.strictObject({ once: onceSchema, agent: z.string() })).default([]),

  outcome: z.string().default('completed'),
  /** Events of integration by the agent that they are about, as `merge-told.ts` writes them. */
  events: z.record(z.string(), z.array(z.string())),
  /** What the reason of an agent's result, or of the run's landing (`root`), must have in it. */
  says: z.record(z.string(), z.array(z.string())).default({}),
  /** What receipts must have in them. */
  receipts: z.record(z.string(), z.record(z.string(), z.json())).default({}),
  /** Files afterwards besides those of the folder `expected`. */
  expected: z.record(z.string(), fileSchema).default({}),
  /** What of the person's repository is another afterwards, where they asked for that. */
  touched: z.array(z.string()).default([]),
  /** Whose worktrees are left, and which branches the person's repository has. */
  left: z.array(z.string()).default([]),
  branches: z.array(z.string()).default([]),
  /** The person brings the result in afterwards: then the files are as in `after_apply`, unless it is refused. */
  apply: z.enum(['brings_in', 'is_refused']).optional(),
  after_apply: z.record(z.string(), fileSchema).default({}),
  /** What the person does at last, which must run the canary: without it, that it did not run would show nothing. */
  wakes: z.string().optional(),
})

export type Scenario = Omit<z.infer<typeof scenarioSchema>, 'files' | 'expected' | 'after_apply'> & {
  name: string
  base: Files
  expected: Files
  after_apply: Files
}

export function scenarios(): Scenario[] {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders.map(({ name }) => read(name)).sort((a, b) => a.name.localeCompare(b.name))
}

function read(name: string): Scenario {
  const folder = join(FOLDER, name)
  const parsed = scenarioSchema.safeParse(parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8')))
  if (!parsed.success) throw new Error(`${name}/scenario.yaml: ${z.prettifyError(parsed.error)}`)
  const { files, expected, after_apply, ...rest } = parsed.data
  const all = (part: string, more: Record<string, z.infer<typeof fileSchema>>): Files => {
    const path = join(folder, part)
    return { ...(existsSync(path) ? filesIn(path) : {}), ...more }
  }
  return {
    ...rest,
    name,
    base: all('base', files),
    expected: all('expected', expected),
    after_apply: all('after_apply', after_apply),
  }
}
