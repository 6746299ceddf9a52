import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ModelChoice } from '../model.js'
import { readScript } from './read.js'

/** The model `scripted/<file>`. */
export async function openScript(file: string, root: string): Promise<ModelChoice> {
  let text: string
  try {
    text = await readFile(resolve(root, file), 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { ok: false, code: 'bad_script', message: `cannot read the script ${file}: ${why}` }
  }
  const reading = await readScript(file, text)
  return reading.ok ? reading : { ok: false, code: 'bad_script', message: reading.message }
}
