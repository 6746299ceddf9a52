import { formatProblems, RetinueError, readAgentFile, readYaml } from '../../index.js'
import { textOf } from '../input.js'
import { placeOf, type StoreOptions } from '../open.js'

/** A profile as a file has it: YAML, JSON, or Markdown with a header. What it says is checked by whoever keeps it. */
export async function profileFrom(file: string, options: StoreOptions): Promise<unknown> {
  const text = await textOf(file)
  const shown = file === '-' ? 'stdin' : file
  if (file.endsWith('.md')) return readAgentFile({ cwd: placeOf(options).cwd, env: process.env, file: shown, text })
  const read = await readYaml(shown, text)
  if (read.problems.length > 0) throw new RetinueError('input', formatProblems(read.problems))
  return read.value
}
