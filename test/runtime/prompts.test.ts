import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Profile } from '../../src/domain/index.js'
import type { Retinue, Settings } from '../../src/index.js'
import { DONE } from '../seeds/asking.js'
import { family, gate, requestsOf, retinueIn, toldTo } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'

const CANARY = 'the tide turns at four'

const deny = (pattern: string) => ({ decision: 'deny' as const, tool: 'read_file', pattern })

async function systemOf(retinue: Retinue, run_id: string, agent_id: string): Promise<string> {
  const [request] = await requestsOf(retinue, run_id, agent_id)
  return request?.system ?? ''
}

const section = (name: string, text: string) => `<instructions file="${name}">\n${text}\n</instructions>`

describe('files that a profile puts into a prompt', () => {
  const cases: [what: string, file: string, settings: Settings, reason: string][] = [
    ['a rule denies', '.env', { rules: [deny('.env')] }, 'may not be read: rule deny read_file(.env)'],
    [
      'a rule wants asked',
      '.env',
      { rules: [{ ...deny('.env'), decision: 'ask' }] },
      'may not be read without asking: rule ask read_file(.env)',
    ],
    [
      'is not in read_paths',
      '.env',
      { read_paths: [['README.md']] },
      'may not be read: .env is outside what this agent may read: README.md',
    ],
    [
      'is the report of another',
      '.retinue/reports/r/a1.md',
      { mode: 'dangerous' },
      'may not be read: .retinue/reports/r/a1.md belongs to Retinue, and sub-agents do not read it',
    ],
    [
      'is a link to what a rule denies',
      'notes.md',
      { rules: [deny('.env')] },
      'may not be read: rule deny read_file(.env)',
    ],
    [
      'is a link to the report of another',
      'report.md',
      {},
      'may not be read: .retinue/reports/r/a1.md belongs to Retinue, and sub-agents do not read it',
    ],
  ]

  const keys: [key: string, profile: (file: string) => Profile][] = [
    ['bootstrap_files', (file) => ({ bootstrap_files: ['README.md', file] })],
    ['system_prompt_file', (file) => ({ system_prompt_file: file })],
  ]

  async function play(profile: Profile, settings: Settings) {
    const made = await family(
      { root: [{ calls: [{ spawn_agent: { task: 'One', profile: 'p' } }] }, DONE], 'a*': [{ text: 'Yes.' }] },
      {
        files: { '.env': CANARY, '.retinue/reports/r/a1.md': CANARY, 'README.md': 'Read me.' },
        settings: { ...settings, delegation: { profiles: { p: profile } } },
      },
    )
    symlinkSync('.env', join(made.cwd, 'notes.md'))
    symlinkSync('.retinue/reports/r/a1.md', join(made.cwd, 'report.md'))
    const { result } = await runToEnd(made.retinue)
    return { ...made, run_id: result.run_id, told: await toldTo(made.retinue, result.run_id) }
  }

  for (const [key, profileOf] of keys) {
    it.each(cases)(
      `${key}: one that %s is refused, and nobody is told what is in it`,
      async (_, file, settings, why) => {
        const { told, model } = await play(profileOf(file), settings)
        expect(told).toEqual([
          {
            tool: 'spawn_agent',
            is_error: true,
            content: expect.stringContaining(
              `Not spawned: the profile p needs files that cannot be read: ${JSON.stringify(file)} ${why}. Use another profile, or none.`,
            ),
          },
        ])
        expect(JSON.stringify(model.requests)).not.toContain(CANARY)
        expect(model.requests.map(({ caller }) => caller.agent_id)).toEqual(['root', 'root'])
      },
    )

    it(`${key}: one that nothing keeps from it is in its prompt, by a link too, whatever its tools are`, async () => {
      const { retinue, run_id } = await play({ ...profileOf('notes.md'), tools: [] }, {})
      expect(await systemOf(retinue, run_id, 'a1')).toContain(CANARY)
    })
  }
})

describe('the files that prompts begin with unless somebody names others', () => {
  const files = { 'AGENTS.md': CANARY, 'CLAUDE.md': 'For Claude.', 'ENVIRONMENT.md': 'A laptop.' }
  const agents = { root: [{ calls: [{ spawn_agent: { task: 'One' } }] }, DONE], 'a*': [{ text: 'Yes.' }] }

  it('are left out where the agent may not read them', async () => {
    const { retinue, model } = await family(agents, { files, settings: { rules: [deny('AGENTS.md')] } })
    const { result } = await runToEnd(retinue)
    expect(result.outcome).toBe('completed')
    expect(JSON.stringify(model.requests)).not.toContain(CANARY)
    const root = await systemOf(retinue, result.run_id, 'root')
    expect(root).toContain(section('CLAUDE.md', 'For Claude.'))
    const child = await systemOf(retinue, result.run_id, 'a1')
    expect(child.endsWith(section('ENVIRONMENT.md', 'A laptop.'))).toBe(true)
  })

  it('but instructions that somebody named are not left out in silence', async () => {
    const instructions = { take: 'all' as const, files: ['CLAUDE.md', 'link.md'] }
    const { retinue, model, cwd } = await family(agents, {
      files,
      settings: { rules: [deny('AGENTS.md')], instructions },
    })
    symlinkSync('AGENTS.md', join(cwd, 'link.md'))
    await expect(runToEnd(retinue)).rejects.toMatchObject({
      code: 'config',
      message: 'instructions: "link.md" may not be read: rule deny read_file(AGENTS.md)',
    })
    expect(model.requests).toEqual([])
  })
})

