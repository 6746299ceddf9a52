import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createConfigSurroundings, RetinueError, starterConfig } from '../../index.js'

export async function init(options: { cwd?: string }): Promise<number> {
  const file = join(resolve(options.cwd ?? '.'), 'retinue.yaml')
  try {
    await writeFile(file, await starterConfig(createConfigSurroundings()), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new RetinueError('input', `${file} is there already; nothing was changed`)
  }
  process.stdout.write(`Wrote ${file}. Everything in it is a comment: take the # away from what you want.\n`)
  return 0
}
