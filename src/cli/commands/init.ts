import { statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createConfigSurroundings, RetinueError, starterConfig } from '../../index.js'
import { absolute } from '../open.js'

export async function init(options: { cwd?: string }): Promise<number> {
  const folder = absolute(options.cwd ?? '.')
  const file = join(folder, 'retinue.yaml')
  const other = join(folder, 'retinue.yml')
  if (statSync(other, { throwIfNoEntry: false })?.isFile()) {
    throw new RetinueError('input', `${other} is there already; nothing was changed`)
  }
  try {
    await writeFile(file, await starterConfig(createConfigSurroundings()), { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new RetinueError(
      'input',
      code === 'EEXIST' ? `${file} is there already; nothing was changed` : `Cannot write ${file}: ${message}`,
    )
  }
  process.stdout.write(`Wrote ${file}. Everything in it is a comment: take the # away from what you want.\n`)
  return 0
}
