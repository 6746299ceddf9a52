import { setTimeout as sleep } from 'node:timers/promises'
import { RunView } from '../../src/cli/view.js'
import { eventsOfRun } from '../support/tree-events.js'

/**
 * Plays events of a run to the view at a real terminal, one part at a time: a test sends SIGUSR2 for the next. Which
 * ones: the first argument.
 */
const [, , what = ''] = process.argv
const view = new RunView(process.stdout, process.env, { live: true })
const run = eventsOfRun(Date.now())
let shown = 0
const show = () => {
  while (shown < run.events.length) view.event(run.events[shown++] as (typeof run.events)[number])
}
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
// Nothing else keeps the process alive while it waits for a signal.
const alive = setInterval(() => {}, 1000)

run.root()
if (what === 'story') {
  show()
  view.delta({ type: 'text', agent_id: 'root', text: 'I look around.\n' })
  await next()
  const children = ['a1', 'a2', 'a3'].map((id) => run.create('root', id))
  for (const child of children) child.start()
  run.call('a1', 'c1', 'read_file', 'src/slates.ts')
  run.ask('a2', 'q1')
  show()
  view.delta({ type: 'text', agent_id: 'a2', text: 'the gutter is blocked' })
  view.delta({ type: 'text', agent_id: 'root', text: 'half a sen' })
  await next()
  view.delta({ type: 'text', agent_id: 'root', text: 'tence.\nAnd more' })
  await next()
  // A question: the terminal belongs to it, whatever happens meanwhile.
  const say = view.hold()
  say('Shall I? (y/n)')
  run.call('a3', 'c1', 'read_file', 'src/gutter.ts')
  show()
  await sleep(300)
  say('yes')
  await next()
  view.release()
  await next()
  for (const child of children) child.end()
  show()
  view.close()
  view.line('the end')
} else if (what === 'early') {
  const say = view.hold()
  say('Shall I? (y/n)')
  run.create('root', 'a1').start()
  show()
  await sleep(300)
  say('yes')
  await next()
  view.release()
  await next()
} else if (what === 'wait') {
  for (let i = 1; i <= 20; i++) run.create('root', `a${i}`).start()
  show()
  await next()
} else if (what === 'crash') {
  run.create('root', 'a1').start()
  show()
  await next()
  throw new Error('the roof fell in')
}
clearInterval(alive)
