import { plainLine } from '../../domain/index.js'
import { refused } from '../done.js'
import { LEAST } from '../principals/gate.js'
import { type Command, defineCommand } from './command.js'
import { findCommand } from './line.js'
import { table } from './table.js'

/** `/help`, about these commands and itself. */
export function helpCommand(others: readonly Command[]): Command {
  const help: Command = defineCommand({
    name: 'help',
    usage: '/help [command]',
    example: '/help agents pin',
    summary: 'lists the commands, or says how one is used',
    least: LEAST.help,
    looks: true,
    parse: (given) => ({ ok: true, args: given.replace(/^\//, '') }),
    async run(asked) {
      const all = [help, ...others]
      const named = asked === '' ? all : all.filter(({ name }) => name === asked || name.startsWith(`${asked} `))
      if (named.length === 0) {
        const found = findCommand(all, `/${asked}`)
        return refused(
          'not_found',
          found.ok ? `There is no command /${plainLine(asked, 60)}: see /help.` : found.message,
        )
      }
      const data = named.map(({ name, usage, example, summary }) => ({ name, usage, example, summary }))
      return { ok: true, text: asked === '' ? overview(data) : details(data), data, said: `${named.length} commands.` }
    },
  })
  return help
}

type Described = Pick<Command, 'name' | 'usage' | 'example' | 'summary'>

function overview(commands: readonly Described[]): string {
  return ['Commands', ...table(commands.map(({ name, summary }) => [`/${name}`, summary]))].join('\n')
}

/** Usages as they are, so that they can be copied. */
function details(commands: readonly Described[]): string {
  const text = ({ usage, example, summary }: Described) => `${usage}\n  ${summary}\n  Example: ${example}`
  return commands.map(text).join('\n\n')
}
