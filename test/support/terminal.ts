import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import { Terminal } from '@xterm/headless'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../../bin/retinue.js', import.meta.url))

/** The command line in a real pseudo-terminal, and what a person would see on the screen. */
export function openTerminal(args: string[], cwd: string) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, TERM: 'xterm-256color', XDG_CONFIG_HOME: `${cwd}/.none` }
  const size = { cols: 110, rows: 40 }
  const child = spawn(process.execPath, [BIN, ...args], { ...size, cwd, env })
  const terminal = new Terminal({ ...size, allowProposedApi: true })
  const watchers = new Set<() => void>()
  child.onData((data) => {
    terminal.write(data, () => {
      for (const look of [...watchers]) look()
    })
  })
  const ended = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)))
  onTestFinished(() => child.kill('SIGKILL'))

  const screen = () => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd()
  }
  return {
    ended,
    screen,
    type: (keys: string) => child.write(keys),
    /** Resolves when the screen shows it. */
    shows: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!screen().includes(text)) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        void ended.then(() => setTimeout(() => reject(new Error(`never shown: ${text}\n${screen()}`)), 200))
      }),
  }
}

export const DOWN = '\u001b[B'
export const ENTER = '\r'
export const CTRL_C = '\u0003'
