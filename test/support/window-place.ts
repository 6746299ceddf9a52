import { createHash } from 'node:crypto'
import type { ControlRecord, RunRow, Store } from '../../src/index.js'
import { lines, retinue } from './cli.js'
import { makeProject, type WhenFinished } from './project.js'
import { testWorker } from './retinues.js'
import { openTestStore } from './stores.js'

/** Where `start` and `retinue` of test/support/cli.ts look for the person's own configuration. */
export const OWN_CONFIG = '.config-none/retinue/config.yaml'

/** Users of the server, each with the token that `tokenOf` says. */
export function usersConfig(users: Record<string, 'viewer' | 'operator' | 'admin'>): string {
  const digest = (name: string) => createHash('sha256').update(tokenOf(name)).digest('hex')
  const names = Object.keys(users)
  return [
    `principals: ${JSON.stringify(users)}`,
    `server: { users: ${JSON.stringify(Object.fromEntries(names.map((name) => [name, { token_sha256: digest(name) }])))} }`,
    '',
  ].join('\n')
}

export const tokenOf = (name: string) => `token-of-${name}-${'x'.repeat(24)}`

/** A folder in which a run has ended, with a handle and a pin, as a person has it before strangers come. */
export async function settledPlace(options: { config?: string; finished?: WhenFinished } = {}) {
  const script = JSON.stringify({
    agents: {
      root: [{ calls: [{ spawn_agent: { task: 'Look', profile: 'researcher' } }] }, { text: 'All is well.' }],
      'a*': [{ text: 'Looked.' }],
    },
  })
  const cwd = makeProject(
    { 's.yaml': script, [OWN_CONFIG]: `model: scripted/s.yaml\n${options.config ?? ''}` },
    options.finished ? { finished: options.finished } : {},
  )
  await testWorker(cwd, options.finished ? { finished: options.finished } : {})
  await done(retinue(['run', 'Look around', '-p'], { cwd }))
  await done(retinue(['agents', 'register', '@critic', 'reviewer', 'Finds faults.'], { cwd }))
  await done(retinue(['agents', 'pin', '@critic', '--workspace'], { cwd }))
  const [run] = lines((await done(retinue(['runs', '--json'], { cwd }))).stdout) as { run_id: string }[]
  return { cwd, run_id: run?.run_id ?? '' }
}

async function done(ended: ReturnType<typeof retinue>) {
  const end = await ended
  if (end.code !== 0) throw new Error(`${end.stderr}${end.stdout}`)
  return end
}

export type Kept = { records: ControlRecord[]; runs: RunRow[]; signals: number }

/** All that requests could change and must not: records, runs with how far they are, signals. */
export function keptIn(cwd: string): Promise<Kept> {
  return withStore(cwd, async (store) => {
    const records = await Promise.all(['policy', 'profile', 'session'].map((type) => store.records(type)))
    return { records: records.flat(), runs: await store.runs(), signals: (await store.signals({ after: 0 })).length }
  })
}

/** Puts records there that are nobody's business in the window. */
export function putRecords(cwd: string, records: { type: string; id: string; value: unknown }[]): Promise<void> {
  return withStore(cwd, async (store) => {
    for (const record of records) await store.putRecord({ ...record, by: 'test', expected_version: 0 })
  })
}

async function withStore<T>(cwd: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openTestStore(cwd)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
