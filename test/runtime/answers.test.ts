import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type Answer,
  AnsweredElsewhere,
  createHost,
  createRetinue,
  type OpenQuestion,
  type Person,
  type Retinue,
  type Run,
  type Settings,
} from '../../src/index.js'
import type { Signal } from '../../src/store/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { type FamilyOptions, family, retinueIn } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { makeProject, tree } from '../support/project.js'

const write = (path: string, content = 'x\n') => ({ calls: [{ write_file: { path, content } }] })
const DONE = { text: 'Done.' }
const ALLOW = { kind: 'permission', agent_id: 'root', call_id: 'c1', answer: 'allow' } as const
const GRANT = { decision: 'allow', tool: 'write_file', pattern: null } as const

/** Somebody who sits there and says nothing, and remembers why they need not any more. */
function silent(): Person & { withdrawn: unknown[] } {
  const withdrawn: unknown[] = []
  const wait = (_: unknown, signal: AbortSignal) =>
    new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => {
        withdrawn.push(signal.reason)
        resolve(null)
      })
    })
  return { withdrawn, permit: wait, answer: wait, approve: wait }
}

/** A Retinue that works, another one on the same database that only answers, and a person who does not. */
async function two(agents: ScriptedModelOptions['agents'], settings: Settings = {}, options: FamilyOptions = {}) {
  const { retinue, model, cwd } = await family(agents, { ...options, settings })
  return { retinue, model, cwd, other: await retinueIn(cwd, model, host(options)), person: silent() }
}

const host = ({ host }: FamilyOptions) => (host ? { host } : {})

/** Its open questions, as soon as there are so many. */
async function asked(retinue: Retinue, { run_id }: Pick<Run, 'run_id'>, count = 1): Promise<OpenQuestion[]> {
  for await (const _ of retinue.follow(run_id)) {
    const open = await retinue.questions(run_id)
    if (open.length >= count) return open
  }
  throw new Error('it is closed, and has not asked')
}

/** The next signal that it sends, when it is sent. */
function said({ store }: Retinue): Promise<Signal> {
  const signal = store.signal.bind(store)
  return new Promise((resolve) => {
    store.signal = async (given) => {
      store.signal = signal
      const sent = await signal(given)
      resolve(sent)
      return sent
    }
  })
}

/** It hears nothing until the function that this gives back is called. */
function holdSignals({ store }: Retinue): () => void {
  const signals = store.signals.bind(store)
  store.signals = async () => []
  return () => {
    store.signals = signals
  }
}

/** A clock that can be put forward. */
function shiftedClock() {
  const host = createHost()
  let passed = 0
  const pass = (ms: number) => {
    passed += ms
  }
  return { host: { ...host, clock: { ...host.clock, now: () => host.clock.now() + passed } }, pass }
}

