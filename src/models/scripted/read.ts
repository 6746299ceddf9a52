import type { z } from 'zod'
import { createScriptedModel, type ScriptedModel } from './model.js'
import { scriptSchema } from './script.js'

export type ScriptReading = { ok: true; model: ScriptedModel } | { ok: false; message: string }

const MAX_PROBLEMS = 5

/** Reads a script's YAML. What is wrong with it is said with file and line. */
export async function readScript(file: string, text: string): Promise<ScriptReading> {
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [syntax] = document.errors
  if (syntax) return { ok: false, message: `${file}:${lines.linePos(syntax.pos[0]).line}: ${syntax.message}` }

  const parsed = scriptSchema.safeParse(document.toJS())
  if (parsed.success) return { ok: true, model: createScriptedModel({ name: file, ...parsed.data }) }

  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (hasRange(node)) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  const problems = parsed.error.issues.flatMap((issue) => flatten(issue, []))
  const told = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${file}:${lineOf(path)}: ${format(path)}${message}`)
  return { ok: false, message: told.join('\n') }
}

type Problem = { path: PropertyKey[]; message: string }

/** Of the ways in which a value could have been right, the one that it came nearest to. */
function flatten(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): Problem[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union') return [{ path, message: issue.message }]
  const ways = issue.errors.map((issues) => issues.flatMap((inner) => flatten(inner, path)))
  const depth = (problems: Problem[]) => Math.max(0, ...problems.map((problem) => problem.path.length))
  const [nearest] = ways.filter((way) => way.length > 0).sort((a, b) => depth(b) - depth(a))
  return nearest ?? [{ path, message: issue.message }]
}

function format(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text === '' ? '' : `${text.slice(1)}: `
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}
