import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { CommandSpec } from './host.js'

/** The program and arguments that a command stands for. Whatever goes in front of it (a sandbox) starts from here. */
export function argvOf(spec: CommandSpec): readonly string[] {
  if (typeof spec.command !== 'string') return spec.command
  return [isExecutable('/bin/bash') ? '/bin/bash' : '/bin/sh', '-c', spec.command]
}

/** The command starts when something can be read here, and not at all when this process is gone before. */
export const START_FD = 3

const WAIT_FOR_START = `read -r _ <&${START_FD} && exec "$@" ${START_FD}<&-`

/** What to spawn for a command that must not do anything before it is held by the leash. */
export function leashed(argv: readonly string[]): { file: string; args: string[] } {
  return { file: '/bin/sh', args: ['-c', WAIT_FOR_START, 'sh', ...argv] }
}

/**
 * Where a program is, by the rules of a shell; null when it is nowhere. Except that a PATH with a relative folder in it
 * does not let the files we work on choose the program.
 */
export function findProgram(name: string, options: { cwd: string; path: string }): string | null {
  if (name === '') return null
  if (name.includes('/')) {
    const path = resolve(options.cwd, name)
    return isExecutable(path) ? path : null
  }
  for (const folder of options.path.split(delimiter)) {
    const path = join(folder, name)
    if (isAbsolute(folder) && isExecutable(path)) return path
  }
  return null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
