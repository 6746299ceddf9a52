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
  run.ask('root', 'q1')
  show()
  view.delta({ type: 'text', agent_id: 'root', request_id: 'q1', text: 'I look around.\n' })
  await next()
  run.answer('root', 'q1', 0, 0)
  const children = ['a1', 'a2', 'a3'].map((id) => run.create('root', id))
  for (const child of children) child.start()
  run.call('a1', 'c1', 'read_file', 'src/slates.ts')
  run.ask('a2', 'q1')
  show()
  view.delta({ type: 'text', agent_id: 'a2', request_id: 'q1', text: 'the gutter is blocked' })
  view.delta({ type: 'text', agent_id: 'root', request_id: 'q1', text: 'half a sen' })
  await next()
  view.delta({ type: 'text', agent_id: 'root', request_id: 'q1', text: 'tence.\nAnd more' })
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
} else if (what === 'ahead') {
  // Words come as they are said, events when the log is read: here two turns later.
  for (const [request_id, text] of [
    ['q1', 'I look '],
    ['q1', 'around.'],
    ['q2', 'There is a hole.'],
    ['q3', 'I mend'],
  ] as const)
    view.delta({ type: 'text', agent_id: 'root', request_id, text })
  const person = new AbortController()
  const asked = view.reached({ call_id: 'c2' }, person.signal).then(() => {
    const say = view.hold()
    say('Shall I? (y/n)')
    view.release()
  })
  run.ask('root', 'q1')
  run.answer('root', 'q1', 10, 0)
  run.call('root', 'c1', 'read_file', 'roof.md')
  run.finish('root', 'c1', 'read_file')
  run.ask('root', 'q2')
  run.answer('root', 'q2', 10, 0)
  show()
  await next()
  run.add('root', 'permission.asked', { call_id: 'c2', tool: 'write_file', summary: 'roof.md', reason: 'mode' })
  show()
  await asked
  view.close()
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
