import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentRegistry, commandsIn } from '../../src/domain/index.js'
import { createRetinue } from '../../src/index.js'
import { createControl } from '../../src/library/control-plane.js'
import { RetinueError } from '../../src/library/errors.js'
import { makeProject } from '../support/project.js'
import { openPlace, recordsOf, SECRET, WRITER } from './commands-place.js'

describe('an agent that is registered again', () => {
  const LIMITED = { ...WRITER, allowedForwardSkills: ['docs'], defaultMcpServers: [] }

  it('by a line keeps the lists that the line does not name, and it is said', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('operator')
    await control.register(LIMITED)
    expect((await control.execute('/agents register @writer | review | Reads.')).text).toBe(
      '@writer is registered for the profile review, in place of the one for "docs". ' +
        'As before: allowedForwardSkills, defaultMcpServers, tags.',
    )
    const entry = { ...LIMITED, profileId: 'review', description: 'Reads.' }
    expect((await control.registry()).value.agents).toEqual([entry])
    await control.execute('/agents register @writer | review | Reads. | other')
    expect((await control.registry()).value.agents).toEqual([{ ...entry, tags: ['other'] }])
  })

  it('by a program is what the program says, and the log has its lists', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('operator')
    await control.register(LIMITED)
    const { tags: _, ...plain } = WRITER
    expect((await control.register(plain)).value.agents).toEqual([plain])
    expect(commandsIn(await store.readControl()).map((command) => command.arguments)).toEqual([
      '@writer | docs | Writes docs. | tags: docs | allowedForwardSkills: docs | defaultMcpServers: none',
      '@writer | docs | Writes docs.',
    ])
  })

  it('is refused with a profile that is broken, like a pin to it', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await expect(as('operator').register({ ...WRITER, profileId: 'torn' })).rejects.toEqual(
      new RetinueError('input', 'profileId: the profile torn is broken: .retinue/agents/torn.md:3: no such tool.'),
    )
    expect(await recordsOf(store)).toEqual({})
  })
})

describe('two editors', () => {
  it('who register different agents at once lose none of them', async () => {
    const { store, open, as } = await openPlace(onTestFinished)
    const other = await open()
    const handles = Array.from({ length: 50 }, (_, i) => `@agent-${String(i).padStart(2, '0')}`)
    await Promise.all(
      handles.map((agentId, i) => as('operator', i % 2 ? store : other).register({ ...WRITER, agentId })),
    )
    const { value, version } = await as('viewer').registry()
    expect(value.agents.map(({ agentId }) => agentId).sort()).toEqual(handles)
    expect(version).toBe(50)
    const history = await as('viewer', other).history()
    expect(history.map(({ value }) => (value as AgentRegistry).agents.length)).toEqual(handles.map((_, i) => i + 1))
  })

  it('of whom one is faster between the look and the change of the other lose nothing either', async () => {
    const { as, parts, store } = await openPlace(onTestFinished)
    const other = as('operator')
    let looked = false
    const record: typeof store.record = async (type, id) => {
      const seen = await store.record(type, id)
      if (!looked && type === 'policy') {
        looked = true
        await other.register({ ...WRITER, agentId: '@other' })
      }
      return seen
    }
    const records: typeof store = Object.create(store, { record: { value: record } })
    for (const method of ['putRecord', 'appendControl'] as const) {
      Object.defineProperty(records, method, { value: store[method].bind(store) })
    }
    const control = createControl({ ...parts, records, principal: { id: 'ada', role: 'admin' } })
    await control.register(WRITER)
    const { value } = await other.registry()
    expect(value.agents.map(({ agentId }) => agentId)).toEqual(['@other', '@writer'])
  })

  it('who replace all of it do not overwrite each other', async () => {
    const { open, as } = await openPlace(onTestFinished)
    const other = await open()
    const seen = await as('operator').registry()
    await as('admin', other).putRegistry({ version: 1, agents: [WRITER] }, seen.version)
    await expect(as('operator').putRegistry({ version: 1, agents: [] }, seen.version)).rejects.toEqual(
      new RetinueError(
        'conflict',
        'The registry was changed since version 0, it has version 1 now: read it again and make your change there.',
      ),
    )
    expect((await as('viewer').registry()).value.agents).toEqual([WRITER])
  })

  it('who write one profile do not either', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').putProfile('mine', { tools: [] }, 0)
    await expect(as('admin').putProfile('mine', {}, 0)).rejects.toMatchObject({ code: 'conflict' })
    expect(await as('admin').putProfile('mine', { description: 'Second.' }, 1)).toMatchObject({ version: 2, by: 'ada' })
  })
})

