import { z } from 'zod'
import {
  modeSchema,
  PRINCIPAL_ID,
  PRINCIPAL_ID_FAULT,
  type PrincipalRole,
  principalRoleSchema,
} from '../../domain/index.js'
import { budgetSettingsSchema, limitsSettingsSchema } from './bounds.js'
import { DEFAULTS } from './defaults.js'
import { delegationSettingsSchema } from './delegation.js'
import { type EngineName, engineSetting } from './engine.js'
import { modelSettingSchema, poolsSettingsSchema } from './models.js'
import { workspacePathFault } from './paths.js'
import { permissionsSettingsSchema } from './permissions.js'
import { profilesSettingsSchema } from './profiles.js'
import { type ServerSetting, serverSetting } from './server.js'
import { checked, setting, variableName } from './setting.js'
import { storeNameFault } from './store.js'
import type { Surroundings } from './surroundings.js'
import { webSettingsSchema } from './web.js'
import { type WorkersSetting, workersSetting } from './workers.js'
import { workspaceSettingsSchema } from './workspace.js'

/** The shape of a configuration file. Only what is enforced has a key. */
export function createConfigSchema<P, S>(surroundings: Surroundings<P, S>) {
  const { model, pools, ...others } = plainSettings(surroundings)
  return z.strictObject({
    model,
    pools,
    providers: setting(
      surroundings.providers,
      'Where models are served, by the name that `model` begins with. Providers with well-known keys need no entry.',
      {
        default_text: 'none but the built-in ones',
        examples: [{ local: { type: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1' } }],
      },
    ),
    ...others,
    mcp_servers: setting(
      surroundings.mcp_servers,
      'MCP servers, by name: started with `command`, or reached at `url`. Their tools are called ' +
        '`mcp__server__tool`. A server that a project names starts only after you trusted exactly that command, and ' +
        'one in your own file wins over one of that name.',
      {
        default_text: 'those of `.mcp.json`',
        examples: [{ files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } }],
      },
    ),
    engine: engineSetting(),
    workers: workersSetting(),
    principals: principalsSetting(),
    server: serverSetting(),
    trusted_projects: trustedProjects(),
  })
}

/** What one file says. */
export type Config<P = unknown, S = unknown> = z.infer<
  z.ZodObject<ReturnType<typeof plainSettings>, z.core.$strict>
> & {
  providers?: Record<string, P> | undefined
  mcp_servers?: Record<string, S> | undefined
  engine?: EngineName | undefined
  workers?: WorkersSetting
  principals?: Record<string, PrincipalRole> | undefined
  server?: ServerSetting
  trusted_projects?: string[] | undefined
}

function plainSettings(surroundings: Omit<Surroundings, 'providers' | 'mcp_servers'>) {
  return {
    model: setting(
      modelSettingSchema(),
      'The model that agents use, as `provider/model`, or the name of one of the `pools`.',
      { default_text: 'a model of the first provider that has a key', examples: ['anthropic/claude-sonnet-4-5'] },
    ),
    pools: setting(
      poolsSettingsSchema(),
      'Lists of models, by a name that `model` can say. The first that answers is used: where one fails before its ' +
        'first word, the next is asked.',
      { default_text: 'none', examples: [{ fast: ['anthropic/claude-haiku-4-5', 'openai/gpt-5-mini'] }] },
    ),
    mode: setting(
      modeSchema,
      'What happens where no rule speaks. `plan` changes nothing, `normal` asks before writes and commands, `auto` ' +
        'allows writes in the workspace and sandboxed commands and asks for the rest, `dangerous` asks for nothing.',
      { default: DEFAULTS.mode, examples: ['plan'] },
    ),
    permissions: setting(permissionsSettingsSchema(surroundings.tools), 'What agents may do and touch.'),
    sandbox: setting(
      z.enum(['on', 'off']),
      'Whether commands run behind a fence. With `off` they have all the rights you have, and each asks you before, ' +
        'unless the mode is `dangerous`.',
      { default: DEFAULTS.sandbox, examples: ['on'] },
    ),
    budget: setting(budgetSettingsSchema(DEFAULTS.budget), 'What an agent may spend before the next call is refused.'),
    delegation: setting(delegationSettingsSchema(), 'How agents hand work to sub-agents.'),
    profiles: setting(
      profilesSettingsSchema(surroundings.tools),
      'Recipes for sub-agents, by the name that agents ask for them by. A profile only narrows: nothing in it gives a ' +
        'sub-agent more than its parent has. One in your own file wins over one of that name in the project.',
      { default_text: 'none', examples: [EXAMPLE_PROFILES] },
    ),
    workspace: setting(
      workspaceSettingsSchema(),
      'The trees of files that sub-agents write in, and how the result of a run reaches the folder.',
    ),
    instructions: setting(
      z.array(checked(workspacePathFault)),
      'Files of the project folder that become part of the system prompt, in this order. They must be such as the agent ' +
        'may read.',
      {
        default_text: '`AGENTS.md`, else `CLAUDE.md`, if it may read it',
        examples: [['AGENTS.md', 'docs/conventions.md']],
      },
    ),
    limits: setting(limitsSettingsSchema(surroundings.limits), 'Bounds of single tool calls.'),
    retry: setting(
      z.strictObject({
        max_attempts: setting(
          z.int().min(1).max(10),
          'How often a model call is made when it fails in a way that may pass; 1 means that nothing is repeated.',
          { default: DEFAULTS.retry.max_attempts, examples: [2] },
        ),
      }),
      'What happens when a model call fails.',
    ),
    model_timeout_ms: setting(milliseconds(), 'Milliseconds that one model call may take.', {
      default: DEFAULTS.model_timeout_ms,
      examples: [300_000],
    }),
    idle_timeout_ms: setting(
      milliseconds(),
      'Milliseconds for which a streamed answer may bring nothing before it is given up.',
      {
        default: DEFAULTS.idle_timeout_ms,
        examples: [60_000],
      },
    ),
    store: setting(
      checked(storeNameFault),
      'Where runs are kept. A file is relative to the project folder, absolute, or in the home folder with `~/`; inside ' +
        'the project folder it has to be below `.retinue`, which agents cannot write. A PostgreSQL database is ' +
        '`postgres://user@host:5432/database`, and only your own file, `--store` and `RETINUE_STORE` can name one: see ' +
        '[PostgreSQL](postgres.md).',
      { default: DEFAULTS.store, examples: ['.retinue/runs.db'] },
    ),
    secrets: setting(
      z.array(variableName('not the secret itself')),
      'Environment variables whose values are kept out of the log, reports and commits, besides keys and whatever is ' +
        'named like one. The lists of both files add up.',
      { default_text: 'none', examples: [['SHOP_SIGNING_SALT']] },
    ),
    web: setting(webSettingsSchema(), 'What the tools for the web may reach and use.'),
    tests: setting(
      z.strictObject({
        command: setting(
          checked((command) => (command.trim() === '' ? 'an empty command runs no tests' : null)),
          'What `run_tests` runs, under the same permissions as every command.',
          { default_text: 'what the project looks like it uses', examples: ['npm test'] },
        ),
      }),
      'How the tests of the project are run.',
    ),
    local_models: setting(
      z.boolean(),
      'Whether Ollama, LM Studio, llama.cpp and vLLM are looked for on their usual ports of this machine.',
      { default: DEFAULTS.local_models, examples: [false] },
    ),
  }
}

const EXAMPLE_PROFILES = {
  historian: {
    description: 'Says when and why the code became what it is.',
    system_prompt: 'Answer with commits, paths and line numbers. Change nothing.',
    tools: ['read_file', 'git_*', 'run_command(git blame *)'],
    deny: ['read_file(**/.env)'],
    model: 'anthropic/claude-haiku-4-5',
    models: ['anthropic/claude-sonnet-4-5'],
    budget: { tool_calls: 40, context_tokens: 32_000 },
  },
  writer: {
    description: 'Writes the documentation.',
    system_prompt_file: 'docs/conventions.md',
    write_paths: ['docs/**', 'README.md'],
    may_spawn: ['reviewer', '@proofreader'],
    max_retries: 2,
  },
}

/** `*`, or a name that fits into the id of a record. */
const PRINCIPAL = new RegExp(`^\\*$|${PRINCIPAL_ID.source}`)

function principalsSetting() {
  return setting(
    z.record(z.string().regex(PRINCIPAL, `${PRINCIPAL_ID_FAULT}; * stands for everybody else`), principalRoleSchema),
    'What others than you may do, by name, and `*` for everybody else. A `viewer` looks, and pins for itself; an `operator` ' +
      'also registers agents, pins for all and starts and stops work; an `admin` may do everything, as you may at your own ' +
      'terminal.',
    { default_text: 'nobody else may do anything', examples: [{ ada: 'operator', '*': 'viewer' }], user_only: true },
  )
}

function trustedProjects() {
  return setting(
    z.array(
      checked((path) => {
        if (path.startsWith('/') || path.startsWith('~/') || /^[A-Za-z]:[\\/]/.test(path)) return null
        return `"${path}" is not a place: write an absolute path, or one that begins with ~/`
      }),
    ),
    'Project folders, without symbolic links in their paths, whose `retinue.yaml` may widen what this file allows. ' +
      'The folders below them are not meant.',
    { default_text: 'none', examples: [['~/code/shop']], user_only: true },
  )
}

function milliseconds() {
  return z.int().min(1000).max(3_600_000)
}
