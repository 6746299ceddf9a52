import { describe, expect, it } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { modelsOf } from '../../src/testing/index.js'
import { bench, dataOf, runToEnd } from '../support/bench.js'
import { makeProject } from '../support/project.js'

describe('a session', () => {
  it('goes on with what its earlier runs said', async () => {
    const { retinue, model } = await bench(
      {
        root: [
          { calls: [{ read_file: { path: 'a.txt' } }] },
          { text: 'It says moon.' },
          { expect: 'And backwards?', text: 'noom' },
        ],
      },
      { files: { 'a.txt': 'moon\n' } },
    )
    const first = await runToEnd(retinue, { task: 'What does a.txt say?' })
    const { session_id } = first.result
    const second = await runToEnd(retinue, { task: 'And backwards?', session_id })
    expect(second.result).toMatchObject({ outcome: 'completed', text: 'noom', session_id })
    expect(model.requests.at(-1)?.request.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(await retinue.replay(second.result.run_id)).toMatchObject({ ok: true })
    expect((await retinue.runs({ session_id })).map(({ task }) => task)).toEqual([
      'And backwards?',
      'What does a.txt say?',
    ])
  })

  it('that does not exist is an error that says so', async () => {
    const { retinue } = await bench({ root: [] })
    await expect(retinue.run({ task: 'x', session_id: 'nope' }).result()).rejects.toMatchObject({ code: 'not_found' })
  })

  it('never has two calls of one name, and stays within the context however long it gets', async () => {
    const read = { calls: [{ read_file: { path: 'big.txt' } }] }
    const { retinue, model } = await bench(
      { root: Array.from({ length: 6 }, () => [read, { text: 'Read.' }]).flat() },
      {
        files: { 'big.txt': `${'some text that goes on. '.repeat(20)}\n`.repeat(40) },
        settings: { budget: { context_tokens: 20_000 } },
      },
    )
    let session_id: string | undefined
    for (let i = 0; i < 6; i++) {
      const { result } = await runToEnd(retinue, { task: `Read it, ${i}`, ...(session_id ? { session_id } : {}) })
      expect(result.outcome).toBe('completed')
      session_id = result.session_id
      const last = model.requests.at(-1)?.request.messages ?? []
      const ids = last.flatMap((message) =>
        message.role === 'tool' ? message.results.map(({ call_id }) => call_id) : [],
      )
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('a long session', () => {
  const LONG = 'Words that matter to nobody any more. '.repeat(120)

  it('is summarized by the model before the next task, and goes on from the summary', async () => {
    const { retinue, model } = await bench(
      {
        root: {
          steps: [
            ...Array.from({ length: 4 }, (_, i) => ({ text: `Answer ${i}. ${LONG}` })),
            { expect: 'What was it?', text: 'Blue.' },
            { expect: 'Sure?', text: 'Yes.' },
          ],
          summary: [{ expect: 'summary of that conversation', text: 'They asked four times; the answer was blue.' }],
        },
      },
      { settings: { budget: { context_tokens: 16_000 }, delegation: { enabled: false } } },
    )
    let session_id: string | undefined
    for (let i = 0; i < 4; i++) {
      const { result } = await runToEnd(retinue, { task: `Ask ${i}`, ...(session_id ? { session_id } : {}) })
      session_id = result.session_id
    }
    const { result, events } = await runToEnd(retinue, { task: 'What was it?', session_id: session_id as string })
    expect(result).toMatchObject({ outcome: 'completed', text: 'Blue.', turns: 1 })
    expect(dataOf(events, 'context.summarized')).toEqual([
      expect.objectContaining({
        summary: expect.stringContaining('the answer was blue.'),
        replaced_messages: 0,
        replaced_history: 6,
      }),
    ])
    const said = (i: number) => model.requests.at(i)?.request.messages.map((message) => JSON.stringify(message)) ?? []
    expect(said(-1)[0]).toContain('the answer was blue')
    expect(said(-1).join('')).not.toContain('Answer 0.')
    expect(await retinue.replay(result.run_id)).toMatchObject({ ok: true })

    // The next run begins with the summary, not with what it stands for.
    const next = await runToEnd(retinue, { task: 'Sure?', session_id: session_id as string })
    expect(dataOf(next.events, 'context.summarized')).toEqual([])
    expect(said(-1)[0]).toContain('the answer was blue')
    expect(said(-1).at(-1)).toContain('Sure?')
  })
})

describe('what a person asks of one agent in a session', () => {
  it('is part of the conversation, with its answer; the agent has read nothing of that', async () => {
    const { retinue, model } = await bench({
      root: [{ text: 'The word is moon.' }, { expect: 'And what did the other one say?', text: 'It said noom.' }],
      a1: [{ expect: 'Turn a word round', text: 'noom' }],
    })
    const { result: first } = await runToEnd(retinue, { task: 'What is the word?' })
    const { session_id } = first
    const fan = retinue.fanOut([{ task: 'Turn a word round' }], { session_id, said: '@turner Turn a word round' })
    expect((await fan.results())[0]).toMatchObject({ success: true, details: 'noom' })
    const child = model.requests.find(({ caller }) => caller.agent_id === 'a1')
    expect(child?.request.messages).toEqual([{ role: 'user', content: 'Turn a word round' }])
    await runToEnd(retinue, { task: 'And what did the other one say?', session_id })
    expect(model.requests.at(-1)?.request.messages).toMatchObject([
      { role: 'user', content: 'What is the word?' },
      { role: 'assistant', parts: [{ type: 'text', text: 'The word is moon.' }] },
      { role: 'user', content: '@turner Turn a word round' },
      { role: 'assistant', parts: [{ type: 'text', text: 'noom' }] },
      { role: 'user', content: 'And what did the other one say?' },
    ])
  })

  it('is part of it with its failure too', async () => {
    const { retinue, model } = await bench({
      root: [{ text: 'I see.' }],
      a1: [{ fail: { code: 'auth', message: 'no key' } }],
    })
    const { session_id } = await retinue.sessions.create('somebody')
    await retinue.fanOut([{ task: 'Try', max_retries: 0 }], { session_id, said: '@one Try' }).results()
    await runToEnd(retinue, { task: 'What happened?', session_id })
    expect(model.requests.at(-1)?.request.messages.slice(0, 2)).toEqual([
      { role: 'user', content: '@one Try' },
      { role: 'assistant', parts: [{ type: 'text', text: expect.stringMatching(/^\[error: .*no key.*\]$/) }] },
    ])
  })
})

describe('the result of a closed run', () => {
  it('can be read again, as often as one likes, and resuming gives it too', async () => {
    const { retinue } = await bench({ root: [{ text: 'Here.' }] })
    const { result } = await runToEnd(retinue)
    expect(await retinue.result(result.run_id)).toEqual(result)
    expect(await retinue.result(result.run_id)).toEqual(result)
    expect(await retinue.resume(result.run_id).result()).toEqual(result)
  })
})

describe('cancelling', () => {
  it('aborts the model call and closes the run as cancelled', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    for await (const event of run) if (event.type === 'model.requested') run.cancel('enough')
    expect(await run.result()).toMatchObject({ outcome: 'cancelled', reason: 'cancelled by caller: enough' })
  })

  it('reaches the command under way, and what it started', async () => {
    const { retinue } = await bench(
      { root: [{ calls: [{ run_command: { command: 'sleep 1000' } }] }] },
      { settings: { mode: 'dangerous' } },
    )
    const controller = new AbortController()
    const run = retinue.run({ task: 'Wait', signal: controller.signal })
    const statuses: string[] = []
    for await (const event of run) {
      if (event.type === 'tool.called') controller.abort('stop')
      if (event.type === 'tool.finished') statuses.push(event.data.status)
    }
    expect(statuses).toEqual(['cancelled'])
    expect((await run.result()).outcome).toBe('cancelled')
  })

  it('works through the store, as another process would do it', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    const cancelled: Promise<unknown>[] = []
    for await (const event of run) {
      if (event.type === 'model.requested') cancelled.push(retinue.cancel(run.run_id, 'somebody', 'not needed'))
    }
    expect(await Promise.all(cancelled)).toEqual([await run.result()])
    expect(await run.result()).toMatchObject({ outcome: 'cancelled', reason: 'cancelled by somebody: not needed' })
  })
})

describe('a run of another folder', () => {
  it('does not go on here', async () => {
    const { retinue, model } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    for await (const event of retinue.follow(run.run_id)) if (event.type === 'model.requested') break
    run.leave('moving')
    await run.result().catch(() => {})
    const elsewhere = await createRetinue({ cwd: makeProject({}), store: retinue.store, models: modelsOf(model) })
    await expect(elsewhere.resume(run.run_id).result()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('belongs to'),
    })
  })
})

describe('a session of another folder', () => {
  it('does not go on here', async () => {
    const { retinue, model } = await bench({ root: [{ text: 'One.' }] })
    const { result } = await runToEnd(retinue)
    const elsewhere = await createRetinue({ cwd: makeProject({}), store: retinue.store, models: modelsOf(model) })
    const { session_id } = result
    await expect(elsewhere.run({ task: 'x', session_id }).result()).rejects.toMatchObject({ code: 'input' })
  })
})

describe('closing', () => {
  it('lets go of what is at work, so that it can be resumed', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    for await (const event of retinue.follow(run.run_id)) if (event.type === 'model.requested') break
    await retinue.close()
    await expect(run.result()).rejects.toMatchObject({ code: 'abandoned' })
  })
})

describe('a run that was left', () => {
  it('is interrupted, can be resumed, and does not ask the model again for what it has said', async () => {
    const { retinue, model } = await bench(
      { root: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Done.', delay_ms: 300 }] },
      { files: { 'a.txt': 'a\n' } },
    )
    const run = retinue.run({ task: 'Read' })
    let asked = 0
    const left = run.result().catch((error: Error) => error)
    for await (const event of retinue.follow(run.run_id)) {
      if (event.type === 'model.requested' && ++asked === 2) {
        run.leave('going home')
        break
      }
    }
    expect(await left).toMatchObject({ code: 'abandoned' })
    expect((await retinue.find(run.run_id)).status).toBe('interrupted')
    expect(await retinue.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', text: 'Done.', turns: 2 })
    expect(model.requests).toHaveLength(3)
  })

  it('is left also when it was told so before it had begun', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    run.leave('changed my mind')
    await expect(run.result()).rejects.toMatchObject({ code: 'abandoned' })
  })

  it('is respected while somebody works on it', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] })
    const run = retinue.run({ task: 'Wait' })
    for await (const event of run) {
      if (event.type !== 'model.requested') continue
      await expect(retinue.resume(run.run_id).result()).rejects.toMatchObject({ code: 'held' })
      run.cancel()
    }
  })
})
