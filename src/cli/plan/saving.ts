import { chmod, mkdir, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { planFile, type Retinue } from '../../index.js'

/** Only the person reads what their runs leave behind. */
const PRIVATE = 0o600

/**
 * All of it or nothing: whoever reads it meanwhile has the one or the other. It has the permissions of what it takes the
 * place of, else those of `like`, and where a link leads to it, the link stays.
 */
export async function saveText(file: string, text: string, like = file): Promise<void> {
  const target = await realpath(file).catch(() => file)
  const mode = (await modeOf(target)) ?? (await modeOf(like)) ?? PRIVATE
  await mkdir(dirname(target), { recursive: true })
  const beside = `${target}.${process.pid}.tmp`
  await writeFile(beside, text, { mode: PRIVATE })
  await chmod(beside, mode)
  await rename(beside, target)
}

/** Keeps what a person made of the plan of a run where the plan is. Answers with the file, as people are told it. */
export async function savePlanOfRun({ cwd }: Pick<Retinue, 'cwd'>, run_id: string, text: string): Promise<string> {
  const name = planFile(run_id)
  await saveText(join(cwd, name), text)
  return name
}

async function modeOf(file: string): Promise<number | null> {
  const found = await stat(file).catch(() => null)
  return found && found.mode & 0o777
}
