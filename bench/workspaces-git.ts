import { spawn } from 'node:child_process'

const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
}

/** git as a person or a script runs it; what it said, without the last line break. */
export function git(
  cwd: string,
  args: string[],
  { env, stdin = '' }: { env?: Record<string, string>; stdin?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: { ...ENV, ...env } })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out).toString().trimEnd())
      else reject(new Error(`git ${args.join(' ')} ended with ${code}: ${Buffer.concat(err)}`))
    })
    // It may not read what it is given.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}
