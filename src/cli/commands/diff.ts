import type { RunSummary } from '../../index.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { type Paint, paintFor, printable } from '../style.js'

type DiffOptions = StoreOptions & { stat?: boolean; json?: boolean }

/**
 * What a run changed in the tree of its own, or what one of its sub-agents has kept. Without a terminal it is as git
 * takes it: `retinue diff <run> | git apply`.
 */
export async function diff(id: string, agent_id: string | undefined, options: DiffOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id, status } = await retinue.find(id)
    const whose = agent_id === undefined ? {} : { agent_id }
    const text = await retinue.diff(run_id, { ...whose, stat: options.stat === true })
    if (options.json) process.stdout.write(`${JSON.stringify({ run_id, ...whose, diff: text })}\n`)
    else if (text.trim() === '') process.stderr.write(nothing(run_id, status))
    else process.stdout.write(process.stdout.isTTY ? coloured(text, paintFor(process.stdout, process.env)) : text)
    return EXIT.ok
  })
}

/** What its sub-agents have written is not the run's before it is merged. */
function nothing(run_id: string, status: RunSummary['status']): string {
  if (status === 'closed') return `Run ${run_id} changed nothing.\n`
  return `Nothing is merged in run ${run_id} so far: it is not over.\n`
}

/** As git colours it: what is a line of a file depends on where it stands, since a file may have lines like `--- a`. */
function coloured(text: string, paint: Paint): string {
  let in_file = false
  const lines = text.split('\n').map((raw) => {
    if (raw.startsWith('diff --git ')) in_file = false
    if (raw.startsWith('@@')) in_file = true
    return colourOf(raw, in_file, paint)(printable(raw))
  })
  return lines.join('\n')
}

function colourOf(line: string, in_file: boolean, { bold, cyan, green, red }: Paint): (text: string) => string {
  if (line.startsWith('@@')) return cyan
  if (in_file && line.startsWith('+')) return green
  if (in_file && line.startsWith('-')) return red
  return in_file || line.startsWith(' ') || line === '' ? (text) => text : bold
}