describe('what sub-agents are told from files', () => {
  it('is what was in them when the run began: no agent speaks through them to another', async () => {
    const { retinue } = await family(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'One' } }] },
          {
            calls: [
              // Neither the same contract nor the same prompt as the first.
              { spawn_agent: { task: 'Two', max_tool_calls: 3 } },
              { spawn_agent: { task: 'Three', profile: 'late' } },
              { spawn_agent: { task: 'Four', profile: 'role' } },
            ],
          },
          DONE,
          // The next run begins with what there is then.
          { calls: [{ spawn_agent: { task: 'Five', profile: 'late' } }] },
          DONE,
        ],
        a1: [
          {
            calls: [
              { write_file: { path: 'AGENTS.md', content: CANARY, overwrite: true } },
              { write_file: { path: 'LATE.md', content: CANARY } },
              { write_file: { path: 'ROLE.md', content: CANARY, overwrite: true } },
            ],
          },
          { text: 'Written.' },
        ],
        'a*': [{ text: 'Yes.' }],
      },
      {
        files: { 'AGENTS.md': 'Run the tests.', 'ROLE.md': 'Read widely.' },
        settings: {
          mode: 'auto',
          delegation: {
            profiles: { late: { bootstrap_files: ['LATE.md'] }, role: { system_prompt_file: 'ROLE.md' } },
          },
        },
      },
    )
    const first = await runToEnd(retinue)
    const told = await toldTo(retinue, first.result.run_id)
    expect(told[0]?.content).toContain('Files changed: AGENTS.md, LATE.md, ROLE.md')
    const usual = section('AGENTS.md', 'Run the tests.')
    expect((await systemOf(retinue, first.result.run_id, 'a2')).endsWith(usual)).toBe(true)
    expect((await systemOf(retinue, first.result.run_id, 'a3')).endsWith(`${usual}\n\nRead widely.`)).toBe(true)
    expect(told[2]?.content).toContain('needs files that cannot be read: "LATE.md" does not exist')

    const second = await runToEnd(retinue, { session_id: first.result.session_id })
    expect((await systemOf(retinue, second.result.run_id, 'a4')).endsWith(section('LATE.md', CANARY))).toBe(true)
  })

  it('is of its own run where several are at work', async () => {
    const begun = gate()
    const other = gate()
    let isFirst = true
    const spawning = { calls: [{ spawn_agent: { task: 'One' } }] }
    const { retinue, cwd } = await family(
      {
        root: [spawning, DONE, spawning, DONE],
        'a*': [{ text: 'Yes.' }],
      },
      {
        files: { 'AGENTS.md': 'Speak.' },
        hold: () => {
          if (!isFirst) return undefined
          isFirst = false
          begun.open()
          return other.opened
        },
      },
    )
    const first = runToEnd(retinue)
    await begun.opened
    writeFileSync(join(cwd, 'AGENTS.md'), 'Whisper.')
    const second = await runToEnd(retinue)
    other.open()
    const { result } = await first
    expect((await systemOf(retinue, result.run_id, 'a1')).endsWith(section('AGENTS.md', 'Speak.'))).toBe(true)
    const later = await systemOf(retinue, second.result.run_id, 'a1')
    expect(later.endsWith(section('AGENTS.md', 'Whisper.'))).toBe(true)
  })

  it('is what was in them when the run went on', async () => {
    const begun = gate()
    const resumed = gate()
    const free = gate()
    const made = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'One' } }] }, DONE],
        'a*': [{ text: 'Yes.' }],
      },
      {
        files: { 'AGENTS.md': 'Speak.' },
        hold: () => {
          begun.open()
          return new Promise(() => {})
        },
      },
    )
    const run = made.retinue.run({ task: 'Go' })
    const ended = run.result().catch(() => null)
    await begun.opened
    await made.retinue.close()
    expect(await ended).toBe(null)
    writeFileSync(join(made.cwd, 'AGENTS.md'), 'Whisper.')
    const retinue = await retinueIn(made.cwd, made.model, {
      hold: ({ agent_id }) => {
        if (agent_id !== 'root') return undefined
        resumed.open()
        return free.opened
      },
    })
    const result = retinue.resume(run.run_id).result()
    await resumed.opened
    writeFileSync(join(made.cwd, 'AGENTS.md'), CANARY)
    free.open()
    expect(await result).toMatchObject({ outcome: 'completed' })
    const system = await systemOf(retinue, run.run_id, 'a1')
    expect(system.endsWith(section('AGENTS.md', 'Whisper.'))).toBe(true)
  })
})
