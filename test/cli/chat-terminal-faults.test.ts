import { expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../../src/cli/chat/conversation.js'
import type { Face } from '../../src/cli/chat/face.js'
import { Tasks } from '../../src/cli/chat/tasks.js'
import { paintFor } from '../../src/cli/style.js'
import { createRetinue, type Retinue } from '../../src/index.js'
import { makeProject } from '../support/project.js'

it('says so where the result of a task cannot be read, and goes on', async () => {
  const cwd = makeProject({ 's.yaml': 'agents:\n  root:\n    - text: An answer.\n' })
  const retinue = await createRetinue({ cwd, env: {} })
  onTestFinished(() => retinue.close())
  const said: string[] = []
  const face = {
    ...{ paint: paintFor({}, {}), interactive: false, say: (text: string) => void said.push(text) },
    ...{ person: () => undefined, changed: () => {} },
  } as unknown as Face
  // Nothing else fails than the reading of what came of it.
  const unreadable = new Proxy(retinue, {
    get: (of, name) => {
      if (name === 'result') return () => Promise.reject(new Error('the disk is gone'))
      const value = of[name as keyof Retinue]
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
  const tasks = new Tasks(unreadable, face, new Conversation(retinue, 'ada', null))
  const unhandled: unknown[] = []
  const hear = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const start = () => retinue.run({ task: 'Look', model: 'scripted/s.yaml' })
  const { id } = await tasks.begin('/spawn Look', start, new AbortController().signal)
  await tasks.settled()
  await new Promise(setImmediate)
  expect({ id, said, unhandled }).toEqual({ id: 't1', said: ['✗ t1 failed: the disk is gone'], unhandled: [] })
})

it('is one session, whatever is said and begun in it at once', async () => {
  const retinue = await createRetinue({ cwd: makeProject({}), env: {} })
  onTestFinished(() => retinue.close())
  const conversation = new Conversation(retinue, 'ada', null, { mode: 'plan' })
  await Promise.all([
    ...[conversation.say('Good morning'), conversation.open(), conversation.addTask('one')],
    ...[conversation.choose({ mode: 'auto' }), conversation.addTask('two')],
  ])
  const listed = await retinue.sessions.list()
  expect(listed.map(({ title, mode, tasks }) => ({ title, mode, tasks }))).toEqual([
    { title: 'Good morning', mode: 'auto', tasks: ['one', 'two'] },
  ])
  expect(conversation.tasks).toEqual(['one', 'two'])
})
