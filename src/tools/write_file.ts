import { z } from 'zod'
import { plural } from '../domain/index.js'
import { digestOf } from './digest.js'
import { plannedPath, plannedWitness, recoverWrite } from './paths.js'
import { linesOf } from './text.js'
import { defineTool } from './tool.js'

export const writeFile = defineTool({
  name: 'write_file',
  effect: 'write',
  repeatable: false,
  description: () =>
    'Creates a file or replaces a whole one; folders are made as needed. To change a part of a file use edit_file.',
  parameters: z.strictObject({
    path: z.string().min(1).describe('relative to the workspace'),
    content: z.string().describe('the whole new content'),
  }),
  async plan(args, context) {
    if (/[/\\]$/.test(args.path)) return { ok: false, message: `${args.path} names a folder, not a file` }
    const there = await context.workspace.digest(args.path)
    if (!there.ok) return { ok: false, message: there.message }
    return {
      ok: true,
      plan: {
        summary: `${there.digest === null ? 'create' : 'replace'} ${there.path}, ${extent(args.content)}`,
        detail: args.content,
        paths: [{ path: there.path, access: 'write' }],
        witness: { before: there.digest, after: digestOf(args.content) },
      },
    }
  },
  async execute(args, context, plan) {
    const path = plannedPath(plan)
    const written = await context.workspace.writeText(path, args.content, { expect: plannedWitness(plan).before })
    if (!written.ok) return { ok: false, content: written.message }
    const done = written.created ? 'created' : 'replaced'
    return { ok: true, content: `${done} ${path}: ${extent(args.content)}`, files_changed: [path] }
  },
  recover: (args, witness, context) => recoverWrite(args.path, witness, context),
})

function extent(content: string): string {
  return `${plural(linesOf(content).length, 'line')}, ${plural(Buffer.byteLength(content), 'byte')}`
}
