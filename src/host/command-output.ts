import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandResult } from './host.js'
import { BoundedBytes, WholeCharacters } from './output.js'

/** What a command writes: both streams as they come, and stdout by itself, each bounded. */
export class CommandOutput {
  readonly #both: BoundedBytes
  readonly #stdout: BoundedBytes
  readonly #outCharacters = new WholeCharacters()
  readonly #errCharacters = new WholeCharacters()
  readonly #streams: Readable[] = []
  readonly #closed: Promise<void>[] = []

  constructor(
    limit: number,
    private readonly onOutput: ((chunk: string) => void) | undefined,
  ) {
    this.#both = new BoundedBytes(limit)
    this.#stdout = new BoundedBytes(limit)
  }

  readonly onStdout = (chunk: Buffer): void => {
    this.#stdout.push(chunk)
    this.#take(this.#outCharacters.push(chunk))
  }

  readonly onStderr = (chunk: Buffer): void => this.#take(this.#errCharacters.push(chunk))

  #take(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#both.push(chunk)
    this.onOutput?.(chunk.toString('utf8'))
  }

  follow(stream: Readable): void {
    this.#streams.push(stream)
    this.#closed.push(new Promise((resolve) => stream.once('close', resolve)))
    stream.on('error', () => {})
  }

  /** Waits for the end of both streams, or no longer than that, and lets go of them. */
  async drain(ms: number): Promise<void> {
    let open = true
    const closed = Promise.all(this.#closed).then(() => {
      open = false
    })
    // In small steps: after a long pause of this process a single timer would fire before what has come is read.
    const steps = 10
    for (let i = 0; i < steps && open; i++) await Promise.race([closed, sleep(ms / steps)])
    for (const stream of this.#streams) stream.destroy()
    this.#take(this.#outCharacters.end())
    this.#take(this.#errCharacters.end())
  }

  read(): Pick<CommandResult, 'output' | 'stdout' | 'output_bytes' | 'dropped_bytes'> {
    const both = this.#both.read()
    return {
      output: both.text,
      stdout: this.#stdout.read().text,
      output_bytes: this.#both.bytes,
      dropped_bytes: both.dropped,
    }
  }
}
