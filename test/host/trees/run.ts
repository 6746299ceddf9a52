import { createClock } from '../../../src/host/clock.js'
import { Locks } from '../../../src/host/locks.js'
import { createProcesses } from '../../../src/host/processes.js'
import { OwnPrograms } from '../../../src/host/programs.js'
import { capture } from '../../../src/host/trees/capture.js'
import { openPrivate, type Private } from '../../../src/host/trees/private.js'
import { add } from '../../../src/host/trees/worktree.js'

const programs = new OwnPrograms()
const machine = { processes: createProcesses({ programs }), programs, locks: new Locks() }

export type Good<T> = Extract<T, { ok: true }>

/** What is expected to succeed. */
export async function good<T extends { ok: boolean }>(result: Promise<T>): Promise<Good<T>> {
  const value = await result
  if (!value.ok) throw new Error(JSON.stringify(value))
  return value as Good<T>
}

export async function openTrees(folder: string): Promise<Private> {
  return (await good(openPrivate(machine, folder))).private
}

export const note = (message: string) => ({
  message,
  author: { name: 'a1', email: 'a1@agents.example.org' },
  at: createClock().now(),
})

/** What an agent makes of a person's folder, as a commit: it gets a worktree there, and works in it. */
export async function work(own: Private, run_id: string, name: string, change: (top: string) => void) {
  const { commit: base } = await good(capture(own, run_id))
  const { tree, included, notes } = await good(add(own, run_id, name, base))
  change(tree.top)
  const { commit: to } = await good(tree.snapshot(note(`work of ${name}`)))
  return { base, to, tree, included, notes }
}
