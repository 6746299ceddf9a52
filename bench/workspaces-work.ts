import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from './workspaces-git.js'

/** As many as a run has at work by default. */
export const AT_ONCE = 8

export type Shape = { children: number; folders: number; files_a_folder: number; files_a_child: number }

/** `making_ms`: the sum over all worktrees but the first. `integrating_ms`: the same over all children, one at a time. */
export type Times = { wall_ms: number; making_ms: number; integrating_ms: number; tree: string }

const folderOf = (n: number): string => `part-${n % 20}/unit-${n}`

export function ownedBy(child: number): string[] {
  return [`${folderOf(child)}/**`]
}

/** What a child writes: one new file, the others are there already. */
export function writtenBy(child: number, { files_a_child }: Shape): { path: string; content: string }[] {
  return Array.from({ length: files_a_child }, (_, i) => ({
    path: `${folderOf(child)}/${i === 0 ? 'new' : `file-${i}`}.ts`,
    content: `export const by = 'child ${child}'\nexport const file = ${i}\n`,
  }))
}

export async function makeRepository(folder: string, { folders, files_a_folder }: Shape): Promise<void> {
  for (let n = 0; n < folders; n++) {
    mkdirSync(join(folder, folderOf(n)), { recursive: true })
    for (let i = 0; i < files_a_folder; i++) {
      const text = `export const unit = ${n}\nexport const file = ${i}\n${'// A line as it is in source code.\n'.repeat(8)}`
      writeFileSync(join(folder, folderOf(n), `file-${i}.ts`), text)
    }
  }
  await git(folder, ['init', '-q'])
  await git(folder, ['config', 'gc.auto', '0'])
  await git(folder, ['add', '-A'])
  await git(folder, ['commit', '-q', '-m', 'base'])
  await git(folder, ['gc', '-q'])
}

/** The folder as it was before a run. */
export async function restore(folder: string): Promise<void> {
  await git(folder, ['reset', '-q', '--hard'])
  await git(folder, ['clean', '-fdq'])
  await git(folder, ['status', '--porcelain'])
}

/** What is in the folder as a tree, found by reading every file. */
export async function treeIn(folder: string, index: string): Promise<string> {
  const env = { GIT_INDEX_FILE: index }
  await git(folder, ['add', '-A'], { env })
  return git(folder, ['write-tree'], { env })
}

/** Throws unless a folder has what all the children wrote. */
export async function checkWritten(folder: string, shape: Shape): Promise<void> {
  for (let child = 0; child < shape.children; child++) {
    for (const { path, content } of writtenBy(child, shape)) {
      if ((await readFile(join(folder, path), 'utf8')) !== content) throw new Error(`${path} is not as it was written`)
    }
  }
}
