import { onTestFinished } from 'vitest'
import {
  createRetinue,
  type OpenOptions,
  openRetinue,
  openWorker,
  type Retinue,
  type RetinueOptions,
  startWorker,
  type Worker,
} from '../../src/index.js'
import type { WhenFinished } from './project.js'
import { testStore } from './stores.js'
import { workerProcess } from './worker-process.js'

type Finished = { finished?: WhenFinished }

/** A Retinue of a test. On workers: one that gives them what is to be done, and the worker that does it, in this process. */
export function testRetinue({
  finished = onTestFinished,
  ...options
}: RetinueOptions & { cwd: string } & Finished): Promise<Retinue> {
  const far = testStore(options.cwd)
  if (far === null) return closedAtEnd(finished, createRetinue(options))
  return beside(
    finished,
    (say) => startWorker({ ...options, ...far, say }),
    () => createRetinue({ ...options, ...far }),
  )
}

/** The same with the configuration that holds in the folder. */
export function openTestRetinue({
  finished = onTestFinished,
  ...options
}: Pick<OpenOptions, 'cwd' | 'env'> & { cwd: string } & Finished): Promise<Retinue> {
  const far = testStore(options.cwd)
  if (far === null) return closedAtEnd(finished, openRetinue(options))
  return beside(
    finished,
    (say) => openWorker({ ...options, store: far.store, say }),
    () => openRetinue({ ...options, ...far }),
  )
}

/** For tests that start the command line: where that gives its runs to workers, there is one. */
export async function testWorker(cwd: string, options: { env?: Record<string, string> } & Finished = {}): Promise<void> {
  const far = testStore(cwd)
  if (far !== null) await workerProcess(cwd, far.store, options)
}

async function closedAtEnd(finished: WhenFinished, opening: Promise<Retinue>): Promise<Retinue> {
  const retinue = await opening
  finished(() => retinue.close())
  return retinue
}

/** There is one worker in a process: it is that of whoever was opened last. */
let there: { stop: () => Promise<void> } | null = null

type Say = NonNullable<Parameters<typeof startWorker>[0]['say']>

async function beside(
  finished: WhenFinished,
  start: (say: Say) => Promise<Worker>,
  open: () => Promise<Retinue>,
): Promise<Retinue> {
  await there?.stop()
  const problems: string[] = []
  const worker = await start(({ kind, text }) => void (kind === 'problem' && problems.push(text)))
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
