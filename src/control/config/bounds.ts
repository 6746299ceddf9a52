import { z } from 'zod'
import { type Budget, budgetFaults, MIN_WALL_MS, type ToolLimits } from '../../domain/index.js'
import { setting } from './setting.js'

/** `usual`: what holds of each where nobody says; null for no limit. */
export function budgetSettingsSchema(usual: Partial<Budget>) {
  const spending = (name: keyof Budget, example: number, description: string) => {
    const amount = (name === 'cost_usd' ? z.number() : z.int()).superRefine((value, context) => {
      for (const message of budgetFaults({ [name]: value })) context.addIssue({ code: 'custom', message })
    })
    const otherwise = usual[name]
    const notes = otherwise === null ? { default_text: 'no limit' } : { default: otherwise }
    return setting(amount, description, { ...(otherwise === undefined ? {} : notes), examples: [example] })
  }
  return z.strictObject({
    tool_calls: spending('tool_calls', 50, 'Tool calls that an agent may make.'),
    turns: spending('turns', 20, 'Answers that an agent may take from its model.'),
    context_tokens: spending(
      'context_tokens',
      64_000,
      'Tokens that one request to the model may have; fewer where the model takes fewer.',
    ),
    wall_ms: spending(
      'wall_ms',
      600_000,
      `Milliseconds that an agent may work, waiting for a person not counted. At least ${MIN_WALL_MS}.`,
    ),
    total_tokens: spending(
      'total_tokens',
      500_000,
      'Tokens that an agent and all below it may use, of requests and answers together.',
    ),
    cost_usd: spending(
      'cost_usd',
      2.5,
      'US dollars that an agent and all below it may cost. A model whose price is not known is refused then.',
    ),
    sub_agents: spending('sub_agents', 20, 'Sub-agents that there may be below an agent, at all depths. 0: none.'),
  })
}

export function limitsSettingsSchema(limits: ToolLimits) {
  const limit = (name: keyof ToolLimits, least: number, most: number, description: string) =>
    setting(z.int().min(least).max(most), description, { default: limits[name], examples: [limits[name]] })
  return z.strictObject({
    output_chars: limit(
      'output_chars',
      1000,
      1_000_000,
      'Characters of an output that reach the model; the rest is kept and can be read later.',
    ),
    read_bytes: limit('read_bytes', 1024, 100 * 1024 * 1024, 'The largest file that can be read, in bytes.'),
    read_lines: limit('read_lines', 10, 100_000, 'Lines that one reading of a file shows.'),
    find_results: limit('find_results', 10, 10_000, 'Paths that one search for files gives.'),
    search_results: limit('search_results', 10, 10_000, 'Lines that one search in files gives.'),
    command_timeout_ms: limit(
      'command_timeout_ms',
      1000,
      86_400_000,
      'Milliseconds that a command may run when the agent does not say.',
    ),
    command_max_timeout_ms: limit(
      'command_max_timeout_ms',
      1000,
      86_400_000,
      'The most milliseconds that an agent may ask for a command.',
    ),
    command_output_bytes: limit(
      'command_output_bytes',
      1024,
      100 * 1024 * 1024,
      'Bytes of the output of a command that are kept: the first and the last half of them.',
    ),
  })
}
