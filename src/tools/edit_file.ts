import { z } from 'zod'
import { plural } from '../domain/index.js'
import { digestOf } from './digest.js'
import { applyEdit } from './edit.js'
import { explainReadFault } from './file_faults.js'
import { plannedPath, plannedWitness, recoverWrite } from './paths.js'
import { defineTool, type ToolContext } from './tool.js'

export const editFile = defineTool({
  name: 'edit_file',
  effect: 'write',
  repeatable: false,
  description: () =>
    'Replaces text in a file. old_text must be in the file exactly, whitespace included, and only once: take enough ' +
    'lines around the change. With replace_all every occurrence is replaced.',
  parameters: z.strictObject({
    path: z.string().min(1).describe('relative to the workspace'),
    old_text: z.string(),
    new_text: z.string(),
    replace_all: z.boolean().optional(),
  }),
  async plan(args, context) {
    const resolved = await context.workspace.resolve(args.path)
    if (!resolved.ok) return { ok: false, message: resolved.message }
    const { path } = resolved
    const reads = { path, access: 'read' } as const
    const file = await readWhole(path, context)
    if (!file.ok) return { ok: false, message: file.message, reveals: [reads] }
    const edit = applyEdit(file.text, path, args)
    if (!edit.ok) return { ok: false, message: edit.message, reveals: [reads] }
    return {
      ok: true,
      plan: {
        summary: `edit ${path}, ${plural(edit.replacements, 'replacement')}`,
        detail: edit.snippet,
        paths: [{ path, access: 'write' }, reads],
        witness: { before: digestOf(file.text), after: digestOf(edit.text) },
      },
    }
  },
  async execute(args, context, plan) {
    const path = plannedPath(plan)
    const { before } = plannedWitness(plan)
    const file = await readWhole(path, context)
    if (!file.ok) return { ok: false, content: file.message }
    const edit = applyEdit(file.text, path, args)
    if (digestOf(file.text) !== before || !edit.ok) {
      return { ok: false, content: `${path} was changed by somebody else in the meantime: read it again` }
    }
    const written = await context.workspace.writeText(path, edit.text, { expect: before })
    if (!written.ok) return { ok: false, content: written.message }
    const content = `edited ${path}, ${plural(edit.replacements, 'replacement')}\n${edit.snippet}`
    return { ok: true, content, files_read: [path], files_changed: [path] }
  },
  recover: (args, witness, context) => recoverWrite(args.path, witness, context),
})

async function readWhole(
  path: string,
  context: ToolContext,
): Promise<{ ok: true; text: string } | { ok: false; message: string }> {
  const file = await context.workspace.readText(path, { max_bytes: context.limits.read_bytes })
  if (!file.ok) return { ok: false, message: await explainReadFault(file, path, context) }
  return { ok: true, text: file.text }
}
