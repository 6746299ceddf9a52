import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs what is known to do harm, so nothing but one folder is ever writable for it: everything else is read-only in a
 * bubblewrap, and where that is missing it runs as nobody. With the rights of root it is not run at all.
 */
export type Fenced = { run: (command: string, cwd: string) => Promise<string>; owner: number | null }

const NOBODY = 65534

export function fence(base: string, env: NodeJS.ProcessEnv): Fenced {
  const wrap = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--bind',
    base,
    base,
    '--unshare-all',
    '--die-with-parent',
  ]
  const works = spawnSync('bwrap', [...wrap, 'true'], { stdio: 'ignore' }).status === 0
  const root = process.getuid?.() === 0
  const owner = root && !works ? NOBODY : null
  if (owner !== null) for (const name of ['.', ...readdirSync(base)]) chmodSync(join(base, name), 0o777)
  const ids = owner === null ? {} : { uid: owner, gid: owner }
  const run = (command: string, cwd: string) =>
    new Promise<string>((resolve) => {
      const bash = ['/bin/bash', '-c', command]
      const [file, ...args] = works ? ['bwrap', ...wrap, '--chdir', cwd, ...bash] : bash
      const options = { cwd, env, timeout: 60_000, ...ids }
      const child = spawn(file as string, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      const keep = (chunk: Buffer) => {
        output += chunk
      }
      child.stdout.on('data', keep)
      child.stderr.on('data', keep)
      child.on('error', (error) => resolve(String(error)))
      child.on('close', () => resolve(output))
    })
  return { run, owner }
}
