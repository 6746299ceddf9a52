import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OWN_GITIGNORE } from '../domain/index.js'
import { createGit } from './git.js'
import { GitCommand } from './git-command.js'
import type { Checkout, Processes } from './host.js'
import type { Locks } from './locks.js'
import { relativeTo } from './paths.js'
import type { OwnPrograms } from './programs.js'

type Machine = { processes: Processes; programs: OwnPrograms; locks: Locks }

export function createCheckouts(machine: Machine): (folder: string) => Promise<Checkout> {
  return async (folder) => ({ id: await idOf(folder), origin: await originOf(machine, folder) })
}

/** Kept in the folder, so that machines which share that have the same; a copy of it is another file. */
async function idOf(folder: string): Promise<string> {
  const own = join(folder, '.retinue')
  const file = join(own, 'checkout')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, '.gitignore'), OWN_GITIGNORE, { flag: 'wx' }).catch(() => {})
  const made = `${file}-${randomUUID()}`
  await writeFile(made, randomUUID())
  try {
    // Whole or not at all, and only for the first of those who try at once.
    await link(made, file).catch(() => {})
  } finally {
    await rm(made, { force: true })
  }
  const handle = await open(file, 'r')
  try {
    const [text, { ino }] = await Promise.all([handle.readFile('utf8'), handle.stat({ bigint: true })])
    return `${text.trim()}-${ino}`
  } finally {
    await handle.close()
  }
}

async function originOf(machine: Machine, folder: string): Promise<string | null> {
  const opened = await createGit(machine).open(folder)
  if (!opened.ok) return null
  const { git_dir, work_tree, prefix } = {
    ...opened.repository,
    prefix: relativeTo(opened.repository.work_tree, folder),
  }
  const git = new GitCommand(machine, work_tree, { git_dir, work_tree })
  const asked = await git.run(['config', '--get', 'remote.origin.url'], { answers: [1] })
  const url = asked.ok ? asked.stdout.trim() : ''
  if (url === '') return null
  const address = plainAddress(url, work_tree)
  return prefix === '' || prefix === '.' ? address : `${address}//${prefix}`
}

/**
 * The same for every way to the same repository: without protocol, user, port and ending. `from`: the clone, which a path
 * may be relative to.
 */
export function plainAddress(url: string, from: string): string {
  const [, host, path] =
    /^[a-z+]+:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(url) ??
    /^(?:[^@/]*@)?([^/:]+):(?!\/\/)(.+)$/.exec(url) ??
    []
  const plain =
    host === undefined || path === undefined
      ? resolve(from, url.replace(/^file:\/\//i, ''))
      : `${host.toLowerCase()}/${path.replace(/^\/+/, '')}`
  return plain.replace(/\/+$/, '').replace(/\.git$/, '')
}
