import { onTestFinished } from 'vitest'
import {
  createRetinue,
  type OpenOptions,
  openRetinue,
  openWorker,
  type Retinue,
  type RetinueOptions,
  type Store,
  startWorker,
  type Worker,
} from '../../src/index.js'
import type { WhenFinished } from './project.js'
import { testStore } from './stores.js'
import { workerProcess } from './worker-process.js'

type Finished = { finished?: WhenFinished }

type Seams = Finished & {
  /** Gets the log as those that work on agents write it. */
  spoil?: (store: Store) => void
  /** Hears what a worker has trouble with. Default: the test fails by it. */
  onProblem?: (text: string) => void
}

/** A Retinue of a test. On workers: one that gives them what is to be done, and the worker that does it, in this process. */
export async function testRetinue({
  finished,
  spoil = () => {},
  onProblem,
  ...options
}: RetinueOptions & { cwd: string } & Seams): Promise<Retinue> {
  const far = testStore(options.cwd)
  const seams = { ...(finished ? { finished } : {}), ...(onProblem ? { onProblem } : {}) }
  if (far === null) {
    const retinue = await closedAtEnd(seams, createRetinue(options))
    spoil(retinue.store)
    return retinue
  }
  const start = async (say: Say) => {
    const worker = await startWorker({ ...options, ...far, say })
    spoil(worker.retinue.store)
    return worker
  }
  return beside(seams, start, () => createRetinue({ ...options, ...far }))
}

/** The same with the configuration that holds in the folder. */
export function openTestRetinue(options: Pick<OpenOptions, 'env'> & { cwd: string }): Promise<Retinue> {
  const far = testStore(options.cwd)
  if (far === null) return closedAtEnd({}, openRetinue(options))
  return beside(
    {},
    (say) => openWorker({ ...options, store: far.store, say }),
    () => openRetinue({ ...options, ...far }),
  )
}

/** For tests that start the command line: where that gives its runs to workers, there is one. */
export async function testWorker(
  cwd: string,
  options: { env?: Record<string, string> } & Finished = {},
): Promise<void> {
  const far = testStore(cwd)
  if (far !== null) await workerProcess(cwd, far.store, options)
}

async function closedAtEnd({ finished = onTestFinished }: Finished, opening: Promise<Retinue>): Promise<Retinue> {
  const retinue = await opening
  finished(() => retinue.close())
  return retinue
}

/** There is one worker in a process: it is that of whoever was opened last. */
let there: { stop: () => Promise<void> } | null = null

type Say = NonNullable<Parameters<typeof startWorker>[0]['say']>

async function beside(
  { finished = onTestFinished, onProblem }: Omit<Seams, 'spoil'>,
  start: (say: Say) => Promise<Worker>,
  open: () => Promise<Retinue>,
): Promise<Retinue> {
  await there?.stop()
  const problems: string[] = []
  const hear = onProblem ?? ((text: string) => void problems.push(text))
  const worker = await start(({ kind, text }) => void (kind === 'problem' && hear(text)))
  let stopped: Promise<void> | null = null
  const mine = {
    stop: () => {
      stopped ??= worker.stop(0)
      return stopped
    },
  }
  there = mine
  const face = await open()
  const close = face.close.bind(face)
  // As a process ends that had both.
  face.close = async () => {
    await close()
    await mine.stop()
  }
  finished(async () => {
    await face.close()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  return face
}
