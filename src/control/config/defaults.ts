import { isAbsolute, join } from 'node:path'
import { type Budget, DELEGATION_DEFAULTS, type Mode, ROOT_BUDGET, WORKSPACE_DEFAULTS } from '../../domain/index.js'

/** Whether commands are fenced. */
export type SandboxSetting = 'on' | 'off'

const { profiles: _, ...delegation } = DELEGATION_DEFAULTS

/** What holds where no file says otherwise. The schema's documentation and resolveConfig both read it from here. */
export const DEFAULTS = {
  mode: 'normal' as Mode,
  sandbox: 'on' as SandboxSetting,
  local_models: true,
  budget: ROOT_BUDGET as Budget,
  delegation: { ...delegation, max_concurrent: 8 },
  workspace: WORKSPACE_DEFAULTS,
  /** The first of them that exists. */
  instructions: ['AGENTS.md', 'CLAUDE.md'],
  retry: { max_attempts: 5 },
  model_timeout_ms: 600_000,
  idle_timeout_ms: 120_000,
  store: '.retinue/retinue.db',
}

/** The folder that holds `retinue/config.yaml`. A relative XDG_CONFIG_HOME is to be ignored, says its specification. */
export function configHome(env: { XDG_CONFIG_HOME?: string | undefined }, home: string): string {
  const given = env.XDG_CONFIG_HOME
  return given && isAbsolute(given) ? given : join(home, '.config')
}
