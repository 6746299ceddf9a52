import type { Command } from 'commander'
import { guard } from './guard.js'
import { withDetach, withOutput, withPlanLimits, withPlanning, withStore, withYes } from './options.js'

/** Plans: made for a goal, looked at, changed, carried out. */
export function addPlan(program: Command): Command {
  const plan = program.command('plan').description('from a goal to a plan, and from a plan to a result that is checked')
  const looking = (name: string, description: string) => withStore(plan.command(name)).description(description)

  withDetach(withPlanning(withPlanLimits(withOutput(plan.command('make', { isDefault: true })))))
    .description('make a plan for a goal, show it, and carry it out after a yes; `retinue plan "goal"` is short for it')
    .argument('[goal...]', 'what is to be reached; - takes it from stdin')
    .action(guard(async (words: string[], options) => (await import('./commands/plan.js')).planMake(words, options)))
  withDetach(withYes(withPlanLimits(withOutput(plan.command('run')))))
    .description('carry out the plan of a file, or the saved one of a run, with the options of that run')
    .argument('<plan>', 'a file (- for stdin), or the id of a run')
    .action(guard(async (name: string, options) => (await import('./commands/plan-run.js')).planRun(name, options)))
  const checking = (name: string, description: string) => withPlanLimits(looking(name, description))
  checking('show', 'what a plan would come to, or what has become of the plan of a run')
    .argument('<plan>', 'a file (- for stdin), or the id of a run')
    .option('--report', 'only the report of a run, as Markdown')
    .option('--json', 'as JSON')
    .action(guard(async (name: string, options) => (await import('./commands/plan-show.js')).planShow(name, options)))
  checking(
    'edit',
    'change a plan in the editor that VISUAL or EDITOR names; it is saved when it has no fault of its own',
  )
    .argument('<plan>', 'a file, or the id of a run')
    .action(guard(async (name: string, options) => (await import('./commands/plan-edit.js')).planEdit(name, options)))
  looking('list', 'the plans that are saved in this folder, newest first')
    .option('--json', 'one JSON object a line; [] where there is nothing')
    .action(guard(async (options) => (await import('./commands/plan-list.js')).planList(options)))
  checking('check', 'whether a plan could be carried out here, and every fault that it has')
    .argument('<plan>', 'a file (- for stdin), or the id of a run')
    .option('--json', 'as JSON')
    .action(guard(async (name: string, options) => (await import('./commands/plan-check.js')).planCheck(name, options)))
  return plan
}
