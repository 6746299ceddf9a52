import { join } from 'node:path'
import { z } from 'zod'
import { countInWords } from '../domain/index.js'
import type { CommandResult } from '../host/index.js'
import { oneLine, seconds } from './text.js'
import { defineTool, type ToolContext, type ToolLimits } from './tool.js'

export const runCommand = defineTool({
  name: 'run_command',
  effect: 'execute',
  repeatable: false,
  description: (limits) =>
    'Runs a shell command and returns its exit code and output. In the sandbox only the workspace can be written and ' +
    'there is no network unless it is allowed. There is no terminal and no input; API keys are not in the environment; ' +
    'processes left in the background are ended when the command ends. ' +
    `Timeout ${seconds(limits.command_timeout_ms)}, at most ${seconds(limits.command_max_timeout_ms)}.`,
  parameters: z.strictObject({
    command: z.string().regex(/\S/, 'must not be blank'),
    timeout_ms: z.int().min(1000).optional(),
    cwd: z.string().optional().describe('folder to run in, relative to the workspace'),
  }),
  async plan(args, context) {
    const resolved = await context.workspace.resolve(args.cwd || '.')
    if (!resolved.ok) return { ok: false, message: `cwd: ${resolved.message}` }
    const { path } = resolved
    if (path !== '.') {
      const listing = await context.workspace.list(path)
      if (!listing.ok) return { ok: false, message: `cwd: ${listing.message}` }
    }
    return {
      ok: true,
      plan: {
        summary: `run ${oneLine(args.command, 500)}${path === '.' ? '' : ` in ${path}`}`,
        paths: path === '.' ? [] : [{ path, access: 'read' }],
        command: args.command,
        detail: args.command,
      },
    }
  },
  async execute(args, context, plan) {
    const { limits, workspace, processes, signal } = context
    const timeout_ms = commandTimeout(args.timeout_ms ?? limits.command_timeout_ms, context)
    // The folder may have been exchanged while a person was asked. What is left is a short moment.
    const folder = await workspace.resolve(plan.paths[0]?.path ?? '.')
    if (!folder.ok) return { ok: false, content: `cwd: ${folder.message}` }
    const result = await processes.run({
      command: args.command,
      cwd: join(workspace.root, folder.path),
      ...(context.fence ? { fence: context.fence } : {}),
      timeout_ms,
      signal,
      max_output_bytes: limits.command_output_bytes,
      onOutput: context.onProgress,
    })
    const first = firstLine(result, timeout_ms, limits)
    const output = result.output.trimEnd()
    const content = output === '' ? `${first}, no output` : `${first}\n${output}`
    return { ok: result.status === 'exited' && result.exit_code === 0, content }
  },
})

/** What was asked for, but no more than is allowed and than is left. */
export function commandTimeout(asked_ms: number, { limits, time_left_ms }: ToolContext): number {
  return Math.max(1, Math.min(asked_ms, limits.command_max_timeout_ms, time_left_ms()))
}

/** How a command ended. */
export function firstLine(result: CommandResult, timeout_ms: number, limits: ToolLimits): string {
  switch (result.status) {
    case 'exited':
      return `exit code ${result.exit_code}`
    case 'signalled':
      return `ended by signal ${result.signal}`
    case 'timeout':
      return `timed out after ${seconds(timeout_ms)} and was ended (timeout_ms can be up to ${countInWords(limits.command_max_timeout_ms)})`
    case 'aborted':
      return 'stopped: the call was cancelled or its time was up'
    case 'failed':
      return `could not be started: ${result.message}`
  }
}
