import { expect, it } from 'vitest'
import { RunWatch } from '../../src/engine/dbos/run-watch.js'
import { createHost } from '../../src/host/index.js'
import { createMemoryStore } from '../../src/store/index.js'

it('a parent that was let go of late leaves alone who waits for its sub-agent since', async () => {
  const watch = new RunWatch(createMemoryStore({ clock: createHost().clock }))
  const looks: string[] = []
  const removeFirst = await watch.add('run', 'a1', () => void looks.push('first'))
  const removeSecond = await watch.add('run', 'a1', () => void looks.push('second'))
  removeFirst()
  watch.tell('run', 'a1')
  removeSecond()
  watch.tell('run', 'a1')
  expect(looks).toEqual(['second'])
})
