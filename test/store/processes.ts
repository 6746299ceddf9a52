import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))

/** Makes child.ts something that node can run, below node_modules so that it finds the packages. */
export async function bundleChild(): Promise<{ script: string; remove: () => Promise<void> }> {
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'retinue-store-'))
  const script = join(folder, 'child.mjs')
  const entry = join(here, 'child.ts')
  await build({
    entryPoints: [entry],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  return { script, remove: () => rm(folder, { recursive: true }) }
}

export class Child {
  readonly process: ChildProcess
  readonly lines: string[] = []
  readonly #reader: Interface
  #errors = ''

  constructor(command: string, args: string[]) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    const { stdout, stderr } = this.process
    if (!stdout || !stderr) throw new Error('no pipes')
    this.#reader = createInterface(stdout)
    this.#reader.on('line', (line) => this.lines.push(line))
    stderr.on('data', (data) => {
      this.#errors += data
    })
    onTestFinished(() => {
      this.process.kill('SIGKILL')
    })
  }

  /** Resolves when so many lines have come. */
  async said(lines: number): Promise<void> {
    while (this.lines.length < lines) {
      await Promise.race([once(this.#reader, 'line'), this.ended.then(() => this.#failUnless(lines))])
    }
  }

  tell(line: string): void {
    this.process.stdin?.write(`${line}\n`)
  }

  /** After the last line was read. */
  readonly ended: Promise<unknown> = Promise.resolve().then(() => once(this.process, 'close'))

  async succeeded(): Promise<string[]> {
    await this.ended
    if (this.process.exitCode !== 0) throw new Error(this.#errors)
    return this.lines
  }

  #failUnless(lines: number): void {
    if (this.lines.length < lines) throw new Error(`ended after ${this.lines.length} lines: ${this.#errors}`)
  }
}
