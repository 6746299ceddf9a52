import { describe, expect, it, onTestFinished } from 'vitest'
import { discoverSkills } from '../../src/control/index.js'
import { createHost, createMemoryStore, createRetinue, type RetinueOptions, type Store } from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { makeProject } from '../support/project.js'
import { BAD_SERVER } from '../tools/mcp/connect.js'

const CANARY = 'canary-3f9c1e77a2b84d50'

async function retinueWith(agents: ScriptedModelOptions['agents'], options: RetinueOptions & { cwd: string }) {
  const model = createScriptedModel({ name: 'test', agents })
  const store = options.store ?? createMemoryStore({ clock: { now: () => Date.now() } })
  const retinue = await createRetinue({ env: {}, ...options, store, models: modelsOf(model) })
  onTestFinished(() => retinue.close())
  return { retinue, model }
}

describe('what there is and may not be used', () => {
  it.each([
    ['all', {}, 'tool.finished'],
    ['not among those allowed', { mcp_servers: ['other'] }, 'tool.refused'],
    ['none allowed', { mcp_servers: [] }, 'tool.refused'],
    ['left out by its tools', { mcp_tools: [['mcp__other__*']] }, 'tool.refused'],
  ])('a server: %s', async (_, allowed, type) => {
    const settings = { command: process.execPath, args: [BAD_SERVER, 'plain'] }
    const { retinue, model } = await retinueWith(
      { root: [{ calls: [{ mcp__here__ok: {} }] }, { text: 'Done.' }] },
      {
        cwd: makeProject({}),
        reach: { servers: [{ name: 'here', settings, trusted: true }] },
        settings: { mode: 'dangerous', ...allowed },
      },
    )
    const { events } = await runToEnd(retinue)
    expect(events.filter((event) => /^tool\.(finished|refused)$/.test(event.type)).map((e) => e.type)).toEqual([type])
    const offered = model.requests[0]?.request.tools.some(({ name }) => name === 'mcp__here__ok')
    expect(offered).toBe(type === 'tool.finished')
  })

  it.each([
    [undefined, 'tool.finished'],
    [['other'], 'tool.refused'],
    [[], 'tool.refused'],
  ])('a skill, where %j are allowed', async (skills, type) => {
    const skill = '---\nname: brew\ndescription: How to brew tea\n---\nBoil the water first.\n'
    const cwd = makeProject({ '.agents/skills/brew/SKILL.md': skill })
    const found = await discoverSkills(createHost(), { project_dir: cwd, home: cwd, config_home: cwd })
    const { retinue, model } = await retinueWith(
      { root: [{ calls: [{ load_skill: { name: 'brew' } }] }, { text: 'Done.' }] },
      { cwd, reach: { skills: found.skills }, settings: skills ? { skills } : {} },
    )
    const { events } = await runToEnd(retinue)
    const ends = events.filter((event) => /^tool\.(finished|refused)$/.test(event.type))
    expect(ends.map((event) => event.type)).toEqual([type])
    expect(JSON.stringify(ends).includes('Boil the water first')).toBe(type === 'tool.finished')
    expect(model.requests[0]?.request.system.includes('How to brew tea')).toBe(type === 'tool.finished')
  })
})

describe('a secret', () => {
  const secrets = [{ name: 'CANARY', value: CANARY }]
  /** Parts of it that nobody could take for something else. */
  const parts = Array.from({ length: CANARY.length - 8 }, (_, i) => CANARY.slice(i, i + 8))

  it.each([2000, 2012, 2024, 2036, 2048, 2060, 2072, 2084])(
    'is found where an output is cut through it, at %i',
    async (output_chars) => {
      const cwd = makeProject({ 'long.txt': `${`${'x'.repeat(37)}${CANARY}`.repeat(400)}\n` })
      const { retinue } = await retinueWith(
        { root: [{ calls: [{ run_command: { command: 'cat long.txt' } }] }, { text: 'Done.' }] },
        { cwd, secrets, settings: { mode: 'dangerous', limits: { output_chars } } },
      )
      const { events } = await runToEnd(retinue)
      const [finished] = dataOf(events, 'tool.finished')
      expect(finished?.content).toContain('[secret CANARY]')
      expect(parts.filter((part) => finished?.content.includes(part))).toEqual([])
    },
  )

  it('that was none when a session began is none of its history now', async () => {
    const cwd = makeProject({ 'a.txt': CANARY })
    const store: Store = createMemoryStore({ clock: { now: () => Date.now() } })
    const read = { root: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Done.' }] }
    const before = await retinueWith(read, { cwd, store })
    const { result } = await runToEnd(before.retinue)
    expect(JSON.stringify(before.model.requests)).toContain(CANARY)
    const after = await retinueWith({ root: [{ text: 'Again.' }] }, { cwd, store, secrets })
    await runToEnd(after.retinue, { session_id: result.session_id })
    expect(JSON.stringify(after.model.requests)).toContain('[secret CANARY]')
    expect(JSON.stringify(after.model.requests)).not.toContain(CANARY)
  })
})
