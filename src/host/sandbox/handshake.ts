import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { START_FD, STATUS_FD } from '../launch.js'
import type { Raised } from './fences.js'

/** True when the fence stands and was found to be as planned; otherwise what is wrong with it. */
export async function fenceStands(
  child: ChildProcess,
  fence: Raised,
  groups: { inner: number | null },
): Promise<true | { changed: string }> {
  const ready = firstText(child.stdio[START_FD] as Readable, /\n/)
  const status = firstText(child.stdio[STATUS_FD] as Readable, /"child-pid": *(\d+)/)
  const pid = Number((await status)[1])
  groups.inner = pid
  await ready
  const wrong = await fence.check(pid).catch((error: Error) => error.message)
  return wrong === null ? true : { changed: wrong }
}

/** Never resolves when the stream ends before: then the process has ended, which is noticed elsewhere. */
function firstText(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(-4096)
      const match = pattern.exec(text)
      if (match) resolve(match)
    })
  })
}

export function notStanding(reason: string | true | { changed: string }): {
  status: 'failed'
  again: 'broken' | 'changed'
  message: string
} {
  if (typeof reason === 'object') {
    const where = `${reason.changed} was changed by somebody else while that was done`
    return { status: 'failed', again: 'changed', message: `the sandbox could not be put up: ${where}; run it again` }
  }
  const said = String(reason).trim().split('\n').at(-1) || 'bubblewrap ended without a word'
  return { status: 'failed', again: 'broken', message: `the sandbox could not be put up: ${said}` }
}
