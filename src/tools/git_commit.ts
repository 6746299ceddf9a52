import { z } from 'zod'
import type { Redactor } from '../domain/index.js'
import type { CommitCheck } from '../host/index.js'
import { gitPaths, NO_REPOSITORY, pathsForGit } from './git.js'
import { plannedWitness } from './paths.js'
import { oneLine } from './text.js'
import { defineTool } from './tool.js'

export const gitCommit = defineTool({
  name: 'git_commit',
  effect: 'write',
  repeatable: false,
  description: () => 'Commits the given paths, or everything that changed or is new, ignored files left out.',
  parameters: z.strictObject({
    message: z.string().min(1),
    paths: z.array(z.string().min(1)).optional(),
  }),
  async plan(args, context) {
    const planned = await gitPaths(context, args.paths, 'write')
    if (!planned.ok) return planned
    const head = await (await context.repository())?.head()
    if (!head?.ok) return { ok: false, message: head?.message ?? NO_REPOSITORY }
    const what = args.paths?.length ? args.paths.join(', ') : 'all changes'
    return {
      ok: true,
      plan: {
        summary: `commit ${what}: ${oneLine(args.message)}`,
        paths: planned.paths,
        witness: { before: head.commit, after: null },
      },
    }
  },
  async execute(args, context, plan) {
    const repository = await context.repository()
    if (!repository) return { ok: false, content: NO_REPOSITORY }
    const head = await repository.head()
    if (!head.ok) return { ok: false, content: head.message }
    if (head.commit !== plannedWitness(plan).before) {
      return {
        ok: false,
        content: 'HEAD was moved by somebody else in the meantime: look at git_log, then commit again',
      }
    }
    const { redactor } = context
    const inMessage = redactor.findIn(args.message)
    if (inMessage.length > 0)
      return { ok: false, content: `${REFUSED}\nthe message: the secret ${inMessage.join(', ')}` }
    const paths = pathsForGit(plan)
    const check = commitCheck(redactor, context.mayRead)
    const done = await repository.commit({ message: args.message, ...(paths ? { paths } : {}), check })
    if (!done.ok) return { ok: false, content: done.code === 'refused' ? `${REFUSED}\n${done.message}` : done.message }
    return { ok: true, content: `committed ${done.commit}\n${done.summary}`.trimEnd() }
  },
  async recover(_args, witness, context) {
    const head = await (await context.repository())?.head()
    return head?.ok && head.commit === witness.before ? 'not_done' : 'unknown'
  },
})

const REFUSED = 'Nothing was committed. Leave this out, then commit again:'

/** What must not get into a commit: secrets, in a name or a content, and files that the agent may not read itself. */
export function commitCheck(redactor: Redactor, mayRead: (path: string) => boolean): CommitCheck {
  return (path) => {
    const content = redactor.stream()
    return {
      push: (text) => void content.push(text),
      end() {
        content.end()
        const names = [...new Set([...redactor.findIn(path), ...content.found()])]
        if (names.length > 0) return `${path}: the secret ${names.join(', ')}`
        return mayRead(path) ? null : `${path}: you may not read it`
      },
    }
  }
}
