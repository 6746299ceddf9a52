import { z } from 'zod'
import { DELEGATION_BOUNDS, globFault, reportPathFault } from '../../domain/index.js'
import { budgetSettingsSchema } from './bounds.js'
import { DEFAULTS } from './defaults.js'
import { modelSettingSchema } from './models.js'
import { workspacePathFault } from './paths.js'
import { checked, setting } from './setting.js'

export function delegationSettingsSchema() {
  const usual = DEFAULTS.delegation
  const count = (name: keyof typeof DELEGATION_BOUNDS, example: number, description: string) => {
    const [least, most] = DELEGATION_BOUNDS[name]
    return setting(z.int().min(least).max(most), description, { default: usual[name], examples: [example] })
  }
  return z.strictObject({
    enabled: setting(z.boolean(), 'Whether agents can have sub-agents at all.', {
      default: usual.enabled,
      examples: [true],
    }),
    max_depth: count(
      'max_depth',
      1,
      'How deep a tree of agents may be: 1 means sub-agents that have none of their own. With more, those have some whose ' +
        'profile has `can_spawn_children`.',
    ),
    max_concurrent: count(
      'max_concurrent',
      4,
      'Agents at work at once, of all runs together. One that waits for its sub-agents does not count.',
    ),
    budget: setting(
      budgetSettingsSchema(usual.budget),
      'What a sub-agent may spend unless its profile or whoever asks for it says otherwise, with the keys of `budget`. ' +
        'Defaults, not caps; it never gets more than its parent has.',
      { default_text: defaultBudget(), examples: [{ tool_calls: 10, total_tokens: 100_000 }] },
    ),
    max_retries: count('max_retries', 0, 'How often a sub-agent whose attempt failed begins anew.'),
    models: setting(
      z.array(modelSettingSchema()),
      "Models, as `provider/model` or the name of one of the `pools`, that may be asked for a sub-agent, besides its parent's and " +
        'those of `profiles`.',
      { default_text: 'none', examples: [['anthropic/claude-haiku-4-5']] },
    ),
    ask_person: setting(
      z.boolean(),
      'Whether what needs a yes is asked of you when a sub-agent does it. If not, what its mode would ask about is done ' +
        'where its parent does the same without asking, and refused otherwise; what a rule wants asked is refused.',
      { default: usual.ask_person, examples: [false] },
    ),
    report_path_pattern: setting(
      checked(reportPathFault).nullable(),
      'Where the report of each sub-agent is written, below `.retinue`; `<run>`, `<agent>` and `<idx>` stand for ids and ' +
        'the number of the step. `null`: nowhere. Reports are in the database in any case.',
      { default: usual.report_path_pattern, examples: ['.retinue/reports/<run>/<agent>.md'] },
    ),
    roles: setting(
      z.boolean(),
      'Whether the five profiles that ship are there: `researcher`, `planner`, `executor`, `reviewer`, `tester`. A profile ' +
        'of yours or of the project stands before the role of its name.',
      { default: usual.roles, examples: [true] },
    ),
    test_paths: setting(
      z.array(checked((path) => workspacePathFault(path) ?? globFault(path, 'test_paths'))),
      "Globs of what the role `tester` may write, of its parent's. An empty list: nothing.",
      {
        default_text: usual.test_paths.map((path) => `\`${path}\``).join(', '),
        examples: [['test/**', 'src/**/*.test.ts']],
      },
    ),
  })
}

function defaultBudget(): string {
  return Object.entries(DEFAULTS.delegation.budget)
    .map(([name, amount]) => `\`${name}: ${amount}\``)
    .join(', ')
}