describe('the registry', () => {
  it('goes on taking agents when the profile of another is gone', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const gone = { ...WRITER, agentId: '@gone', profileId: 'gone' }
    await store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0 },
      value: { version: 1, agents: [gone] },
    })
    const { value } = await as('operator').register(WRITER)
    expect(value.agents).toEqual([gone, WRITER])
    const { agents } = await as('viewer').agents()
    expect(agents.map(({ fault }) => fault)).toEqual(['there is no profile "gone" any more.', null])
  })

  it('that makes no sense is not written over by a command, and can be replaced', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0, value: { agents: 'all' } },
    })
    await expect(as('admin').register(WRITER)).rejects.toMatchObject({ code: 'corrupt' })
    await expect(as('admin').agents()).rejects.toMatchObject({ code: 'corrupt' })
    expect((await as('admin').putRegistry({ version: 1, agents: [WRITER] }, 1)).version).toBe(2)
  })

  it('that makes no sense stops runs, and is replaced through the front door', async () => {
    const cwd = makeProject({})
    const retinue = await createRetinue({ cwd, env: {} })
    onTestFinished(() => retinue.close())
    await retinue.store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0, value: { agents: 'all' } },
    })
    await expect(retinue.run({ task: 'Look.', model: 'scripted' }).result()).rejects.toMatchObject({ code: 'corrupt' })
    const agents = [{ ...WRITER, profileId: 'reviewer' }]
    await expect(retinue.control().registry()).rejects.toThrow('--expect 1')
    expect(await retinue.control().putRegistry({ version: 1, agents }, 1)).toEqual({
      ...{ version: 2, value: { version: 1, agents } },
    })
  })

  it('is replaced by the text of its JSON too, with faults where they are', async () => {
    const { as } = await openPlace(onTestFinished)
    const text = JSON.stringify({ version: 1, agents: [WRITER] }, null, 2)
    expect(await as('operator').putRegistry(text, 0)).toEqual({ version: 1, value: { version: 1, agents: [WRITER] } })
    await expect(as('operator').putRegistry(text.replace('"docs"', 'docs'), 1)).rejects.toEqual(
      new RetinueError('input', 'line 6, column 20: this is no JSON: expected a value, found "d"'),
    )
    await expect(as('operator').putRegistry(text.replace('"docs"', '"dosc"'), 1)).rejects.toEqual(
      new RetinueError(
        'input',
        'agents[0].profileId: there is no profile "dosc" (did you mean docs?): retinue agents (in a chat: /agents) lists those that there are',
      ),
    )
    await expect(as('operator').putRegistry(text.replace('Writes docs', SECRET), 1)).rejects.toEqual(
      new RetinueError('input', 'The secret TOKEN is in it, and models would read it: leave it out.'),
    )
  })

  it('keeps every version, with who wrote it', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').register(WRITER)
    await as('admin').unregister('@writer')
    const history = await as('viewer').history()
    expect(history.map(({ version, by, value }) => [version, by, value])).toEqual([
      [1, 'olga', { version: 1, agents: [WRITER] }],
      [2, 'ada', { version: 1, agents: [] }],
    ])
  })

  it('names the nearest of an agent that is not there', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').register(WRITER)
    await expect(as('operator').unregister('@wirter')).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'There is no agent @wirter (did you mean @writer?).' },
    })
  })
})
