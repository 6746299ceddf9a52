import { isAbsolute, relative } from 'node:path'

/** One thing that is wrong with a configuration file. */
export type Problem = {
  /** Absolute path. */
  file: string
  /** Both 1-based. */
  line: number
  column: number
  message: string
  /** The known name that was probably meant; the message says it too. */
  nearest: string | null
}

/** One line per problem, `file:line:column: message`. Files below `folder` are named relative to it. */
export function formatProblems(problems: readonly Problem[], folder?: string): string {
  return problems.map((p) => `${shown(p.file, folder)}:${p.line}:${p.column}: ${p.message}`).join('\n')
}

export function inFileOrder(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map((problem) => problem.file))]
  return [...problems].sort(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  )
}

function shown(file: string, folder: string | undefined): string {
  if (folder === undefined) return file
  const path = relative(folder, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
