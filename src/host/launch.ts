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

export type Launch = { file: string; args: string[] }

/** What to spawn for a command that must not do anything before it is held by the leash. */
export function leashed(argv: readonly string[]): Launch {
  return { file: '/bin/sh', args: ['-c', WAIT_FOR_START, 'sh', ...argv] }
}

/** Where bubblewrap tells what it started, and where it gets the filter for system calls. */
export const STATUS_FD = 4
export const FILTER_FD = 5

const SAY_READY_AND_WAIT = `echo >&${START_FD} && read -r _ <&${START_FD} && exec "$@" ${START_FD}<&- ${STATUS_FD}<&- ${FILTER_FD}<&-`

const WAIT_TO_RAISE = `read -r _ <&${START_FD} && exec "$@"`

/**
 * The same inside a fence: it says when the fence stands, and starts when that was seen to be true. The fence is raised
 * when the leash holds it: where bubblewrap is killed in its first moments, a child of it is left that waits for ever.
 */
export function fenced(argv: readonly string[], fence: { bwrap: string; args: readonly string[] }): Launch {
  const inside = ['/bin/sh', '-c', SAY_READY_AND_WAIT, 'sh', ...argv]
  return { file: '/bin/sh', args: ['-c', WAIT_TO_RAISE, 'sh', fence.bwrap, ...fence.args, '--', ...inside] }
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
