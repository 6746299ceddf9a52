import type { Message, Part } from '../../domain/index.js'
import type { ListName, Step } from './script.js'

/**
 * Where a script is, as the numbers one sees when counting: `[3]` is the third step, `[3, 2, 1]` the first step of the
 * second branch of the third step.
 */
export type Path = readonly number[]

export function formatPath(path: Path): string {
  return path.join('.')
}

export function stepAt(steps: readonly Step[], path: Path): Step | null {
  const [number, branch, ...rest] = path
  const step = number === undefined ? undefined : steps[number - 1]
  if (!step) return null
  if (branch === undefined) return step
  const taken = step.branches?.[branch - 1]
  return taken ? stepAt(taken.steps, rest) : null
}

/** The step after this one; at the end of a branch, the one after the step that branched. */
export function after(steps: readonly Step[], path: Path): Path | null {
  const next = [...path.slice(0, -1), (path.at(-1) ?? 0) + 1]
  if (stepAt(steps, next)) return next
  return path.length > 1 ? after(steps, path.slice(0, -2)) : null
}

/** Everything an answer of a script leaves in the conversation to tell where the script is. */
export type Mark = { script: string; agent: string; list: ListName; step: string }

export function marked(mark: Mark): Pick<Part, 'provider'> {
  return { provider: { scripted: mark } }
}

/** A summary stands for the answers it replaces, so it says in its text what their marks said. */
export function summaryNote(agent: string, steps: Path | null, summary: Path): string {
  return `[scripted ${agent}: summary ${formatPath(summary)}, after step ${steps ? formatPath(steps) : '0'}]`
}

export const summaryNotes = / ?\[scripted [^\]]+: summary [\d.]+, after step [\d.]+\]/g

/**
 * The last step of a list that this conversation has seen. A function of the conversation alone, so that a run that
 * goes on in another process gets the answers it would have got in this one.
 */
export function lastStep(messages: readonly Message[], mark: Omit<Mark, 'step'>): Path | null {
  for (const message of messages.toReversed()) {
    const found =
      message.role === 'assistant'
        ? findMark(message.parts, mark)
        : message.role === 'user'
          ? findNote(message.content, mark)
          : undefined
    if (found !== undefined) return found
  }
  return null
}

function findMark(parts: readonly Part[], mark: Omit<Mark, 'step'>): Path | undefined {
  for (const part of parts) {
    const found = part.provider?.scripted
    if (found?.script !== mark.script || found.agent !== mark.agent || found.list !== mark.list) continue
    if (typeof found.step === 'string') return readPath(found.step)
  }
  return undefined
}

function findNote(text: string, mark: Omit<Mark, 'step'>): Path | null | undefined {
  if (mark.list === 'report') return undefined
  const start = `[scripted ${mark.agent}: summary `
  const at = text.lastIndexOf(start)
  if (at < 0) return undefined
  const found = /^([\d.]+), after step ([\d.]+)\]/.exec(text.slice(at + start.length))
  const path = mark.list === 'summary' ? found?.[1] : found?.[2]
  return path === undefined ? undefined : path === '0' ? null : readPath(path)
}

function readPath(text: string): Path {
  return text.split('.').map(Number)
}
