import { z } from 'zod'
import {
  DELEGATION_BOUNDS,
  globFault,
  HANDLE,
  isolationSchema,
  labelSchema,
  MIN_WALL_MS,
  matchesName,
  modeSchema,
  PROFILE_NAME,
  PROFILE_NAME_FAULT,
  type Profile,
  profileFaults,
} from '../../domain/index.js'
import { budgetSettingsSchema } from './bounds.js'
import { modelSettingSchema } from './models.js'
import { workspacePathFault } from './paths.js'
import { rules, serverNames, skillNames } from './permissions.js'
import { checked, named, setting } from './setting.js'
import type { ToolName } from './surroundings.js'
import { readRule, readTool } from './tools.js'

/** The fields of a profile as the domain has them, each checked as far as one file can tell. */
export function profilesSettingsSchema(tools: readonly ToolName[]) {
  const profile = z.strictObject(profileFields(tools)).superRefine((profile: Profile, context) => {
    for (const { path, message } of profileFaults(profile)) context.addIssue({ code: 'custom', path, message })
    const { model, pool, models } = profile
    if (models?.length !== 0 || model !== undefined || pool !== undefined) return
    const message = 'a profile without a model has nothing to run on with an empty list: name models, or remove it'
    context.addIssue({ code: 'custom', path: ['models'], message })
  })
  return z.record(z.string().regex(PROFILE_NAME, PROFILE_NAME_FAULT), profile)
}

/** What is wrong with the fields of one profile, wherever it was written. */
export function profileFieldFaults(profile: Profile, tools: readonly ToolName[]): { path: string; message: string }[] {
  const parsed = profilesSettingsSchema(tools).safeParse({ profile })
  return (parsed.error?.issues ?? []).map(({ path, message }) => ({ path: path.slice(1).join('.'), message }))
}

