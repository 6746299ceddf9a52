import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** `file`: where the text stays until `forget`, so that nothing that somebody wrote is lost on the way. */
export type Edited =
  | { ok: true; text: string; file: string; forget: () => Promise<void> }
  | { ok: false; message: string }

const HOW_TO_SET =
  'There is no editor: set VISUAL or EDITOR to the command of one that waits, such as EDITOR=nano or VISUAL="code --wait"'

/** Opens the person's own editor on a text, and reads what became of it. */
export async function editText(
  text: string,
  options: { env: Record<string, string | undefined>; signal?: AbortSignal },
): Promise<Edited> {
  const command = options.env.VISUAL?.trim() || options.env.EDITOR?.trim()
  if (!command) return { ok: false, message: HOW_TO_SET }
  const folder = await mkdtemp(join(tmpdir(), 'retinue-plan-'))
  const file = join(folder, 'plan.yaml')
  await writeFile(file, text, { mode: 0o600 })
  const ended = await opened(command, file, options.signal)
  if (ended !== null) {
    const unchanged = (await readFile(file, 'utf8').catch(() => text)) === text
    if (unchanged) await rm(folder, { recursive: true, force: true })
    return {
      ok: false,
      message: `The editor (${command}) ${ended}${unchanged ? '' : `; what it wrote is in ${file}`}`,
    }
  }
  try {
    const forget = () => rm(dirname(file), { recursive: true, force: true })
    return { ok: true, text: await readFile(file, 'utf8'), file, forget }
  } catch (error) {
    return { ok: false, message: `What the editor (${command}) wrote cannot be read: ${(error as Error).message}` }
  }
}

/**
 * Why it did not end well, or null. An editor is a command line, as for git: it may have options, and variables before
 * it. No shell stays around it, which signals would end or be kept by.
 */
function opened(command: string, file: string, signal: AbortSignal | undefined): Promise<string | null> {
  const restore = ignoreInterrupts()
  return new Promise<string | null>((resolve) => {
    const child = spawn('sh', ['-c', `exec env ${command} "$1"`, 'sh', file], { stdio: 'inherit' })
    const stop = () => child.kill('SIGTERM')
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('close', (code, name) => {
      signal?.removeEventListener('abort', stop)
      resolve(code === 0 ? null : `ended with ${name ?? code}`)
    })
  }).finally(restore)
}

/** Ctrl-C in the editor is for the editor, though the terminal tells everybody in front of it. */
function ignoreInterrupts(): () => void {
  const listeners = process.listeners('SIGINT')
  const nothing = () => {}
  process.on('SIGINT', nothing)
  for (const listener of listeners) process.off('SIGINT', listener)
  return () => {
    for (const listener of listeners) process.on('SIGINT', listener)
    process.off('SIGINT', nothing)
  }
}
