import type { EventData } from '../../domain/index.js'
import type { Here, PresentWorker } from '../../engine/index.js'
import type { CommitCheck, Host } from '../../host/index.js'
import { type Blob, blobDigest } from '../../store/index.js'

type Parts = {
  host: Host
  cwd: string
  here: Here
  workers: () => Promise<PresentWorker[]>
  /** What must not leave this machine. */
  check: CommitCheck
}

type Engine = NonNullable<EventData<'run.created'>['engine']>

export type Departure = {
  engine: Pick<Engine, 'checkout' | 'project' | 'travels'>
  blobs: Blob[]
  /** Why its files stay here, where there are workers elsewhere. */
  notes: string[]
}

/** Decides, when a run is given to the workers, whether its files go with it: those elsewhere have another checkout. */
export class Departures {
  constructor(private readonly parts: Parts) {}

  /** `apart`: its agents work in trees of their own. Those who share the person's folder cannot be anywhere else. */
  async of(run_id: string, { apart }: { apart: boolean }): Promise<Departure> {
    const { checkout, project } = this.parts.here
    const stays = (...notes: string[]): Departure => ({ engine: { checkout, project }, blobs: [], notes })
    // Nobody else has a checkout of it.
    if (project === checkout) return stays()
    const workers = (await this.parts.workers()).filter((worker) => worker.project_id === project)
    const isHere = workers.some((worker) => worker.checkout === checkout)
    const isElsewhere = workers.some((worker) => worker.checkout !== checkout)
    if (isHere && !isElsewhere) return stays()
    const bound = (why: string) => stays(`only workers in this folder can work on this run: ${why}`)
    if (!apart) return bound('its agents share the folder (workspace.isolation: shared)')
    const packed = await this.#pack(run_id)
    if (!packed.ok) return bound(packed.message)
    const { base, needs, bytes } = packed
    const parcel = bytes && blobDigest(bytes)
    return {
      engine: { checkout, project, travels: { base, needs, parcel } },
      blobs: bytes && parcel ? [{ digest: parcel, bytes }] : [],
      notes: packed.notes,
    }
  }

  /** What the person has now, as far as others do not have it. */
  async #pack(run_id: string) {
    const { host, cwd, check } = this.parts
    const opened = await host.trees(cwd, run_id)
    if (!opened.ok) return opened
    const captured = await opened.trees.capture(run_id)
    if (!captured.ok) return captured
    const packed = await opened.trees.packBase(run_id, captured.commit, check)
    return packed.ok ? { ...packed, base: captured.commit, notes: captured.notes } : packed
  }
}
