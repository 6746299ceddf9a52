import { join } from 'node:path'
import type { z } from 'zod'
import type { Problem } from './problem.js'
import type { Config } from './schema.js'
import { readSource, type Source } from './source.js'

/** Text of a file, null when there is none. What it throws is reported as a problem of the file. */
export type ReadFile = (path: string) => Promise<string | null>

/** `name.yaml`, or `name.yml`; both are one too many, since only one of them would count. */
export async function readEither<P, S>(
  readFile: ReadFile,
  folder: string,
  name: string,
  schema: () => z.ZodType<Config<P, S>>,
): Promise<Source<P, S> & { found: boolean }> {
  const [long, short] = [join(folder, `${name}.yaml`), join(folder, `${name}.yml`)]
  const failures: Problem[] = []
  const at = (file: string, message: string): Problem => ({ file, line: 1, column: 1, message, nearest: null })
  const read = async (file: string) => {
    try {
      return await readFile(file)
    } catch (error) {
      failures.push(at(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`))
      return null
    }
  }
  const [longText, shortText] = await Promise.all([read(long), read(short)])
  const file = longText === null && shortText !== null ? short : long
  const text = longText ?? shortText
  if (longText !== null && shortText !== null) failures.push(at(short, `${name}.yaml is there too: keep one of them`))
  if (text === null) {
    return { file, config: {}, keys: [], problems: failures, problem: (f) => at(file, f.message), found: false }
  }
  const source = await readSource(file, text, schema())
  return { ...source, problems: [...failures, ...source.problems], found: true }
}