describe('a permission, answered by somebody else', () => {
  it('is given: the call is made, the log says by whom, and the person who was asked is told', async () => {
    const { retinue, other, person, cwd } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    expect(await asked(other, run)).toEqual([
      {
        ...{ kind: 'permission', agent_id: 'root', call_id: 'c1', asked_at: expect.any(Number) },
        ...{ tool: 'write_file', summary: 'create a.txt, 1 line, 2 bytes', reason: 'writes ask in normal mode' },
        ...{ detail: 'x\n', cut: false, grant: GRANT },
      },
    ])
    await other.answer(run.run_id, ALLOW, 'alice')
    const log = await other.events(run.run_id)
    expect(dataOf(log, 'permission.answered')).toEqual([
      { call_id: 'c1', answer: 'allow', grant: null, by: 'alice', note: null },
    ])
    expect((await run.result()).outcome).toBe('completed')
    expect(tree(cwd)).toEqual({ 'a.txt': 'x\n' })
    expect(person.withdrawn).toEqual([new AnsweredElsewhere('alice', ALLOW)])
    expect(await other.questions(run.run_id)).toEqual([])
  })

  it('is refused, and the agent hears who did and why', async () => {
    const { retinue, other, person, cwd, model } = await two({
      root: [write('a.txt'), { expect: 'alice said no: use b.txt', ...DONE }],
    })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    await other.answer(run.run_id, { ...ALLOW, answer: 'deny', note: 'use b.txt' }, 'alice')
    expect((await run.result()).outcome).toBe('completed')
    expect(tree(cwd)).toEqual({})
    model.assertAllUsed()
  })

  it('stands for the rest of the run: what it covers is not asked again, the rest is', async () => {
    const { retinue, other, person, cwd } = await two({
      root: [write('a.txt'), write('b.txt'), { calls: [{ run_command: { command: 'touch c.txt' } }] }, DONE],
    })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    await other.answer(run.run_id, { ...ALLOW, standing: true }, 'alice')
    const [next] = await asked(other, run)
    expect(next).toMatchObject({ call_id: 'c3', tool: 'run_command', grant: { pattern: 'touch c.txt' } })
    expect(tree(cwd)).toEqual({ 'a.txt': 'x\n', 'b.txt': 'x\n' })
    await other.answer(run.run_id, { ...ALLOW, call_id: 'c3', answer: 'deny' }, 'alice')
    await run.result()
    expect(dataOf(await other.events(run.run_id), 'permission.answered').map(({ grant }) => grant)).toEqual([
      GRANT,
      null,
    ])
  })

  it('does not stand where a rule wants to be asked each time', async () => {
    const { retinue, other, person } = await two(
      { root: [write('a.txt'), DONE] },
      { rules: [{ decision: 'ask', tool: 'write_file', pattern: null }] },
    )
    const run = retinue.run({ task: 'x', person })
    expect(await asked(other, run)).toMatchObject([{ grant: null }])
    await expect(other.answer(run.run_id, { ...ALLOW, standing: true }, 'alice')).rejects.toMatchObject({
      code: 'input',
      message: 'There is no standing yes to this question: answer it for this once',
    })
    await other.answer(run.run_id, ALLOW, 'alice')
    expect((await run.result()).files_changed).toEqual(['a.txt'])
  })

  it('of a sub-agent reaches that sub-agent', async () => {
    const { retinue, other, person, cwd } = await two(
      { root: [{ calls: [{ spawn_agent: { task: 'Write it' } }] }, DONE], 'a*': [write('a.txt'), DONE] },
      { delegation: { ask_person: true } },
    )
    const run = retinue.run({ task: 'x', person })
    const [question] = await asked(other, run)
    expect(question).toMatchObject({ kind: 'permission', agent_id: 'a1', tool: 'write_file' })
    const { agent_id, call_id } = question as OpenQuestion
    await expect(other.answer(run.run_id, { ...ALLOW, call_id }, 'alice')).rejects.toMatchObject({ code: 'not_found' })
    await other.answer(run.run_id, { ...ALLOW, agent_id, call_id }, 'alice')
    expect((await run.result()).outcome).toBe('completed')
    expect(tree(cwd)).toEqual({ 'a.txt': 'x\n' })
  })
})

describe('a question of an agent, answered by somebody else', () => {
  const question = { calls: [{ ask_user: { question: 'Tabs?', options: ['yes', 'no'] } }] }
  const said = { kind: 'question', agent_id: 'root', call_id: 'c1' } as const

  it.each([
    ['in words', 'neither', 'neither'],
    ['with nothing', null, 'no person answered'],
  ])('%s', async (_, text, heard) => {
    const { retinue, other, person, model } = await two({ root: [question, { expect: heard, ...DONE }] })
    const run = retinue.run({ task: 'x', person })
    expect(await asked(other, run)).toEqual([
      { ...said, asked_at: expect.any(Number), text: 'Tabs?', options: ['yes', 'no'] },
    ])
    await other.answer(run.run_id, { ...said, text }, 'alice')
    expect((await run.result()).outcome).toBe('completed')
    expect(person.withdrawn).toEqual([new AnsweredElsewhere('alice', { ...said, text })])
    model.assertAllUsed()
  })
})

