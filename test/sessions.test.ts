import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../src/cli/chat/conversation.js'
import { createRedactor, createRetinue } from '../src/index.js'
import type { Sessions } from '../src/library/api.js'
import { createSessions } from '../src/library/sessions.js'
import { openSqliteStore, type Store } from '../src/store/index.js'
import { CANARIES } from './support/canaries.js'
import { makeProject } from './support/project.js'

const SCRIPT = `agents:
  root:
    - { text: One., cost_usd: 0.5, usage: { input_tokens: 10, output_tokens: 1 } }
    - { text: Two., cost_usd: 0.25, usage: { input_tokens: 20, output_tokens: 1 } }
`

async function open(cwd: string) {
  const retinue = await createRetinue({
    cwd,
    env: {},
    settings: { model: { name: 'scripted/s.yaml', source: 'user' } },
  })
  onTestFinished(() => retinue.close())
  return retinue
}

describe('sessions', () => {
  it('take no change that could not be read again', async () => {
    const { sessions } = await open(makeProject({ 's.yaml': SCRIPT }))
    const { session_id } = await sessions.create('ada')
    const before = await sessions.known(session_id)
    for (const change of [{ mode: 'frob' }, { title: 5 }, { owner: 'vic' }, { model: '' }] as object[]) {
      await expect(sessions.update(session_id, change)).rejects.toMatchObject({ code: 'input' })
    }
    for (const owner of [undefined, '', 'a:b', 'x'.repeat(1000)] as string[]) {
      await expect(sessions.create(owner)).rejects.toMatchObject({ code: 'input' })
    }
    expect(await sessions.known(session_id)).toEqual(before)
  })

  it('are records from their first moment on, and go on where they are found again', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const retinue = await open(cwd)
    const { sessions } = retinue
    const session = await sessions.create('ada')
    expect(session).toEqual({
      ...{ session_id: expect.stringMatching(/^[0-9a-z]{10}$/), owner: 'ada', title: '', workspace_root: cwd },
      ...{ created_at: expect.any(Number), model: null, mode: null, tasks: [] },
    })
    await sessions.update(session.session_id, { title: 'First words', model: 'scripted/s.yaml', mode: 'plan' })
    await sessions.addTask(session.session_id, 'run-1')
    await sessions.addTask(session.session_id, 'run-2')
    await sessions.addTask(session.session_id, 'run-1')
    const now = { title: 'First words', model: 'scripted/s.yaml', mode: 'plan', tasks: ['run-1', 'run-2'] }
    expect(await sessions.find(session.session_id)).toEqual({ ...session, ...now })
    expect(await sessions.find(session.session_id.slice(0, 6))).toEqual({ ...session, ...now })
    await sessions.update(session.session_id, { model: null, mode: null })
    expect(await sessions.find(session.session_id)).toMatchObject({ model: null, mode: null, tasks: now.tasks })
    await expect(sessions.find('nowhere')).rejects.toMatchObject({ code: 'not_found' })
    await expect(sessions.update('nowhere', { title: 'x' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of runs alone are sessions too, found by a run, and get a record when something is said about them', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const retinue = await open(cwd)
    const { run_id, session_id } = await retinue.run({ task: 'Say one\nin a word' }).result()
    const found = await retinue.sessions.find(run_id)
    expect(found).toMatchObject({ session_id, owner: null, title: 'Say one', workspace_root: cwd })
    expect(await retinue.sessions.find(run_id.slice(0, 7))).toEqual(found)
    expect(await retinue.store.record('session', session_id)).toBe(null)
    await retinue.sessions.update(session_id, { title: 'Ones' })
    expect((await retinue.sessions.find(run_id)).title).toBe('Ones')
  })

  it('are listed newest first, with what they and their tasks cost, and tasks are no sessions of their own', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const retinue = await open(cwd)
    const talk = await retinue.sessions.create('ada')
    await retinue.run({ task: 'Say one', session_id: talk.session_id }).result()
    await retinue.run({ task: 'Say two', session_id: talk.session_id }).result()
    const task = await retinue.run({ task: 'Beside' }).result()
    await retinue.sessions.addTask(talk.session_id, task.run_id)
    const other = await retinue.run({ task: 'Alone' }).result()
    expect(await retinue.sessions.list()).toMatchObject([
      { session_id: other.session_id, runs: 1, cost_usd: 0.5, title: 'Alone' },
      { session_id: talk.session_id, runs: 2, cost_usd: 1.25, tasks: [task.run_id] },
    ])
    expect(await retinue.sessions.list({ limit: 1 })).toHaveLength(1)
    // Whoever names a task means the conversation that it was begun in.
    expect((await retinue.sessions.find(task.run_id)).session_id).toBe(talk.session_id)
  })

  it('lose no change when two processes make one at once', async () => {
    const cwd = makeProject({})
    const file = join(cwd, 'sessions.db')
    const at = async (): Promise<{ store: Store; sessions: Sessions }> => {
      const opened = await openSqliteStore({ file, clock: { now: Date.now } as never })
      if (!opened.ok) throw new Error(opened.message)
      onTestFinished(() => opened.store.close())
      const parts = { redactor: createRedactor([]), new_id: () => 'session001', now: Date.now }
      const sessions = createSessions({ store: opened.store, cwd, ...parts })
      return { store: opened.store, sessions }
    }
    const [one, two] = [await at(), await at()]
    await one.sessions.create('ada')
    const ids = Array.from({ length: 12 }, (_, i) => `run-${i}`)
    await Promise.all(ids.map((id, i) => (i % 2 ? one : two).sessions.addTask('session001', id)))
    expect(new Set((await two.sessions.find('session001')).tasks)).toEqual(new Set(ids))
  })

  it.each(['GITHUB_TOKEN', 'TLS_PRIVATE_KEY'])(
    'have no %s in them, not even in what they were before',
    async (name) => {
      const canary = CANARIES.find((one) => one.name === name)
      if (!canary) throw new Error(`no ${name}`)
      const { secret, value } = canary
      const cwd = makeProject({})
      const retinue = await createRetinue({ cwd, env: { [name]: value } })
      onTestFinished(() => retinue.close())
      const said = [`My key ${secret} does not work`, `${'long '.repeat(15)}${secret}`]
      const titles: string[] = []
      for (const text of said) {
        const conversation = new Conversation(retinue, 'ada', null)
        titles.push((await conversation.say(text)).title)
        await conversation.choose({ model: `scripted/${secret}` })
        await conversation.addTask(`run ${secret}`)
      }
      expect(titles).toEqual([`My key [secret ${name}] does not work`, expect.stringMatching(/^(long ){15}\[sec.*…$/)])
      const records = await retinue.store.records('session')
      expect(records.map(({ value }) => value)).toMatchObject([{ tasks: [`run [secret ${name}]`] }, {}])
      const folder = join(cwd, '.retinue')
      const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
      // As it is, its beginning, and as JSON writes it down.
      const forms = [secret, secret.slice(0, 16), JSON.stringify(secret).slice(1, -1)]
      expect(forms.filter((form) => bytes.join('\n').includes(form))).toEqual([])
    },
  )
})
