import { describe, expect, it } from 'vitest'
import { type Control, commandsIn, type Retinue, RetinueError, type Settings } from '../../src/index.js'
import { family, project, requestsOf, SCRIPTED, toldTo } from './family.js'

const WRITER = { agentId: '@writer', profileId: 'writer', description: 'Writes clear docs.', tags: ['writing', 'docs'] }
const PROFILES: Settings = {
  delegation: {
    roles: false,
    profiles: {
      writer: { description: 'A profile that only the registry points at.', system_prompt: 'Write plainly.' },
      drafter: { system_prompt: 'Draft quickly.', mode: 'plan' },
    },
  },
}

async function refusal(work: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work().then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof RetinueError)) throw new Error(`no RetinueError, but ${error}`)
  return { code: error.code, message: error.message }
}

async function contractOf(retinue: Retinue, run_id: string, agent_id: string) {
  const agent = (await retinue.agents(run_id)).find((one) => one.agent_id === agent_id)
  if (!agent) throw new Error(`no agent ${agent_id}`)
  return JSON.parse(agent.context_json)
}

describe('seed 003', () => {
  it('D1: the registry is the policy record agent-registry:default, versioned, with its history', async () => {
    const { retinue } = await family({}, { settings: PROFILES })
    const control = retinue.control()
    await control.register(WRITER)
    await control.register({ ...WRITER, description: 'Writes even clearer docs.' })
    const record = await retinue.store.record('policy', 'agent-registry:default')
    expect(record).toMatchObject({
      version: 2,
      value: { version: 1, agents: [{ ...WRITER, description: 'Writes even clearer docs.' }] },
    })
    const versions = (await control.history()).map(({ version, value }) => ({ version, value }))
    expect(versions).toEqual([
      { version: 1, value: { version: 1, agents: [WRITER] } },
      { version: 2, value: record?.value },
    ])
  })

  it('D1: two editors do not overwrite each other', async () => {
    const { retinue } = await family({}, { settings: PROFILES })
    const [one, other] = [retinue.control(), retinue.control()]
    const seen = await one.registry()
    await other.register(WRITER)
    const lost = await refusal(() => one.putRegistry({ version: 1, agents: [] }, seen.version))
    expect(lost.code).toBe('conflict')
    expect((await one.registry()).value.agents).toEqual([WRITER])
  })

  it.each([
    ['no version', { agents: [] }, /version/],
    ['a handle that is none', { version: 1, agents: [{ ...WRITER, agentId: 'writer' }] }, /agents\[0\]\.agentId.*@/],
    ['a profile that is not there', { version: 1, agents: [{ ...WRITER, profileId: 'wirter' }] }, /profileId.*writer/],
    ['301 characters', { version: 1, agents: [{ ...WRITER, description: 'x'.repeat(301) }] }, /description.*300/],
  ])('D1: a registry with %s is refused, and says where', async (_, value, message) => {
    const { retinue } = await family({}, { settings: PROFILES })
    const { code, message: said } = await refusal(() => retinue.control().putRegistry(value, 0))
    expect(code).toBe('input')
    expect(said).toMatch(message)
    expect(await retinue.store.record('policy', 'agent-registry:default')).toBeNull()
  })

  it('D2: handle, description and tags are in the context of who may delegate; no ids; nothing where there are none', async () => {
    const { retinue } = await family(
      { root: [{ text: 'Nobody.' }, { text: 'Somebody.' }, { text: 'The same.' }] },
      { settings: PROFILES },
    )
    const none = await retinue.run({ task: 'Who is there?' }).result()
    const control = retinue.control()
    await control.register({ ...WRITER, description: 'Writes <b>docs</b> & "more".' })
    await control.register({ agentId: '@amender', profileId: 'drafter', description: 'Amends.' })
    const some = await retinue.run({ task: 'Who is there?' }).result()
    const again = await retinue.run({ task: 'Who is there?' }).result()
    const systems = await Promise.all(
      [none, some, again].map(async ({ run_id }) => (await requestsOf(retinue, run_id, 'root'))[0]?.system ?? ''),
    )
    expect(systems[0]).not.toContain('available_agents')
    const section = /<available_agents>[\s\S]*<\/available_agents>/.exec(systems[1] ?? '')?.[0]
    expect(section?.split('\n')).toEqual([
      '<available_agents>',
      '  <agent handle="@amender">Amends.</agent>',
      '  <agent handle="@writer" tags="writing, docs">Writes &lt;b&gt;docs&lt;/b&gt; &amp; &quot;more&quot;.</agent>',
      '</available_agents>',
    ])
    expect(systems[1]).not.toContain('agent-registry')
    expect(systems[2]).toBe(systems[1])
  })

  it('D3: a model delegates by handle: the profile holds for that call only', async () => {
    const { retinue } = await family(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'Write it', profile: '@writer' } }] },
          { calls: [{ spawn_agent: { task: 'Write it again' } }] },
          { text: 'Done.' },
        ],
        a1: [{ text: 'Written.' }],
        a2: [{ text: 'Written again.' }],
      },
      { settings: PROFILES },
    )
    await retinue.control().register(WRITER)
    const { run_id } = await retinue.run({ task: 'Docs' }).result()
    const [first, second] = [await contractOf(retinue, run_id, 'a1'), await contractOf(retinue, run_id, 'a2')]
    expect(first.agent).toMatchObject({ handle: '@writer', profile_id: 'writer' })
    expect(second.agent).toMatchObject({ handle: null, profile_id: null })
    expect((await requestsOf(retinue, run_id, 'a1'))[0]?.system).toMatch(/Write plainly\.$/)
    expect((await requestsOf(retinue, run_id, 'a2'))[0]?.system).not.toContain('Write plainly.')
    expect((await retinue.control().agents()).in_effect).toBeNull()
  })

  it('D3: an unknown handle, and one whose profile is gone, are refused with what there is', async () => {
    const { retinue } = await family(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'x', profile: '@writre' } }] },
          { calls: [{ spawn_agent: { task: 'x', profile: '@stored' } }] },
          { text: 'Nobody did.' },
        ],
      },
      { settings: PROFILES },
    )
    const control = retinue.control()
    await control.register(WRITER)
    await control.putProfile('stored', { system_prompt: 'Stored.' }, 0)
    await control.register({ agentId: '@stored', profileId: 'stored', description: 'From the store.' })
    // As another version, or a hand, might leave it.
    await retinue.store.deleteRecord({ type: 'profile', id: 'stored', by: 'a hand', expected_version: 1 })
    const { run_id } = await retinue.run({ task: 'Docs' }).result()
    const told = await toldTo(retinue, run_id)
    expect(told.map(({ is_error, content }) => is_error && content.includes('"@writer"'))).toEqual([true, true])
    const [asked] = await retinue.fanOut([{ task: 'x', profile: '@stored' }]).results()
    expect(asked).toMatchObject({ success: false, error: expect.stringContaining('does not exist any more') })
  })

  it('D3, D7: skills are what parent, profile and registry all let; defaults are forwarded; clamps are reported', async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nUse ${name}.\n`
    const files = Object.fromEntries(
      ['one', 'two', 'three', 'four'].map((n) => [`.agents/skills/${n}/SKILL.md`, skill(n)]),
    )
    const { retinue } = await project(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'a', profile: '@writer' } }] },
          { calls: [{ spawn_agent: { task: 'b', profile: '@writer', skills: 'two, three, four' } }] },
          { text: 'Done.' },
        ],
        a1: [{ calls: [{ load_skill: { name: 'two' } }] }, { text: 'a' }],
        a2: [{ text: 'b' }],
      },
      {
        ...files,
        'retinue.yaml': `model: ${SCRIPTED}\nprofiles:\n  writer: { skills: [one, two, three] }\n`,
      },
    )
    await retinue.control().register({
      ...WRITER,
      defaultForwardSkills: ['skill:one'],
      allowedForwardSkills: ['skill:one', 'skill:two', 'skill:four'],
    })
    const { run_id } = await retinue.run({ task: 'Docs' }).result()
    const [a, b] = [await contractOf(retinue, run_id, 'a1'), await contractOf(retinue, run_id, 'a2')]
    expect(a.permissions.allowed_skills).toEqual(['one'])
    expect(b.permissions.allowed_skills).toEqual(['two'])
    expect(b.adjustments.map(({ field, asked, given }: Record<string, string>) => [field, asked, given])).toEqual([
      ['permissions.allowed_skills', 'three', 'none'],
      ['permissions.allowed_skills', 'four', 'none'],
    ])
    // Enforced, not only said.
    const [refused] = await toldTo(retinue, run_id, 'a1')
    expect(refused).toMatchObject({ tool: 'load_skill', is_error: true })
    expect(refused?.content).toContain('skill')
  })

  it('D4: a pin is the policy record of its scope, and session beats user beats workspace beats global', async () => {
    const { retinue } = await family(
      { root: [...'abcde'].map((text) => ({ text })) },
      {
        settings: {
          delegation: {
            roles: false,
            profiles: Object.fromEntries(['s', 'u', 'w', 'g'].map((n) => [n, { system_prompt: `I am ${n}.` }])),
          },
        },
      },
    )
    const control = retinue.control()
    const session_id = (await retinue.sessions.create(control.principal.id)).session_id
    await control.pin('g', 'global')
    await control.pin('w', 'workspace')
    await control.pin('u', 'user')
    await control.pin('s', 'session', { session_id })
    const ids = (await retinue.store.records('policy')).map(({ id, value }) => [id, value])
    expect(ids).toEqual([
      ['profile-pin:global', { profileId: 'g' }],
      [`profile-pin:session:${session_id}`, { profileId: 's' }],
      [`profile-pin:user:${control.principal.id}`, { profileId: 'u' }],
      [expect.stringMatching(/^profile-pin:workspace:[0-9a-f]{16}$/), { profileId: 'w' }],
    ])
    const who: (string | null)[] = []
    const ask = async () => {
      const { run_id } = await retinue.run({ task: 'Who are you?', session_id }).result()
      const system = (await requestsOf(retinue, run_id, 'root'))[0]?.system ?? ''
      who.push(/I am (\w)\.$/.exec(system)?.[1] ?? null)
    }
    await ask()
    for (const scope of ['session', 'user', 'workspace', 'global'] as const) {
      await control.unpin(scope, { session_id })
      await ask()
    }
    expect(who).toEqual(['s', 'u', 'w', 'g', null])
    expect(await retinue.store.records('policy')).toEqual([])
  })

  it('D4, D7: a handle that is pinned keeps the limits of the registry', async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nUse ${name}.\n`
    const { retinue } = await project(
      { root: [...'abcd'].map((text) => ({ text })) },
      {
        ...{ '.agents/skills/docs/SKILL.md': skill('docs'), '.agents/skills/deploy/SKILL.md': skill('deploy') },
        'retinue.yaml': `model: ${SCRIPTED}\nprofiles:\n  plain: { mode: plan }\n  other: { mode: auto }\n`,
      },
    )
    const control = retinue.control()
    const entry = { agentId: '@plain', profileId: 'plain', description: 'Plain.', allowedForwardSkills: ['docs'] }
    await control.register(entry)
    const agentOf = async (options: { profile?: string }) => {
      const { run_id } = await retinue.run({ task: 'x', ...options }).result()
      const { agent, permissions } = await contractOf(retinue, run_id, 'root')
      return [agent.handle, agent.profile_id, permissions.allowed_skills]
    }
    const asked = await agentOf({ profile: '@plain' })
    expect(asked).toEqual(['@plain', 'plain', ['docs']])
    const pin = await control.pin('@plain', 'user')
    expect(pin).toMatchObject({ profile_id: 'plain', handle: '@plain', fault: null })
    expect((await retinue.store.record('policy', pin.record_id))?.value).toEqual({
      ...{ profileId: 'plain', agentId: '@plain' },
    })
    expect(await agentOf({})).toEqual(asked)
    // What the registry says when it is used.
    await control.register({ ...entry, profileId: 'other', allowedForwardSkills: [] })
    expect(await agentOf({})).toEqual(['@plain', 'other', []])
    expect((await control.execute('/agents')).text).toContain('other (@plain) for')
    await control.unregister('@plain')
    const { code, message } = await refusal(() => retinue.run({ task: 'x' }).result())
    expect(code).toBe('config')
    expect(message).toMatch(/to "@plain" cannot be used: there is no agent "@plain" any more\. .*agents unpin --user/)
    await control.pin('plain', 'user')
    expect(await agentOf({})).toEqual([null, 'plain', expect.arrayContaining(['deploy', 'docs'])])
  })

  it('D4: a pin to a profile that is gone is an error that says how to unpin; nothing falls through', async () => {
    const { retinue, model } = await family({ root: [{ text: 'Without.' }] }, { settings: PROFILES })
    const control = retinue.control()
    await control.pin('drafter', 'global')
    await control.putProfile('stored', { system_prompt: 'Stored.' }, 0)
    await control.pin('stored', 'user')
    await retinue.store.deleteRecord({ type: 'profile', id: 'stored', by: 'a hand', expected_version: 1 })
    const { code, message } = await refusal(() => retinue.run({ task: 'x' }).result())
    expect(code).toBe('config')
    expect(message).toContain('stored')
    expect(message).toContain('retinue agents unpin --user')
    expect(model.requests).toEqual([])
    // Without the pin, asked for by name, it is as it always was.
    expect((await retinue.run({ task: 'x', profile: null }).result()).text).toBe('Without.')
  })

  it('D5: commands are answered without a model, audited with their outcome, and gated', async () => {
    const { retinue, model } = await family(
      {},
      { settings: { ...PROFILES, principals: { vera: 'viewer', olaf: 'operator' } } },
    )
    const say = async (control: Control, line: string) => (await control.execute(line)).outcome
    const [vera, olaf] = [retinue.control('vera'), retinue.control('olaf')]
    const outcomes = [
      await say(vera, '/agents'),
      await say(vera, '/agents register @writer | writer | Writes.'),
      await say(olaf, '/agents register @writer | writer | Writes.'),
      await say(olaf, '/agents register @writer'),
      await say(vera, '/agents show @writer'),
      await say(vera, '/agents pin @writer --user'),
      await say(vera, '/agents pin @writer --global'),
      await say(olaf, '/agents pin @writer --global'),
      await say(olaf, '/agents unregister @writer'),
      await say(olaf, '/agents unregister @writer'),
    ]
    const expected = [
      ...['success', 'denied', 'success', 'failure', 'success', 'success', 'denied', 'success', 'success', 'failure'],
    ]
    expect(outcomes).toEqual(expected)
    const log = await retinue.control().log()
    expect(commandsIn(log).map(({ principal, role, outcome }) => [principal, role, outcome])).toEqual(
      expected.map((outcome, i) => {
        const isVera = [0, 1, 4, 5, 6].includes(i)
        return [isVera ? 'vera' : 'olaf', isVera ? 'viewer' : 'operator', outcome]
      }),
    )
    expect(log.filter(({ type }) => type === 'control.command_executed')).toHaveLength(expected.length)
    expect(await retinue.store.verifyControl()).toBeNull()
    expect(model.requests).toEqual([])
    expect(await retinue.runs()).toEqual([])
  })

  it('a viewer starts nothing, and somebody whom nobody knows does nothing', async () => {
    const { retinue, model } = await family({}, { settings: { ...PROFILES, principals: { vera: 'viewer' } } })
    const denied = await refusal(() => retinue.run({ task: 'x', principal: 'vera' }).result())
    expect(denied.code).toBe('denied')
    const fanned = await refusal(() => retinue.spawn({ task: 'x' }, { principal: 'vera' }))
    expect(fanned.code).toBe('denied')
    const unknown = await refusal(async () => retinue.control('mallory').agents())
    expect(unknown.code).toBe('denied')
    expect(model.requests).toEqual([])
  })
})