describe('a plan, approved by somebody else', () => {
  const step = (id: string, more: object = {}) => ({ ...STEP, id, title: `Do ${id}`, owns: [`${id}/**`], ...more })
  const auto: Settings = { mode: 'auto' }
  const said = { kind: 'approval', agent_id: 'root' } as const

  it.each([
    ['approve', 'completed', { 'one/a.txt': 'x\n' }],
    ['decline', 'left', {}],
  ] as const)('as a whole: %s', async (answer, status, files) => {
    const { retinue, other, person, cwd } = await two({ a1: [write('one/a.txt'), DONE] }, auto)
    const run = retinue.executePlan(planOf({ goal: 'Have it', steps: [step('one')] }), { approve: 'ask', person })
    const [question] = await asked(other, run)
    expect(question).toMatchObject({ ...said, step: null, title: 'Have it' })
    const { call_id } = question as OpenQuestion
    await other.answer(run.run_id, { ...said, call_id, step: null, answer, note: 'so be it' }, 'alice')
    expect((await run.outcome()).status).toBe(status)
    expect(tree(cwd)).toEqual(files)
    const [given] = dataOf(await other.events(run.run_id), 'plan.approval_answered')
    expect(given).toMatchObject({ step: null, by: 'alice', note: 'so be it' })
  })

  it('step by step', async () => {
    const { retinue, other, person } = await two({ 'a*': [write('two/a.txt'), DONE] }, auto)
    const steps = [step('one', { needs_approval: true }), step('two', { needs_approval: true })]
    const run = retinue.executePlan(planOf({ on_failure: 'continue', steps }), { person })
    const questions = await asked(other, run, 2)
    expect(questions).toMatchObject([
      { ...said, step: 'one', title: 'Do one' },
      { ...said, step: 'two', title: 'Do two' },
    ])
    const { call_id } = questions[0] as OpenQuestion
    await other.answer(run.run_id, { ...said, call_id, step: 'two', answer: 'approve' }, 'alice')
    await other.answer(run.run_id, { ...said, call_id, step: 'one', answer: 'decline' }, 'bob')
    const { status } = await run.outcome()
    expect(status).toBe('failed')
    const log = await other.events(run.run_id)
    const answers = dataOf(log, 'plan.approval_answered')
    expect(answers.map(({ step, answer, by }) => [step, answer, by])).toEqual([
      ['two', 'approved', 'alice'],
      ['one', 'declined', 'bob'],
    ])
    const ends = dataOf(log, 'plan.step_ended').map(({ step, status, reason }) => [step, status, reason])
    expect(ends.sort()).toEqual([
      ['one', 'skipped', 'declined by bob'],
      ['two', 'completed', null],
    ])
  })
})

