import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandEnvironment } from './environment.js'
import { TEMPORARY } from './paths.js'
import { type Record, Records } from './records.js'

export type Ripgrep = {
  args: string[]
  /** Where it starts to look. */
  cwd: string
  /** A file to be searched as its input. */
  stdin?: number
  separator: '\n' | '\0'
  /** Answers whether to go on. */
  onRecord: (record: Record) => boolean
  signal: AbortSignal | undefined
}

export type RipgrepEnd = { code: number | null; stderr: string; stopped: boolean }

const ALWAYS = [
  '--no-config',
  '--hidden',
  // One thread, but the same answer every time, and an end at the limit.
  '--sort=path',
  '--glob=!.git',
  '--glob=!.retinue',
  `--glob=!${TEMPORARY}*`,
]

const MAX_STDERR = 4096

export async function runRipgrep(run: Ripgrep): Promise<RipgrepEnd> {
  const { rgPath } = await import('@vscode/ripgrep')
  if (run.signal?.aborted) return { code: null, stderr: '', stopped: true }
  const child = spawn(rgPath, [...ALWAYS, ...run.args], {
    cwd: run.cwd,
    env: commandEnvironment(),
    stdio: [run.stdin ?? 'ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  let stopped = false
  const stop = () => {
    stopped = true
    child.kill('SIGKILL')
    child.stdout?.destroy()
  }
  const records = new Records(run.separator.charCodeAt(0), run.onRecord)
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!stopped && !records.push(chunk)) stop()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += chunk.toString('utf8')
  })
  run.signal?.addEventListener('abort', stop)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, stderr, stopped }))
    })
  } finally {
    run.signal?.removeEventListener('abort', stop)
  }
}

/**
 * Which ignore files count, as arguments. In a git repository they do up to its top, and ripgrep stops there only when
 * it is not told to do without git: a worktree lies in a folder whose own `.gitignore` says `*`. Elsewhere it would go
 * up to the file system's root, where the one of a home folder may say the same.
 */
export function ignoreFileArgs(root: string): string[] {
  let found = false
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return []
    if (folder !== root) found ||= ['.gitignore', '.ignore', '.rgignore'].some((name) => existsSync(join(folder, name)))
    if (dirname(folder) === folder) return ['--no-require-git', ...(found ? ['--no-ignore-parent'] : [])]
  }
}
