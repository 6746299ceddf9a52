import { isAbsolute, relative } from 'node:path'
import { isDatabaseUrl } from '../domain/index.js'
import type { Host } from '../host/index.js'
import { openPostgresStore, openSqliteStore, type Store } from '../store/index.js'
import { RetinueError } from './errors.js'

/** A store that lies in the folder and was not made there: what is in it may be a stranger's. */
type Foreign = { file: string; adopt: () => Promise<void> }

/** A store, and whether what is in it is to be believed. */
export class OpenedStore {
  #foreign: Foreign | null

  constructor(
    readonly store: Store,
    foreign: Foreign | null,
    /** The file of a store that was removed while it was open, or null. */
    private readonly gone: () => Promise<string | null>,
  ) {
    this.#foreign = foreign
  }

  /**
   * Whatever works asks this first: pins, agents, sessions and runs of a store that came with the folder would be a
   * stranger's words about what may be done here, and one that was removed keeps nothing.
   */
  async check(): Promise<void> {
    if (this.#foreign !== null) {
      throw new RetinueError(
        'config',
        `${this.#foreign.file} was not made in this folder: it was copied, or came with the repository. If it is yours, say so with: retinue adopt. If not, remove it.`,
      )
    }
    const gone = await this.gone()
    if (gone !== null) {
      throw new RetinueError(
        'store',
        `${gone} was removed or replaced while it was open, and what is written to it would be lost: end this process and start again.`,
      )
    }
  }

  /** A person says that it is theirs. false: nobody doubted it. */
  async adopt(): Promise<boolean> {
    const foreign = this.#foreign
    await foreign?.adopt()
    this.#foreign = null
    return foreign !== null
  }
}

export async function openStore(
  store: Store | string,
  { host, cwd }: { host: Host; cwd: string },
): Promise<OpenedStore> {
  const kept = async () => null
  if (typeof store !== 'string') return new OpenedStore(store, null, kept)
  if (isDatabaseUrl(store)) {
    const opened = await openPostgresStore({ url: store, clock: host.clock })
    if (!opened.ok) throw new RetinueError('store', opened.message)
    return new OpenedStore(opened.store, null, kept)
  }
  const opened = await openSqliteStore({ file: store, clock: host.clock })
  if (!opened.ok) throw new RetinueError('store', opened.message)
  const path = relative(cwd, store)
  const inside = !path.startsWith('..') && !isAbsolute(path)
  // One that lies elsewhere is there because the person put it there.
  if (!opened.made_here && !inside) await opened.adopt()
  const foreign = opened.made_here || !inside ? null : { file: path, adopt: opened.adopt }
  const gone = async () => ((await opened.isThere()) ? null : inside ? path : store)
  return new OpenedStore(opened.store, foreign, gone)
}