describe('an answer', () => {
  it('is taken once: of two at the same time one wins, and the other hears who did', async () => {
    const { retinue, other, person, cwd, model } = await two({ root: [write('a.txt'), DONE] })
    const third = await retinueIn(cwd, model)
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    const came = await Promise.allSettled([
      other.answer(run.run_id, ALLOW, 'alice'),
      third.answer(run.run_id, { ...ALLOW, answer: 'deny' }, 'bob'),
    ])
    await run.result()
    const [answered, ...more] = dataOf(await other.events(run.run_id), 'permission.answered')
    expect(more).toEqual([])
    const who = answered?.by === 'alice' ? 'alice has answered: yes' : 'bob has answered: no'
    const lost = came.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(lost).toMatchObject([
      {
        code: 'conflict',
        message: `permission question of root in run ${run.run_id} (c1) is not open any more: ${who}`,
      },
    ])
  })

  it('is the last word of whoever spoke first, of all that was said before anybody heard it', async () => {
    const { retinue, other, person, cwd } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    const wake = holdSignals(retinue)
    const answers: Promise<unknown>[] = []
    for (const [answer, by] of [
      ['allow', 'alice'],
      ['allow', 'bob'],
      ['deny', 'alice'],
      // The same in another window: it is their answer, too.
      ['deny', 'alice'],
    ] as const) {
      const heard = said(other)
      answers.push(other.answer(run.run_id, { ...ALLOW, answer }, by))
      await heard
    }
    wake()
    const lost = {
      status: 'rejected',
      reason: { code: 'conflict', message: expect.stringContaining('alice has answered: no') },
    }
    const taken = { status: 'fulfilled' }
    expect(await Promise.allSettled(answers)).toMatchObject([lost, lost, taken, taken])
    await run.result()
    expect(tree(cwd)).toEqual({})
  })

  it('that was not taken in time does not count any more', async () => {
    const { host, pass } = shiftedClock()
    const { retinue, other, person, cwd } = await two({ root: [write('a.txt'), DONE] }, {}, { host })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    const wake = holdSignals(retinue)
    const first = said(other)
    const late = other.answer(run.run_id, ALLOW, 'alice')
    await first
    pass(31_000)
    await expect(late).rejects.toMatchObject({
      code: 'held',
      message: `The question is open still: whoever works on run ${run.run_id} has not taken the answer within 30 s, and it does not count any more. Answer again later, or resume the run elsewhere.`,
    })
    const second = said(other)
    const no = other.answer(run.run_id, { ...ALLOW, answer: 'deny' }, 'bob')
    await second
    wake()
    await no
    await run.result()
    expect(tree(cwd)).toEqual({})
  })

  it('to a question is none to the same question that another process asks again', async () => {
    const { retinue, other, person, cwd, model } = await two({ root: [write('a.txt'), DONE] })
    // It has been at work on something else since before anything was asked.
    const busy = await retinueIn(cwd, model)
    const elsewhere = busy.run({ task: 'y', person: silent() })
    await asked(other, elsewhere)
    const run = retinue.run({ task: 'x', person })
    const [{ call_id }] = (await asked(other, run)) as [OpenQuestion]
    const signal = other.store.signal.bind(other.store)
    let again: Run | undefined
    other.store.signal = async (given) => {
      other.store.signal = signal
      run.leave('moved')
      await run.result().catch(() => {})
      again = busy.resume(run.run_id, { person: silent() })
      let times = 0
      for await (const { type } of other.follow(run.run_id)) if (type === 'permission.asked' && ++times === 2) break
      return signal(given)
    }
    await expect(other.answer(run.run_id, { ...ALLOW, call_id }, 'alice')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('another process works on the run now and asks again: answer that'),
    })
    await other.answer(run.run_id, { ...ALLOW, call_id, answer: 'deny' }, 'bob')
    await again?.result()
    const answered = dataOf(await other.events(run.run_id), 'permission.answered')
    expect(answered.map(({ by }) => by)).toEqual(['bob'])
    expect(tree(cwd)).toEqual({})
    await busy.cancel(elsewhere.run_id, 'alice', 'enough')
  })

  it('that comes after that of the person in front of the run hears what they said', async () => {
    const { retinue, other, person } = await two({ root: [write('a.txt'), write('b.txt'), DONE] })
    const permit: Person['permit'] = async (question, signal) =>
      question.call_id === 'c1'
        ? { answer: 'deny', grant: null, by: 'person', note: 'not that one' }
        : person.permit(question, signal)
    const run = retinue.run({ task: 'x', person: { ...person, permit } })
    for await (const event of other.follow(run.run_id))
      if (event.type === 'permission.asked' && event.data.call_id === 'c2') break
    await expect(other.answer(run.run_id, ALLOW, 'alice')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('person has answered: no: not that one'),
    })
    await other.cancel(run.run_id, 'alice', 'enough')
  })

  it('is no yes where there is nobody to ask', async () => {
    const { retinue, other, cwd } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x' })
    await run.result()
    await expect(other.answer(run.run_id, ALLOW, 'alice')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('nobody answered it'),
    })
    expect(tree(cwd)).toEqual({})
  })

  it.each([
    ['of another call', { ...ALLOW, call_id: 'c9' }, 'alice', 'not_found'],
    ['of another agent', { ...ALLOW, agent_id: 'a7' }, 'alice', 'not_found'],
    ['of another kind', { kind: 'question', agent_id: 'root', call_id: 'c1', text: 'yes' }, 'alice', 'not_found'],
    ['that is none', { ...ALLOW, answer: 'yes' }, 'alice', 'input'],
    ['that says too much', { ...ALLOW, grant: GRANT }, 'alice', 'input'],
    ['that stands and is a no', { ...ALLOW, answer: 'deny', standing: true }, 'alice', 'input'],
    ['of nobody', ALLOW, 'nobody', 'input'],
    ['without a name', ALLOW, ' ', 'input'],
  ])('%s answers nothing', async (_, answer, by, code) => {
    const { retinue, other, person } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    const before = await asked(other, run)
    await expect(other.answer(run.run_id, answer as Answer, by)).rejects.toMatchObject({ code })
    expect(await other.questions(run.run_id)).toEqual(before)
    await other.cancel(run.run_id, 'alice', 'enough')
    expect(await other.questions(run.run_id)).toEqual([])
  })

  it('of a signal that nobody may give is not heard', async () => {
    const { retinue, other, person } = await two(
      { root: [write('a.txt'), DONE] },
      { rules: [{ decision: 'ask', tool: 'write_file', pattern: null }] },
    )
    const run = retinue.run({ task: 'x', person })
    const [question] = await asked(other, run)
    const { asked_at } = question as OpenQuestion
    const until = asked_at + 60_000
    const { run_id } = run
    for (const data of [
      'allow',
      { asked_at, until, answer: { ...ALLOW, standing: true } },
      { asked_at: asked_at - 1, until, answer: ALLOW },
      { asked_at: asked_at + 1, until, answer: ALLOW },
      { asked_at, until, answer: { ...ALLOW, call_id: 'c2' } },
    ])
      await other.store.signal({ run_id, kind: 'answer', data, by: 'mallory' })
    await other.answer(run_id, { ...ALLOW, answer: 'deny' }, 'alice')
    await run.result()
    expect(dataOf(await other.events(run_id), 'permission.answered').map(({ by }) => by)).toEqual(['alice'])
  })

  it('to a run that nobody works on is not kept: it is asked again, and wants a new one', async () => {
    const { retinue, other, person, cwd } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    run.leave('later')
    await run.result().catch(() => {})
    expect(await other.questions(run.run_id)).toHaveLength(1)
    await expect(other.answer(run.run_id, ALLOW, 'alice')).rejects.toMatchObject({
      code: 'held',
      message: expect.stringContaining(`retinue resume ${run.run_id}`),
    })
    const again = retinue.resume(run.run_id, { person: silent() })
    const before = (await other.events(run.run_id)).length
    for await (const event of other.follow(run.run_id))
      if (event.type === 'permission.asked' && (await other.events(run.run_id)).length > before) break
    await other.answer(run.run_id, ALLOW, 'alice')
    expect((await again.result()).outcome).toBe('completed')
    expect(tree(cwd)).toEqual({ 'a.txt': 'x\n' })
  })

  it('is said once, and heard also where nobody listened yet', async () => {
    const { retinue, other, person } = await two({ root: [write('a.txt'), DONE] })
    const append = retinue.store.append.bind(retinue.store)
    const signals = retinue.store.signals.bind(retinue.store)
    let answered: Promise<void> | undefined
    retinue.store.append = async (batch) => {
      const appended = await append(batch)
      if (!batch.events.some(({ type }) => type === 'permission.asked')) return appended
      // The log has the question, and whoever asks it does not know that yet.
      const heard = said(other)
      answered = other.answer(batch.run_id, ALLOW, 'alice')
      const { id } = await heard
      await new Promise<void>((resolve) => {
        retinue.store.signals = async (query) => {
          const given = await signals(query)
          if (given.some((signal) => signal.id === id)) setImmediate(resolve)
          return given
        }
      })
      return appended
    }
    const sent = vi.spyOn(other.store, 'signal')
    const run = retinue.run({ task: 'x', person })
    expect((await run.result()).files_changed).toEqual(['a.txt'])
    await answered
    expect(sent).toHaveBeenCalledTimes(1)
  })

  it('and the questions before it are found in pages, and what was read is not read again', async () => {
    const reads = Array.from({ length: 300 }, () => ({ calls: [{ list_dir: { path: '.' } }] }))
    const { retinue, other, person } = await two(
      { root: [...reads, write('a.txt'), DONE] },
      { budget: { turns: 400, tool_calls: 400 } },
    )
    const run = retinue.run({ task: 'x', person })
    for await (const { type } of other.follow(run.run_id)) if (type === 'permission.asked') break
    const read = vi.spyOn(other.store, 'read')
    const [question] = (await other.questions(run.run_id)) as [OpenQuestion]
    const { last_position } = (await other.store.run(run.run_id)) as { last_position: number }
    expect(last_position).toBeGreaterThan(1000)
    const queries = () => read.mock.calls.map(([{ after, limit }]) => [after, limit])
    const starts = Array.from({ length: Math.floor(last_position / 500) + 1 }, (_, i) => i * 500)
    expect(queries()).toEqual(starts.map((after) => [after, 500]))
    read.mockClear()
    await other.answer(run.run_id, { ...ALLOW, call_id: question.call_id }, 'alice')
    expect(queries().every(([after]) => (after ?? 0) >= last_position)).toBe(true)
    await run.result()
  })

  it('does not wait for ever for a process that is there and hears nothing', async () => {
    const { retinue, cwd, model, person } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    const host = createHost()
    let passed = 0
    const clock = {
      ...host.clock,
      now: () => host.clock.now() + passed,
      sleep: async () => {
        passed += 11_000
        await host.clock.sleep(1)
      },
    }
    const other = await retinueIn(cwd, model, { host: { ...host, clock } })
    await asked(other, run)
    other.store.signal = async (given) => ({ ...given, id: 0, at: 0 })
    await expect(other.answer(run.run_id, ALLOW, 'alice')).rejects.toMatchObject({
      code: 'held',
      message: expect.stringContaining(`whoever works on run ${run.run_id} has not taken the answer within 30 s`),
    })
    await retinue.cancel(run.run_id, 'alice', 'enough')
  })

  it('does not wait for ever for a process that lets go meanwhile', async () => {
    const { retinue, other, person } = await two({ root: [write('a.txt'), DONE] })
    const run = retinue.run({ task: 'x', person })
    await asked(other, run)
    // Whoever works on it is gone before they hear anything.
    const signal = other.store.signal.bind(other.store)
    other.store.signal = async (given) => {
      run.leave('gone')
      await run.result().catch(() => {})
      return signal(given)
    }
    await expect(other.answer(run.run_id, ALLOW, 'alice')).rejects.toMatchObject({ code: 'held' })
  })
})

