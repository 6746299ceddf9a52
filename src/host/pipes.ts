import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandEnvironment } from './environment.js'
import type { OwnPrograms } from './programs.js'

/** Two ends of a pipe, as file descriptors. Whoever takes it closes both. */
export type Pipe = { read: number; write: number }

/** A process for each batch: to start one takes as long as all the rest of a command's start. Two for each command. */
const BATCH = 32

/**
 * Real pipes for the output of commands. What Node makes for a child's stdio are sockets, which cannot be opened by
 * name: a command's `echo oops > /dev/stderr` would fail. Node cannot make pipes, so `mkfifo` does, some at a time.
 */
export class Pipes {
  readonly #spare: Pipe[] = []
  #filling: Promise<boolean> | null = null

  constructor(private readonly programs: OwnPrograms) {}

  /** null where no pipes can be made. */
  async take(): Promise<Pipe | null> {
    for (;;) {
      const pipe = this.#spare.pop()
      if (pipe) return pipe
      this.#filling ??= this.#fill().finally(() => {
        this.#filling = null
      })
      if (!(await this.#filling)) return null
    }
  }

  closeSpare(): void {
    for (const pipe of this.#spare.splice(0)) closePipe(pipe)
  }

  async #fill(): Promise<boolean> {
    const mkfifo = this.programs.find('mkfifo', { usual_first: true })
    if (mkfifo === null) return false
    let folder: string | null = null
    try {
      folder = mkdtempSync(join(tmpdir(), 'retinue-pipes-'))
      const paths = Array.from({ length: BATCH }, (_, i) => join(folder ?? '', String(i)))
      await promisify(execFile)(mkfifo, ['-m', '600', ...paths], { env: commandEnvironment() })
      for (const path of paths) this.#spare.push(openPipe(path))
      return true
    } catch {
      return false
    } finally {
      // Open pipes need no names, and nothing is left behind when this process is killed.
      if (folder !== null) rmSync(folder, { recursive: true, force: true })
    }
  }
}

export function closePipe(pipe: Pipe): void {
  closeSync(pipe.read)
  closeSync(pipe.write)
}

/** The reader must not wait for a writer; then the writer finds the reader there, and its end blocks as usual. */
function openPipe(path: string): Pipe {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return { read, write: openSync(path, constants.O_WRONLY) }
  } catch (error) {
    closeSync(read)
    throw error
  }
}

/** Reads a pipe to its end through one buffer that is used again and again. */
export function readPipe(fd: number, onChunk: (chunk: Buffer) => void): Socket {
  const buffer = Buffer.allocUnsafe(64 * 1024)
  // `onread` is documented for connections; the constructor takes it too, but its types do not say so.
  const options = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback: (bytes: number) => {
        onChunk(buffer.subarray(0, bytes))
        return true
      },
    },
  }
  return new Socket(options).resume()
}
