import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandSpec, createHost } from '../src/host/index.js'
import { median } from './measure.js'

export type SandboxTimes = { plain_ms: number; bwrap_ms: number; fenced_ms: number }

/** What a person would write who wants a command to change one folder only and to reach no network. */
const BARE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-all', '--die-with-parent']

/** `true`, run plainly, inside a bare bubblewrap, and inside a fence, in a repository of about 2,000 files. */
export async function sandboxTimes(rounds = 60): Promise<SandboxTimes> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-bench-sandbox-')))
  try {
    fill(root)
    const { processes } = createHost()
    const fence = { root, write_paths: [['**']], read_paths: [['**']], hidden: ['**/.env'], network: false }
    const time = async (spec: Pick<CommandSpec, 'command' | 'fence'>) => {
      const from = performance.now()
      const result = await processes.run({ ...spec, cwd: root, timeout_ms: 20_000, max_output_bytes: 1000 })
      if (result.exit_code !== 0) throw new Error(result.message ?? result.output)
      return performance.now() - from
    }
    const ways: Pick<CommandSpec, 'command' | 'fence'>[] = [
      { command: ['true'] },
      { command: ['bwrap', ...BARE, '--bind', root, root, 'true'] },
      { command: ['true'], fence },
    ]
    const times: number[][] = [[], [], []]
    for (let round = -5; round < rounds; round++) {
      for (const [i, way] of ways.entries()) {
        const ms = await time(way)
        if (round >= 0) times[i]?.push(ms)
      }
    }
    const [plain_ms = 0, bwrap_ms = 0, fenced_ms = 0] = times.map(median)
    return { plain_ms, bwrap_ms, fenced_ms }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function fill(root: string): void {
  for (let i = 0; i < 200; i++) {
    const folder = join(root, 'packages', `p${i % 20}`, 'src', `part${i}`)
    mkdirSync(folder, { recursive: true })
    for (let j = 0; j < 10; j++) writeFileSync(join(folder, `file${j}.ts`), `export const value = ${i * j}\n`)
  }
  writeFileSync(join(root, '.env'), 'SECRET=1\n')
  writeFileSync(join(root, 'packages', 'p3', '.env'), 'SECRET=2\n')
  execFileSync('git', ['init', '-q'], { cwd: root })
}