function profileFields(tools: readonly ToolName[]) {
  const file = checked(workspacePathFault)
  const [least, most] = DELEGATION_BOUNDS.max_retries
  return {
    description: setting(
      checked(() => null),
      'What it is good for, in a sentence: agents choose by it.',
    ),
    system_prompt: setting(z.string(), 'What it is told about its work, after the files.'),
    system_prompt_file: setting(
      file,
      'A file of the project folder with the same, said before `system_prompt`. Like `bootstrap_files` it must be one that ' +
        'the sub-agent may read, and is taken as it was when the run began.',
    ),
    bootstrap_files: setting(z.array(file), 'Files of the project folder that come first. An empty list: none.', {
      default_text: '`AGENTS.md` and `ENVIRONMENT.md`, as far as they are there and it may read them',
    }),
    tools: setting(
      toolsOrCalls(tools),
      "The tools it has, of its parent's; names and patterns as in `permissions.tools`, or rules as in `permissions.allow`: " +
        'with `run_command(git diff *)` it has the tool for calls that match it, or another rule for that tool, and for ' +
        'no others. An empty list: none.',
      { default_text: "its parent's" },
    ),
    deny: setting(rules('deny', tools), 'Calls that are refused, besides those that its parent may not make.', {
      default_text: 'none',
    }),
    ask: setting(
      rules('ask', tools),
      'Calls that a person is asked about; refused where its work asks nobody (`delegation.ask_person`).',
      { default_text: 'none' },
    ),
    read_paths: setting(
      z.array(checked(pathFault('read_paths'))),
      "Globs of the files that it may read, of its parent's. An empty list: none.",
      { default_text: "its parent's" },
    ),
    write_paths: setting(
      z.array(checked(pathFault('write_paths'))),
      "Globs of the files that it may write, of its parent's. An empty list: none.",
      { default_text: "its parent's" },
    ),
    skills: setting(skillNames(), "The skills it may load, of its parent's. An empty list: none.", {
      default_text: "its parent's",
    }),
    mcp_servers: setting(serverNames(), "The MCP servers it may use, of its parent's. An empty list: none.", {
      default_text: "its parent's",
    }),
    model: setting(modelSettingSchema(), 'Its model, as `provider/model` or the name of a pool.', {
      default_text: "its parent's",
    }),
    pool: setting(
      checked(() => null),
      'One of the `pools`, instead of `model`.',
    ),
    models: setting(
      z.array(modelSettingSchema()),
      'Models and pools that it may be asked to run on instead of its `model` or `pool`; without those, the only ones that it ' +
        'runs on. An empty list: no others.',
      { default_text: "no others where it has a `model` or `pool`, else its parent's" },
    ),
    mode: setting(modeSchema, "Its mode; never wider than its parent's.", { default_text: "its parent's" }),
    isolation: setting(
      isolationSchema,
      'Where it works, at most: `read_only` takes the tools for writing and for commands away, `worktree` and `shared` are as ' +
        'in `workspace.isolation`, which it never widens.',
      { default_text: '`workspace.isolation`, and `read_only` where it can write nothing' },
    ),
    budget: setting(budgetSettingsSchema({}), 'What it may spend, with the keys of `budget`.', {
      default_text: '`delegation.budget`',
    }),
    context_share: setting(
      z.int().min(1).max(100),
      "Of its model's window, what a request may fill, in per cent, where that is known and more than " +
        '`budget.context_tokens`.',
      { default_text: 'as `budget.context_tokens` says' },
    ),
    attempt_timeout_ms: setting(z.int(), `Milliseconds that one attempt may take. At least ${MIN_WALL_MS}.`, {
      default_text: 'its `wall_ms`',
    }),
    max_retries: setting(z.int().min(least).max(most), 'How often it begins anew after an attempt that failed.', {
      default_text: '`delegation.max_retries`',
    }),
    label: setting(
      labelSchema,
      'Which [workers](workers.md#labels) may have it: those with that label. It stands over what is asked for.',
      { default_text: "its parent's, or any worker" },
    ),
    can_spawn_children: setting(z.boolean(), 'Whether it may have sub-agents of its own.', {
      default_text: '`false`, or `true` with `may_spawn`',
    }),
    may_spawn: setting(
      z.array(checked(spawnableFault)),
      'The profiles and handles that its sub-agents must have one of. An empty list: it has none.',
      { default_text: 'any' },
    ),
    cache: setting(
      z.boolean(),
      'Whether the same task again, in the same session, gets the earlier result instead of a new sub-agent, where that only ' +
        'read and what it read is unchanged.',
      { default: false },
    ),
  }
}

/** Tools by name, alias or pattern, and calls of them as rules. */
function toolsOrCalls(tools: readonly ToolName[]) {
  const entry = named((text) => {
    const read = isCall(text) ? readRule('allow', text, tools) : readTool(text, tools)
    return read.ok ? null : read.fault
  })
  return z.array(entry).superRefine((list, context) => {
    for (const [i, text] of list.entries()) {
      const whole = isCall(text) ? list.find((other) => !isCall(other) && hasAll(other, text, tools)) : undefined
      if (whole === undefined) continue
      const message = `"${text}" limits nothing beside "${whole}", which has the tool for all calls: remove one of them`
      context.addIssue({ code: 'custom', path: [i], message })
    }
  })
}

function isCall(text: string): boolean {
  return text.includes('(')
}

/** Whether a name or a pattern of names has the tool that a rule is about. */
function hasAll(name: string, rule: string, tools: readonly ToolName[]): boolean {
  const [whole, call] = [readTool(name, tools), readRule('allow', rule, tools)]
  return whole.ok && call.ok && matchesName(whole.name, call.rule.tool)
}

function pathFault(list: string) {
  return (path: string) => workspacePathFault(path) ?? globFault(path, list)
}

/** Whether there is such a profile or agent is not to be seen here: they come from elsewhere too, and may come later. */
function spawnableFault(name: string): string | null {
  if (PROFILE_NAME.test(name) || HANDLE.test(name)) return null
  return `"${name}" names no profile and is no handle: write a name as under profiles, or a handle such as @writer`
}
