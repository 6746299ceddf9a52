import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serversFolder } from '../../scripts/postgres-binaries.mjs'
import { startPostgres } from '../../scripts/postgres-server.mjs'

/** What the workers of a run know of the server that they share. The run is their parent process. */
type OfRun = { url: string; keeper: number; folder: string } | { failed: string }

/** The first who asks starts it. It ends with the run. */
export async function urlOfRun(): Promise<string> {
  const folder = folderOfRun(process.ppid)
  for (;;) {
    if (isFirst(folder)) tellRun(folder, await startedForRun())
    const known = ofRun(folder)
    if (known === null) await sleep(20)
    else if ('failed' in known) throw new Error(known.failed)
    else if (existsSync(known.folder)) return known.url
    // Left by a run of the same process number, which was killed.
    else rmSync(folder, { recursive: true, force: true })
  }
}

function folderOfRun(run: number): string {
  return join(serversFolder(), `${run}-run`)
}

/** A folder is made by exactly one of those who try. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch {
    return false
  }
}

async function startedForRun(): Promise<OfRun> {
  try {
    const { url, keeper, folder } = await startPostgres({ owner: process.ppid })
    return { url, keeper, folder }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

function tellRun(folder: string, known: OfRun): void {
  const file = join(folder, 'server.json')
  writeFileSync(`${file}.new`, JSON.stringify(known), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function ofRun(folder: string): OfRun | null {
  const file = join(folder, 'server.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

/** For vitest: what the run itself does at its end. Where it is killed instead, the server's keeper notices. */
export default function setup() {
  return async (): Promise<void> => {
    const folder = folderOfRun(process.pid)
    const known = ofRun(folder)
    rmSync(folder, { recursive: true, force: true })
    if (known === null || 'failed' in known || !existsSync(known.folder)) return
    process.kill(known.keeper, 'SIGUSR2')
    const patience = AbortSignal.timeout(10_000)
    while (existsSync(known.folder)) await sleep(20, undefined, { signal: patience })
  }
}
