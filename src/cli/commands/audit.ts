import { commandsIn } from '../../index.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { line, paintFor } from '../style.js'

/** The control log: who changed, or tried to change, which agents there are. */
export async function audit(options: StoreOptions & { last: number; as?: string; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const events = await retinue.control(options.as).log({ last: options.last })
    if (options.json) {
      for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`)
      return EXIT.ok
    }
    const commands = commandsIn(events)
    if (commands.length === 0) process.stdout.write('Nothing was done yet.\n')
    const { dim, green, red, yellow } = paintFor(process.stdout, process.env)
    const colours = { success: green, failure: yellow, denied: red, interrupted: red }
    for (const { at, ...data } of commands) {
      const when = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
      const who = `${line(data.principal)} (${data.role})`
      const what = line(`${data.command} ${data.arguments}`.trim())
      const said = dim(line(data.message))
      process.stdout.write(
        `${when}  ${colours[data.outcome](data.outcome.padEnd(11))}  ${who.padEnd(18)}  ${what}  ${said}\n`,
      )
    }
    return EXIT.ok
  })
}
