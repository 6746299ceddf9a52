import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type FoundProfile, type Settings } from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { gate, toldTo } from '../seeds/family.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { makeProject } from '../support/project.js'

const file = (name: string, system_prompt: string): FoundProfile => ({
  name,
  source: { kind: 'file', scope: 'project', file: `.claude/agents/${name}.md` },
  ...{ notes: [], kept: {}, profile: { system_prompt }, fault: null },
})

/** A Retinue whose agent files change while it is there. */
async function withFiles(agents: ScriptedModelOptions['agents'], settings: Settings = {}) {
  const files: FoundProfile[] = []
  const model = createScriptedModel({ name: 'test', agents })
  const cwd = makeProject({})
  const retinue = await createRetinue({ cwd, models: modelsOf(model), settings, profiles: async () => [...files] })
  onTestFinished(() => retinue.close())
  return { retinue, model, files, cwd }
}

describe('a run that goes on', () => {
  it('uses no profile that was changed, and none that came, after it had begun', async () => {
    const held = gate()
    const { retinue, files } = await withFiles({
      root: [{ calls: [{ spawn_await: { job_ids: '*' } }], delay_ms: 60_000 }, { text: 'never' }],
    })
    files.push(file('writer', 'Write.'))
    const run = retinue.run({ task: 'Have it written' })
    for await (const event of retinue.follow(run.run_id)) if (event.type === 'model.requested') break
    run.leave('to change a file')
    await run.result().catch(() => held.open())
    await held.opened

    files[0] = file('writer', 'Write, and tell nobody.')
    files.push(file('newcomer', 'New.'))
    const model = createScriptedModel({
      name: 'test',
      agents: {
        root: [
          {
            calls: [
              { spawn_agent: { task: 'x', profile: 'writer' } },
              { spawn_agent: { task: 'x', profile: 'newcomer' } },
            ],
          },
          { calls: [{ spawn_agent: { task: 'x', profile: 'reviewer' } }] },
          { text: 'Reviewed at least.' },
        ],
        'a*': [{ text: 'Fine.' }],
      },
    })
    const later = await createRetinue({ cwd: retinue.cwd, models: modelsOf(model), profiles: async () => [...files] })
    onTestFinished(() => later.close())
    const result = await later.resume(run.run_id).result()
    expect(result.text).toBe('Reviewed at least.')
    expect((await toldTo(later, run.run_id)).map(({ is_error }) => is_error)).toEqual([true, true, false])
    expect(await later.spawn({ task: 'x', profile: 'writer' })).toMatchObject({ success: true })
  })
})

describe('what a run is told about profiles', () => {
  it('names the roles that a file of the project stands before', async () => {
    const { retinue, files } = await withFiles({ root: [{ text: 'Yes.' }] })
    files.push(file('reviewer', 'Review kindly.'), file('writer', 'Write.'))
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'run.created')[0]?.notes).toEqual([
      'reviewer is the profile in .claude/agents/reviewer.md, not the role that ships',
    ])
  })

  it('another tool word for a model is in the adjustments, with what it got instead', async () => {
    const { retinue, files } = await withFiles({ a1: [{ text: 'Done.' }], root: [{ text: 'Done.' }] })
    files.push({ ...file('writer', 'Write.'), kept: { model: 'sonnet' } })
    const missed = {
      field: 'model',
      asked: 'sonnet',
      given: 'scripted/test',
      reason: 'sonnet is no model here: make a pool of that name for the profile writer',
    }
    const [result] = await retinue.fanOut([{ task: 'x', profile: 'writer', model: 'scripted/test' }]).results()
    expect(result?.adjustments).toEqual([])
    expect((await retinue.run({ task: 'x', profile: 'writer' }).result()).adjustments).toEqual([missed])
  })
})

describe('a session', () => {
  it('gives its runs its model and its mode, the mode never wider than the usual one; a run may name others', async () => {
    const { retinue } = await withFiles({ root: Array.from({ length: 4 }, () => ({ text: 'Yes.' })) })
    const modeOf = async (options: { session_id: string; mode?: 'auto' }) => {
      const { events } = await runToEnd(retinue, options)
      return dataOf(events, 'agent.started')[0]?.contract.permissions.mode
    }
    const { session_id } = await retinue.sessions.create('somebody')
    const modes = [await modeOf({ session_id })]
    await retinue.sessions.update(session_id, { mode: 'plan' })
    modes.push(await modeOf({ session_id }), await modeOf({ session_id, mode: 'auto' }))
    await retinue.sessions.update(session_id, { mode: 'dangerous' })
    modes.push(await modeOf({ session_id }))
    expect(modes).toEqual(['normal', 'plan', 'auto', 'normal'])
    await retinue.sessions.update(session_id, { model: 'else/where' })
    await expect(retinue.run({ task: 'x', session_id }).result()).rejects.toMatchObject({
      message: expect.stringContaining('else/where'),
    })
  })
})
