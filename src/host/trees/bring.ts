import { chmod, chown, open, readdir, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { exchange } from './exchange.js'
import { ABSENT, type HeldRoot, holdFolder, isSame, lookAt, type OnDisk } from './on-disk.js'

/** One file that is going to be changed. */
export type Step = {
  path: string
  /** What the person has there. It is in a capture, so nothing is lost when it goes. */
  before: OnDisk
  /** A file or link to put there; null: it is removed. */
  source: string | null
  /** What that is. */
  after: OnDisk
  /** Whether it is a program; null: as it was before. */
  executable: boolean | null
}

/** Without those that are done already, as a process that died may have done them. */
export function stillToDo(steps: readonly Step[]): Step[] {
  return steps.filter(({ before, after }) => !isAlready(before, after))
}

function isAlready(now: OnDisk, wanted: OnDisk): boolean {
  if (now.kind === 'file' && wanted.kind === 'file') {
    return now.digest === wanted.digest && isExecutable(now.mode) === isExecutable(wanted.mode)
  }
  // What is behind something that is no folder is not there.
  if (wanted.kind === 'absent') return now.kind === 'absent' || now.kind === 'behind' || now.kind === 'folder'
  return now.kind === 'link' && isSame(now, wanted)
}

/** Paths at which something stands in the way that is in no capture, or that is not any more as it was. */
export async function standingInTheWay(ground: HeldRoot, steps: readonly Step[]): Promise<string[]> {
  const going = new Set(steps.filter(({ source }) => source === null).map(({ path }) => path))
  const found = new Set<string>()
  for (const { path, before } of steps) {
    const now = await lookAt(ground, path)
    if (!isSame(now, before)) found.add(path)
    else if (now.kind === 'behind' && !going.has(now.at)) found.add(now.at)
    else if (now.kind === 'other') found.add(path)
    else if (now.kind === 'folder') for (const inside of await staying(ground, path, going)) found.add(inside)
  }
  return [...found].sort()
}

/** What is in a folder besides what goes and folders. */
async function staying(ground: HeldRoot, folder: string, going: ReadonlySet<string>): Promise<string[]> {
  const entries = await readdir(join(ground.root, folder), { withFileTypes: true })
  const stay: string[] = []
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) stay.push(...(await staying(ground, path, going)))
    else if (!going.has(path)) stay.push(path)
  }
  return stay
}

/** Gives the files that are going to be put in place the rights that the old ones have, and has them on disk. */
export async function makeReady(steps: readonly Step[]): Promise<void> {
  const files = steps.filter(({ after }) => after.kind === 'file')
  const next = files.values()
  const work = async () => {
    for (const { source, before, after, executable } of next) {
      if (source === null || after.kind !== 'file') continue
      if (before.kind === 'file') {
        // Only root may give files away; for everybody else it is their own file already.
        await chown(source, before.uid, before.gid).catch(() => {})
        await chmod(source, executable === null ? before.mode : withExecutable(before.mode, executable))
      }
      const handle = await open(source, 'r')
      await handle.sync().finally(() => handle.close())
    }
  }
  await Promise.all([work(), work(), work(), work()])
}

const isExecutable = (mode: number) => (mode & 0o100) !== 0
const withExecutable = (mode: number, yes: boolean) => (yes ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)

/**
 * Does the steps, what is removed first, so that a folder can take the place of a file and the other way round. Stops
 * at the first that is not as it was. What says how other files are read comes last: after a kill before that, all
 * others still look to git as they did.
 */
export async function bring(
  ground: HeldRoot,
  steps: readonly Step[],
): Promise<{ brought: string[]; stopped_at: string | null }> {
  const order = (step: Step) =>
    /(?:^|\/)\.git(?:ignore|attributes)$/.test(step.path) ? 2 : step.source === null ? 0 : 1
  const brought: string[] = []
  for (const step of [...steps].sort((a, b) => order(a) - order(b))) {
    if (!(await bringOne(ground, step))) return { brought, stopped_at: step.path }
    brought.push(step.path)
  }
  return { brought, stopped_at: null }
}

async function bringOne(ground: HeldRoot, step: Step): Promise<boolean> {
  const { path, source, before } = step
  // Only folders without any files are left of it by now.
  if (before.kind === 'folder' && source !== null) await removeEmpty(join(ground.root, path))
  const folder = holdFolder(ground, dirname(path), source !== null)
  if (folder === null) return false
  try {
    const expected = before.kind === 'file' || before.kind === 'link' ? before : ABSENT
    if (!(await exchange(folder, basename(path), ground.hold, { expected, source }))) return false
    if (!folder.isStillThere()) return false
  } finally {
    folder.close()
  }
  if (source === null) await removeEmptyAbove(ground, path)
  return true
}

/** `rmdir` removes nothing but what is empty, so nothing has to be checked. */
async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name))
  await rmdir(folder).catch(() => {})
}

async function removeEmptyAbove(ground: HeldRoot, path: string): Promise<void> {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const isGone = await rmdir(join(ground.root, folder)).then(
      () => true,
      () => false,
    )
    if (!isGone) return
  }
}
