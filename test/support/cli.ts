import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { testStoreVariables } from './stores.js'

const BIN = fileURLToPath(new URL('../../bin/retinue.js', import.meta.url))

export type Ended = { code: number | null; signal: string | null; stdout: string; stderr: string }

/** Runs the command line as a user does: the built program, in a process of its own, without this one's keys. */
export function retinue(
  args: string[],
  options: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<Ended> {
  const child = start(args, options)
  child.stdin.end(options.input ?? '')
  return ended(child)
}

export function start(args: string[], options: { cwd: string; env?: Record<string, string> }) {
  const { PATH = '', HOME = '' } = process.env
  const own = { XDG_CONFIG_HOME: `${options.cwd}/.config-none`, ...testStoreVariables(options.cwd) }
  const env = { PATH, HOME, ...own, ...options.env }
  return spawn(process.execPath, [BIN, ...args], { cwd: options.cwd, env, stdio: 'pipe' })
}

export function ended(child: ReturnType<typeof start>): Promise<Ended> {
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() })
    })
  })
}

export function lines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
