import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import { Terminal } from '@xterm/headless'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../../bin/retinue.js', import.meta.url))

export type TerminalOptions = { program?: string; cols?: number; rows?: number; env?: Record<string, string> }

/** The command line in a real pseudo-terminal, and what a person would see on the screen. */
export function openTerminal(args: string[], cwd: string, options: TerminalOptions = {}) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, TERM: 'xterm-256color', XDG_CONFIG_HOME: `${cwd}/.none`, ...options.env }
  const size = { cols: options.cols ?? 110, rows: options.rows ?? 40 }
  const child = spawn(process.execPath, [options.program ?? BIN, ...args], { ...size, cwd, env })
  const terminal = new Terminal({ ...size, allowProposedApi: true })
  const watchers = new Set<() => void>()
  let written = ''
  child.onData((data) => {
    terminal.write(data, () => {
      written += data
      for (const look of [...watchers]) look()
    })
  })
  // When it has ended and all that it wrote is on the screen.
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => terminal.write('', () => resolve(exitCode)))
  })
  const killed = new Promise<number>((resolve) => child.onExit(({ signal }) => resolve(signal ?? 0)))
  onTestFinished(() => child.kill('SIGKILL'))

  const linesFrom = (first: number) => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '').slice(
      first,
    )
  }
  const screen = () => linesFrom(0).join('\n').trimEnd()
  /** Resolves when what is on the screen fits. */
  const until = (fits: () => boolean, what: () => string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!fits()) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
      void ended.then(() => setTimeout(() => reject(new Error(`never shown: ${what()}\n${screen()}`)), 200))
    })
  return {
    ended,
    /** The number of the signal that ended it, or 0. */
    killed,
    screen,
    /** What is in sight, without what has scrolled away. */
    visible: () => linesFrom(terminal.buffer.active.baseY),
    cursorShown: () => written.lastIndexOf('\u001b[?25h') >= written.lastIndexOf('\u001b[?25l'),
    written: () => written,
    type: (keys: string) => child.write(keys),
    signal: (name: string) => child.kill(name),
    /** Closes the window. */
    hangUp: () => (child as unknown as { destroy(): void }).destroy(),
    pid: child.pid,
    resize: (cols: number, rows: number) => {
      terminal.resize(cols, rows)
      child.resize(cols, rows)
    },
    until,
    /** Resolves when a question is open and keys answer it. */
    asks: () =>
      until(
        () => linesFrom(terminal.buffer.active.baseY).some((line) => line.includes('Esc means no')),
        () => 'a question',
      ),
    /** Resolves when the screen shows it. */
    shows: (text: string) =>
      until(
        () => screen().includes(text),
        () => text,
      ),
  }
}

export const DOWN = '\u001b[B'
/** To a question whether something may be done: yes, this once. */
export const YES = '\u001b[B\u001b[B\r'
export const ENTER = '\r'
export const CTRL_C = '\u0003'
