import { z } from 'zod'
import {
  DELEGATION_BOUNDS,
  isolationSchema,
  MIN_WALL_MS,
  modeSchema,
  PROFILE_NAME,
  PROFILE_NAME_FAULT,
  type Profile,
  profileFaults,
} from '../../domain/index.js'
import { budgetSettingsSchema } from './bounds.js'
import { modelSettingSchema } from './models.js'
import { workspacePathFault } from './paths.js'
import { serverNames, skillNames, toolNames } from './permissions.js'
import { checked, setting } from './setting.js'
import type { ToolName } from './surroundings.js'

/** The fields of a profile as the domain has them, each checked as far as one file can tell. */
export function profilesSettingsSchema(tools: readonly ToolName[]) {
  const profile = z.strictObject(profileFields(tools)).superRefine((profile: Profile, context) => {
    for (const { path, message } of profileFaults(profile)) context.addIssue({ code: 'custom', path, message })
  })
  return z.record(z.string().regex(PROFILE_NAME, PROFILE_NAME_FAULT), profile)
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
      toolNames(tools),
      "The tools it has, of its parent's; names and patterns as in `permissions.tools`. An empty list: none.",
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
    attempt_timeout_ms: setting(z.int(), `Milliseconds that one attempt may take. At least ${MIN_WALL_MS}.`, {
      default_text: 'its `wall_ms`',
    }),
    max_retries: setting(z.int().min(least).max(most), 'How often it begins anew after an attempt that failed.', {
      default_text: '`delegation.max_retries`',
    }),
    can_spawn_children: setting(z.boolean(), 'Whether it may have sub-agents of its own.', { default: false }),
    cache: setting(
      z.boolean(),
      'Whether the same task again, in the same session, gets the earlier result instead of a new sub-agent, where that only ' +
        'read and what it read is unchanged.',
      { default: false },
    ),
  }
}
