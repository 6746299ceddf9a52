import { createCompleter } from '../../src/cli/chat/complete.js'
import { saidLines } from '../../src/cli/chat/picture.js'
import { openChatScreen, openPlainScreen } from '../../src/cli/chat/screen.js'
import { paintFor } from '../../src/cli/style.js'
import { RunView } from '../../src/cli/view.js'
import { eventsOfRun } from '../support/tree-events.js'

/**
 * A chat without anybody who answers: it writes down what it was told. Some words have it do what an answer would; a
 * test sends SIGUSR2 for the next part.
 */
const complete = createCompleter({
  commands: () => [
    { name: 'agents', note: 'who there is', subcommands: [{ name: 'pin' }, { name: 'show' }] },
    { name: 'await', note: 'waits for a task' },
  ],
  handles: async () => [{ name: 'writer', note: 'writes' }],
  files: async (prefix) => ['notes.md', 'src/'].filter((name) => name.startsWith(prefix)),
})
const { stdin, stdout, env } = process
const screen =
  stdin.isTTY && stdout.isTTY
    ? openChatScreen({ input: stdin, output: stdout, env, complete, history: ['an older one', 'said\nbefore'] })
    : openPlainScreen({ input: stdin, output: stdout })
screen.label('test')
let signals = 0
let heard = () => {}
process.on('SIGUSR2', () => {
  signals++
  heard()
})
const next = async () => {
  while (signals === 0) await new Promise<void>((resolve) => (heard = resolve))
  signals--
}

// Nothing else keeps the process alive while the keyboard is somebody else's.
const alive = setInterval(() => {}, 1000)
for await (const input of screen.inputs()) {
  if (input.kind === 'interrupt') {
    screen.write('interrupted\n')
    screen.busy(false)
  }
  if (input.kind === 'leave') break
  if (input.kind !== 'said') continue
  screen.write(`${saidLines(input.text, paintFor(stdout, env))}${JSON.stringify(input.text)}\n`)
  if (input.text === 'busy') screen.busy(true)
  else if (input.text === 'stream') void stream()
  else if (input.text === 'ask') void ask()
  else if (input.text === 'prompt') void prompt()
  else if (input.text === 'tree') void tree()
  else if (input.text === 'later') later()
  else if (input.text === 'crash') setTimeout(() => Promise.reject(new Error('the roof fell in')))
}
screen.close()
clearInterval(alive)
stdout.write('left\n')

/** Words in pieces, a line that is not complete for a while, and a status below it. */
async function stream(): Promise<void> {
  screen.busy(true)
  screen.status(({ columns }) => [`at work in ${columns} columns`])
  screen.write('one ')
  await next()
  for (let i = 0; i < 40; i++) {
    screen.write(`two${i} `)
    await new Promise(setImmediate)
  }
  await next()
  screen.write('end\nlast line\n')
  screen.status(null)
  screen.busy(false)
}

/** A question that has the keyboard, as the prompts of a library have it, while others write. */
async function ask(): Promise<void> {
  const signal = () => void stdout.write('a signal\n')
  process.on('SIGINT', signal)
  screen.away()
  stdout.write('Shall I? ')
  screen.write('written meanwhile\n')
  const answer = await new Promise<string>((resolve) => {
    stdin.setRawMode(true)
    stdin.once('data', (keys) => resolve(String(keys)))
    stdin.resume()
  })
  stdin.setRawMode(false)
  stdout.write(`${JSON.stringify(answer)}\n`)
  if (answer === '\u0003') process.emit('SIGINT')
  process.off('SIGINT', signal)
  screen.back()
}

/** A question of the library that asks a person. */
async function prompt(): Promise<void> {
  const { text } = await import('@clack/prompts')
  screen.away()
  const answer = await text({ message: 'Why?', output: process.stderr })
  screen.back()
  screen.write(`answered ${String(answer)}\n`)
}

/** A run on the same screen. */
async function tree(): Promise<void> {
  const picture = { lines: null as Parameters<typeof screen.status>[0] }
  const stage = {
    write: (text: string) => screen.write(text),
    picture: (lines: Parameters<typeof screen.status>[0]) => {
      picture.lines = lines
      screen.status(picture.lines)
    },
    changed: () => screen.changed(),
    away: () => screen.away(),
    back: () => screen.back(),
  }
  const view = new RunView(stdout, env, { live: true, stage })
  const run = eventsOfRun(Date.now())
  let shown = 0
  const show = () => {
    while (shown < run.events.length) view.event(run.events[shown++] as (typeof run.events)[number])
  }
  run.root()
  run.ask('root', 'q1')
  const child = run.create('root', 'a1')
  child.start()
  show()
  view.delta({ type: 'text', agent_id: 'root', request_id: 'q1', text: 'half a sen' })
  await next()
  view.delta({ type: 'text', agent_id: 'root', request_id: 'q1', text: 'tence.\n' })
  const say = view.hold()
  say('Shall I?')
  await next()
  view.release()
  child.end()
  show()
  await next()
  view.close()
}

/** An answer that takes a moment: what was said after it waits. */
function later(): void {
  screen.busy(true)
  setTimeout(() => {
    screen.write('done\n')
    screen.busy(false)
  }, 50)
}