describe('what is written down about a question', () => {
  it('has the head and the tail of what is too long, and says so', async () => {
    const { retinue, other, person } = await two({ root: [write('a.txt', 'line\n'.repeat(50_000)), DONE] })
    const run = retinue.run({ task: 'x', person })
    const [question] = await asked(other, run)
    if (question?.kind !== 'permission') throw new Error('it asks for no permission')
    expect(question.detail).toMatch(/^line\n(.|\n)*\n\[… [\d,]+ of 250,000 characters left out …\]\n(.|\n)*line\n$/)
    expect(question.detail?.length).toBeLessThanOrEqual(200_000)
    expect(question.cut).toBe(true)
    await other.cancel(run.run_id, 'alice', 'enough')
  })

  it('has no secret in it, and neither has the answer', async () => {
    const SECRET = 'sk-answers-0123456789abcdef'
    const cwd = makeProject({ 'a.txt': `one\n${SECRET}\n` })
    const edit = { edit_file: { path: 'a.txt', old_text: 'one', new_text: 'two' } }
    const model = createScriptedModel({ name: 'test', agents: { root: [{ calls: [edit] }, DONE] } })
    const secrets = [{ name: 'KEY', value: SECRET }]
    const retinue = await createRetinue({ cwd, models: modelsOf(model), secrets })
    onTestFinished(() => retinue.close())
    const run = retinue.run({ task: 'x', person: silent() })
    expect(await asked(retinue, run)).toMatchObject([{ detail: expect.stringContaining('[secret KEY]') }])
    const sent = said(retinue)
    await retinue.answer(run.run_id, { ...ALLOW, answer: 'deny', note: `not ${SECRET}` }, 'alice')
    await run.result()
    const log = JSON.stringify(await retinue.events(run.run_id))
    const signals = JSON.stringify(await sent)
    expect(signals).toContain('not [secret KEY]')
    expect(log).toContain('not [secret KEY]')
    expect(`${log}${signals}`).not.toContain(SECRET)
  })
})
