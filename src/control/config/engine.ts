import { z } from 'zod'
import { setting } from './setting.js'

const engineSchema = z.enum(['local', 'dbos'])

/** Where agents run. */
export type EngineName = z.infer<typeof engineSchema>

export const DEFAULT_ENGINE: EngineName = 'local'

/** Only the person says it: a project's file would have the runs of whoever opens it worked on by others' machines. */
export function engineSetting() {
  return setting(
    engineSchema,
    'Where agents run. `local`: in the process that starts the run. `dbos`: on [workers](workers.md), which are other ' +
      'processes on this machine or others; the `store` is then a PostgreSQL database. `--engine` and `RETINUE_ENGINE` stand ' +
      'before it.',
    { default: DEFAULT_ENGINE, examples: ['local'], user_only: true },
  )
}

/** The engine that the environment names; null where it names none. */
export function environmentEngine(
  env: Readonly<Record<string, string | undefined>>,
): { ok: true; engine: EngineName } | { ok: false; message: string } | null {
  const named = env.RETINUE_ENGINE ?? ''
  if (named === '') return null
  const { data } = engineSchema.safeParse(named)
  return data ? { ok: true, engine: data } : { ok: false, message: `"${named}" is no engine: it is local or dbos` }
}
