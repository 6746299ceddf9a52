import { randomUUID } from 'node:crypto'
import type { GitCommand } from './git-command.js'
import type { CommitCheck, GitResult } from './host.js'
import { fault } from './paths.js'

/**
 * Takes the output of `git cat-file --batch=<nonce>` apart: a line with the nonce before each object, which nobody who
 * wrote the objects can know. Sizes would not help: bytes that are no UTF-8 have become others on the way.
 */
export function readObjects(
  nonce: string,
  { onObject, onText }: { onObject(number: number): void; onText(text: string): void },
) {
  const mark = `${nonce}\n`
  let held = ''
  let objects = 0
  function take(last: boolean): void {
    for (let at = held.indexOf(mark); at >= 0; at = held.indexOf(mark)) {
      if (objects > 0) onText(held.slice(0, at))
      onObject(objects++)
      held = held.slice(at + mark.length)
    }
    const kept = last ? 0 : Math.min(held.length, mark.length - 1)
    if (objects > 0) onText(held.slice(0, held.length - kept))
    held = held.slice(held.length - kept)
  }
  return {
    push(text: string) {
      held += text
      take(false)
    },
    end: () => take(true),
    objects: () => objects,
  }
}

/** Has each of these files read by a check, and says what was found. */
export async function checkFiles(
  git: GitCommand,
  files: readonly { id: string; path: string }[],
  check: CommitCheck,
  env: Record<string, string> = {},
): Promise<GitResult<{ wrong: string[] }>> {
  const wrong: string[] = []
  let reading: ReturnType<CommitCheck> | null = null
  const end = () => {
    const found = reading?.end() ?? null
    if (found !== null) wrong.push(found)
  }
  const nonce = randomUUID()
  const reader = readObjects(nonce, {
    onObject: (number) => {
      end()
      reading = check(files[number]?.path ?? '')
    },
    onText: (text) => reading?.push(text),
  })
  const stdin = files.map(({ id }) => `${id}\n`).join('')
  const read = await git.run(['cat-file', `--batch=${nonce}`], { stdin, env, onOutput: reader.push })
  if (!read.ok) return read
  reader.end()
  end()
  if (reader.objects() !== files.length) return fault('failed', 'git did not give all files back to be checked')
  return { ok: true, wrong }
}
