import { join, resolve } from 'node:path'
import { createRedactor, isDatabaseUrl } from '../domain/index.js'
import { Dispatch, databaseOf, Routes } from '../engine/index.js'
import { createHost, type Identity } from '../host/index.js'
import { createModels } from '../models/index.js'
import type { Store } from '../store/index.js'
import type { Retinue, RetinueOptions } from './api.js'
import { RetinueError } from './errors.js'
import { openStore } from './open-store.js'
import { checkOptions, retinueOptionsSchema } from './options.js'
import { openFolder } from './project/folder.js'
import { Reach } from './project/reach.js'
import { findSecrets, secretsOfStore } from './project/secrets.js'
import { LocalRetinue, type Role } from './retinue.js'
import type { Advancing } from './workers/advancing.js'
import { hereIn } from './workers/here.js'

export function createRetinue(options: RetinueOptions = {}): Promise<Retinue> {
  return assemble(options, { kind: 'face' })
}

/** A Retinue whose process is a worker. */
export async function createWorkerRetinue(
  options: RetinueOptions & { store: string },
  labels: readonly string[],
): Promise<{
  retinue: Retinue
  advancing: Advancing
  dispatch: Dispatch
  machine: string
  identity: Identity
  letGo: () => Promise<void>
  sweep: () => Promise<void>
}> {
  const host = options.host ?? createHost()
  const retinue = await assemble({ ...options, host, engine: 'dbos' }, { kind: 'worker', labels })
  const { advancing, dispatch } = retinue
  if (!advancing || !dispatch) throw new Error('A worker has something to work with')
  const [machine = ''] = host.identity.owner.split(':')
  const { identity } = host
  return { retinue, advancing, dispatch, machine, identity, letGo: () => retinue.letGo(), sweep: () => retinue.sweep() }
}

async function assemble(options: RetinueOptions, role: Role): Promise<LocalRetinue> {
  checkOptions(retinueOptionsSchema, options)
  const host = options.host ?? createHost()
  const env = options.env ?? process.env
  const folder = resolve(options.cwd ?? process.cwd())
  const cwd = await openFolder(host, folder)
  const database = options.engine === 'dbos' ? databaseFor(options.store, role) : null
  const opened = await openStore(options.store ?? join(cwd, '.retinue', 'retinue.db'), { host, cwd })
  const dispatch =
    database && new Dispatch(database, await hereIn(host, cwd, options.project), new Routes(opened.store))
  const models = options.models ?? createModels({ env, scripts_root: cwd, readText: host.readText })
  const { reach: sources = {} } = options
  const labels = dispatch ? null : (options.settings?.labels ?? [])
  const reach = new Reach(
    host,
    { cwd, env, has_labels: labels === null || labels.length > 0 },
    typeof sources === 'function' ? sources : async () => sources,
  )
  const redactor = createRedactor([
    ...findSecrets({ env, named: options.settings?.secrets ?? [] }),
    ...(options.secrets ?? []),
    ...secretsOfStore(options.store),
  ])
  const named_secrets = [...(options.settings?.secrets ?? []), ...(options.secrets ?? []).map(({ name }) => name)]
  return new LocalRetinue({
    cwd,
    host,
    opened,
    models,
    reach,
    redactor,
    named_secrets,
    labels,
    settings: options.settings ?? {},
    found: options.profiles ?? (async () => []),
    database: typeof options.store === 'string' && isDatabaseUrl(options.store) ? options.store : null,
    dispatch,
    project: options.project,
    role,
  })
}

function databaseFor(store: Store | string | undefined, { kind }: Role): ReturnType<typeof databaseOf> {
  if (typeof store === 'string' && isDatabaseUrl(store)) return databaseNamed(store)
  throw new RetinueError(
    'config',
    kind === 'worker'
      ? 'A worker takes runs from the PostgreSQL that has the log: name it with store: postgres://…'
      : 'The engine dbos runs agents on the PostgreSQL that has the log: name one with store: postgres://…, or leave engine: local',
  )
}

function databaseNamed(url: string): ReturnType<typeof databaseOf> {
  try {
    return databaseOf(url)
  } catch (error) {
    throw new RetinueError('config', (error as Error).message)
  }
}
