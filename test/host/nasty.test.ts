import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.js'
import { hostCode, runWithHost } from './another.js'
import { temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
let code: string
beforeAll(async () => {
  code = await hostCode()
})

type Told = { status: string; bytes: number; text: string; late_ms: number; grown_mb: number }

/** Runs a command in a fresh process and tells how it ended, how long after its deadline, and what memory it took. */
function tell(command: string, fenced: boolean, timeout_ms: number): Told {
  const root = temporaryFolder()
  const fence = { root, write_paths: [['**']], read_paths: [['**']], hidden: ['**/.env'], network: false }
  const spec = { command, cwd: root, timeout_ms, max_output_bytes: 1024 * 1024, ...(fenced && { fence }) }
  const script = `
    const { processes } = createHost()
    const spec = ${JSON.stringify(spec)}
    await processes.run({ ...spec, command: 'head -c 10000000 /dev/zero', timeout_ms: 150000 })
    const before = process.memoryUsage.rss()
    let peak = before
    const watch = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 5)
    const { status, output_bytes, output, duration_ms } = await processes.run(spec)
    clearInterval(watch)
    const told = { status, bytes: output_bytes, text: output.slice(0, 40), late_ms: duration_ms - spec.timeout_ms, grown_mb: (peak - before) / 1e6 }
    console.log(JSON.stringify(told))`
  const { stdout, stderr } = runWithHost(temporaryFolder(), code, script)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Told
}

/** Commands that are still there. Each has a number that no other has. */
function left(mark: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isZombie = /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return !isZombie && line.includes(String(mark)) ? [line] : []
      } catch {
        return []
      }
    })
}

function cases(fenced: boolean): void {
  // Digits that make a sleep of about an hour and tell its processes from all others.
  const mark = Number(`36${process.pid % 1000}.${process.pid}${fenced ? 1 : 0}1`)
  const ended = (told: Told) => {
    expect(told.grown_mb).toBeLessThan(100)
    // They would last an hour, or for ever. A busy machine takes its time.
    expect(told.late_ms).toBeLessThan(20_000)
    expect(left(mark)).toEqual([])
  }

  it('that prints far more than is kept of it', () => {
    const told = tell("head -c 400000000 /dev/zero | tr '\\0' x", fenced, 150_000)
    expect(told).toMatchObject({ status: 'exited', bytes: 400_000_000 })
    ended(told)
  })

  it('that prints without end', () => {
    const told = tell('yes', fenced, 500)
    expect(told.status).toBe('timeout')
    ended(told)
  })

  it('that never ends', () => {
    const told = tell(`sleep ${mark}`, fenced, 300)
    expect(told.status).toBe('timeout')
    ended(told)
  })

  it('that does not want to end', () => {
    const told = tell(`trap '' TERM INT HUP QUIT; echo deaf; while :; do sleep ${mark}; done`, fenced, 2000)
    expect(told).toMatchObject({ status: 'timeout', text: 'deaf\n' })
    ended(told)
  })

  it('that has two hundred children which do not want to end', () => {
    const command = `trap '' TERM; for i in $(seq 200); do sleep ${mark} & done; echo forked; wait`
    const told = tell(command, fenced, 4000)
    expect(told).toMatchObject({ status: 'timeout', text: 'forked\n' })
    ended(told)
  })

  it('that says what is not UTF-8', () => {
    const told = tell(`printf 'a\\xff\\xe2\\x82b'; head -c 5000000 /dev/urandom`, fenced, 150_000)
    expect(told).toMatchObject({ status: 'exited', bytes: 5_000_005 })
    expect(told.text.startsWith('a\uFFFD\uFFFDb')).toBe(true)
    ended(told)
  })
}

describe('a command', () => cases(false))
describeSandboxed('a fenced command', () => {
  cases(true)

  it('whose children have left its group and session', () => {
    const mark = Number(`36${process.pid % 1000}.${process.pid}21`)
    const told = tell(`for i in $(seq 20); do setsid -f sleep ${mark}; done; echo forked; sleep ${mark}`, true, 3000)
    expect(told).toMatchObject({ status: 'timeout', text: 'forked\n' })
    expect(left(mark)).toEqual([])
  })
})
