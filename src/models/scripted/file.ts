import { resolve } from 'node:path'
import type { ModelChoice } from '../model.js'
import { readScript } from './read.js'

/** Text of a file, null when there is none. */
export type ReadText = (path: string) => Promise<string | null>

/** The model `scripted/<file>`. */
export async function openScript(file: string, root: string, readText: ReadText): Promise<ModelChoice> {
  const path = resolve(root, file)
  const text = await readText(path).catch((error: Error) => error)
  if (text instanceof Error) {
    return { ok: false, code: 'bad_script', message: `the script ${path} cannot be read: ${text.message}` }
  }
  if (text === null) return { ok: false, code: 'bad_script', message: `there is no script ${path}` }
  const reading = await readScript(file, text)
  return reading.ok ? reading : { ok: false, code: 'bad_script', message: reading.message }
}
