import { z } from 'zod'
import { modeSchema } from '../../domain/index.js'
import { budgetSettingsSchema, limitsSettingsSchema } from './bounds.js'
import { DEFAULTS } from './defaults.js'
import { machinePathFault, workspacePathFault } from './paths.js'
import { permissionsSettingsSchema } from './permissions.js'
import { checked, setting } from './setting.js'
import type { Surroundings } from './surroundings.js'

/** The shape of a configuration file. Only what is enforced has a key. */
export function createConfigSchema<P>(surroundings: Surroundings<P>) {
  const { model, ...others } = plainSettings(surroundings)
  return z.strictObject({
    model,
    providers: setting(
      surroundings.providers,
      'Where models are served, by the name that `model` begins with. Providers with well-known keys need no entry.',
      {
        default_text: 'none but the built-in ones',
        examples: [{ local: { type: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1' } }],
      },
    ),
    ...others,
  })
}

/** What one file says. */
export type Config<P = unknown> = z.infer<z.ZodObject<ReturnType<typeof plainSettings>, z.core.$strict>> & {
  providers?: Record<string, P> | undefined
}

function plainSettings(surroundings: Omit<Surroundings, 'providers'>) {
  return {
    model: setting(
      z.string().regex(/^[^/\s]+\/\S+$/, 'must be provider/model, as in openai/gpt-5.2'),
      'The model that agents use, as `provider/model`.',
      { default_text: 'a model of the first provider that has a key', examples: ['anthropic/claude-sonnet-4-5'] },
    ),
    mode: setting(
      modeSchema,
      'What happens where no rule speaks. `plan` changes nothing, `normal` asks before writes and commands, `auto` ' +
        'allows writes in the workspace and sandboxed commands and asks for the rest, `dangerous` asks for nothing.',
      { default: DEFAULTS.mode, examples: ['plan'] },
    ),
    permissions: setting(permissionsSettingsSchema(surroundings.tools), 'What agents may do and touch.'),
    budget: setting(budgetSettingsSchema(), 'What an agent may spend before the next call is refused.'),
    instructions: setting(
      z.array(checked(workspacePathFault)),
      'Files of the project folder that become part of the system prompt, in this order.',
      { default_text: '`AGENTS.md`, else `CLAUDE.md`', examples: [['AGENTS.md', 'docs/conventions.md']] },
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
      checked(machinePathFault),
      'The database file: relative to the project folder, absolute, or in the home folder with `~/`. Inside the ' +
        'project folder it has to be below `.retinue`, which agents cannot write.',
      { default: DEFAULTS.store, examples: ['.retinue/runs.db'] },
    ),
    trusted_projects: setting(
      z.array(
        checked((path) => {
          if (path.startsWith('/') || path.startsWith('~/') || /^[A-Za-z]:[\\/]/.test(path)) return null
          return `"${path}" is not a place: write an absolute path, or one that begins with ~/`
        }),
      ),
      'Project folders, without symbolic links in their paths, whose `retinue.yaml` may widen what this file allows. ' +
        'The folders below them are not meant.',
      { default_text: 'none', examples: [['~/code/shop']], user_only: true },
    ),
  }
}

function milliseconds() {
  return z.int().min(1000).max(3_600_000)
}
