import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { agentsImport } from '../../src/cli/commands/agents-import.js'
import { discoverAgentFiles, importAgentFiles, importAgents } from '../../src/index.js'
import { put, temporaryFolders } from '../host/helpers.js'
import { agent, host, placesIn, SURROUNDINGS } from './agent-folders.js'

const folder = temporaryFolders()
const FIXTURES = fileURLToPath(new URL('../fixtures/agents', import.meta.url))

/** Puts files below a temporary folder and imports through the library, with the configuration that is there. */
async function imported(files: Record<string, string>, options: Parameters<typeof importAgentFiles>[3] = {}) {
  const top = folder()
  const { project_dir, home } = placesIn(top)
  put(top, files)
  const report = await importAgents({ cwd: project_dir, env: { HOME: home }, ...options })
  const text = (path: string) => (existsSync(join(top, path)) ? readFileSync(join(top, path), 'utf8') : null)
  return { top, report, text, states: report.agents.map(({ from, to, state }) => `${from} -> ${to}: ${state}`) }
}

const CLAUDE = agent(
  'name: Code Reviewer\ndescription: Looks at changes\ntools: Read, Grep, TodoWrite\nmaxTurns: 5\ncolor: red\nmodel: sonnet',
  '\n  Look at it.\r\n\n```\ncode\n```\n\n',
)

describe('agents import', () => {
  it('writes files of ours and says key by key what became of theirs', async () => {
    const { report, text } = await imported({ 'project/.claude/agents/rev.md': CLAUDE })
    expect(report).toEqual({
      ok: true,
      dry_run: false,
      agents: [
        {
          from: '.claude/agents/rev.md',
          to: '.retinue/agents/code-reviewer.md',
          name: 'code-reviewer',
          state: 'written',
          message: null,
          notes: [
            'name: "Code Reviewer" is asked for as code-reviewer',
            'tools: TodoWrite left out: there is no such tool here, and without it the list is narrower',
            'model: sonnet is no model here: it has that of its parent. Make a pool named sonnet to choose one',
            'kept, without a meaning here: color',
          ],
          fields: [
            { key: 'description', state: 'taken', text: 'Looks at changes' },
            { key: 'tools', state: 'taken', text: 'Read, Grep, TodoWrite -> read_file, search_files' },
            {
              key: 'tools',
              state: 'left_out',
              text: 'TodoWrite left out: there is no such tool here, and without it the list is narrower',
            },
            { key: 'maxTurns', state: 'taken', text: 'budget.turns: 5' },
            { key: 'color', state: 'kept', text: 'means nothing here' },
            {
              key: 'model',
              state: 'kept',
              text: 'sonnet is no model here: it has that of its parent. Make a pool named sonnet to choose one',
            },
          ],
        },
      ],
    })
    expect(text('project/.retinue/agents/code-reviewer.md')).toBe(
      '---\nname: code-reviewer\ndescription: Looks at changes\nbudget:\n  turns: 5\ntools:\n  - read_file\n  - search_files\n' +
        'color: red\nmodel: sonnet\n---\n\n  Look at it.\r\n\n```\ncode\n```\n\n',
    )
  })

  it('takes the folders of other tools, with --home those of the person after them; of one name the first', async () => {
    const files = {
      'project/.gemini/agents/a.md': agent('name: a\ndescription: gemini'),
      'project/.claude/agents/a.md': agent('name: a\ndescription: claude'),
      'project/.claude/agents/README.md': '# no agent',
      'project/.agents/agents/ours.md': agent('description: ours'),
      'home/.claude/agents/a.md': agent('name: a\ndescription: home'),
      'home/.claude/agents/b.md': agent('description: home'),
      'home/.config/opencode/agent/c.md': agent('description: home\ndisable: true'),
    }
    expect((await imported(files)).states).toEqual([
      '.claude/agents/a.md -> .retinue/agents/a.md: written',
      '.gemini/agents/a.md -> null: same_name',
    ])
    const all = await imported(files, { home: true })
    expect(all.states).toEqual([
      '.claude/agents/a.md -> .retinue/agents/a.md: written',
      '.gemini/agents/a.md -> null: same_name',
      '~/.claude/agents/a.md -> null: same_name',
      '~/.claude/agents/b.md -> .retinue/agents/b.md: written',
      '~/.config/opencode/agent/c.md -> null: turned_off',
    ])
    expect(all.report.ok).toBe(true)
  })

  it('does not import what has a fault, and imports the others', async () => {
    const { report, states, text } = await imported({
      'project/.claude/agents/a.md': agent('description: x\ntools: Read\nhooks: {PreToolUse: []}'),
      'project/.claude/agents/b.md': agent('description: x'),
    })
    expect(states).toEqual([
      '.claude/agents/a.md -> null: faulty',
      '.claude/agents/b.md -> .retinue/agents/b.md: written',
    ])
    expect(report.ok).toBe(false)
    expect(report.agents[0]?.message).toMatch(/^\.claude\/agents\/a\.md:4: the hook PreToolUse may refuse calls/)
    expect(text('project/.retinue/agents/a.md')).toBeNull()
  })

  it('replaces nothing unless it is told to, and says when there is nothing to do', async () => {
    const files = {
      'project/.claude/agents/a.md': agent('name: a\ndescription: new'),
      'project/.retinue/agents/a.md': 'mine',
    }
    const kept = await imported(files)
    expect(kept.states).toEqual(['.claude/agents/a.md -> .retinue/agents/a.md: exists'])
    expect([kept.report.ok, kept.text('project/.retinue/agents/a.md')]).toEqual([false, 'mine'])
    const forced = await imported(files, { force: true })
    expect(forced.states).toEqual(['.claude/agents/a.md -> .retinue/agents/a.md: replaced'])
    expect(forced.text('project/.retinue/agents/a.md')).toContain('description: new')
    const { project_dir, home } = placesIn(forced.top)
    const again = await importAgents({ cwd: project_dir, env: { HOME: home } })
    expect([again.ok, again.agents[0]?.state]).toEqual([true, 'unchanged'])
  })

  it('writes nothing in a dry run', async () => {
    const { states, text } = await imported({ 'project/.claude/agents/a.md': CLAUDE }, { dry_run: true })
    expect(states).toEqual(['.claude/agents/a.md -> .retinue/agents/code-reviewer.md: written'])
    expect(text('project/.retinue/agents/code-reviewer.md')).toBeNull()
  })

  it('takes files and folders that are named, to the folder that is named', async () => {
    const files = { 'project/lib/x.md': agent('description: x'), 'project/lib/more/y.md': agent('description: y') }
    const options = { paths: ['lib/x.md', 'lib/more', 'lib/none.md'], to: '~/mine/agents' }
    const { states, text, report } = await imported(files, options)
    expect(states).toEqual([
      'lib/x.md -> ~/mine/agents/x.md: written',
      'lib/more/y.md -> ~/mine/agents/y.md: written',
      'lib/none.md -> null: faulty',
    ])
    expect(report.ok).toBe(false)
    expect(text('home/mine/agents/y.md')).toBe('---\nname: y\ndescription: y\n---\nDo it.\n')
  })

  it('neither reads nor writes through links that lead out of the project', async () => {
    const top = folder()
    const { project_dir, home } = placesIn(top)
    put(top, {
      'outside/secret.md': agent('description: secret'),
      'project/.claude/agents/sound.md': agent('description: x'),
      'elsewhere/here.txt': '',
    })
    symlinkSync(join(top, 'outside/secret.md'), join(project_dir, '.claude/agents/link.md'))
    symlinkSync(join(top, 'elsewhere'), join(project_dir, '.retinue'))
    const { agents } = await importAgents({ cwd: project_dir, env: { HOME: home } })
    expect(agents.map(({ from, state }) => `${from} ${state}`)).toEqual([
      '.claude/agents/link.md faulty',
      '.claude/agents/sound.md faulty',
    ])
    expect(existsSync(join(top, 'elsewhere/agents'))).toBe(false)
  })

  it('says of agents of the home folder that the project has them now, and of no others', async () => {
    const files = {
      'project/.claude/agents/a.md': agent('description: x'),
      'home/.claude/agents/b.md': agent('description: x'),
    }
    const notes = async (options: Parameters<typeof importAgentFiles>[3]) =>
      (await imported(files, { home: true, ...options })).report.agents.map(({ notes }) => notes)
    const shared =
      'it was in your home folder, and in the project git add takes it along: --to ~/.config/retinue/agents keeps it to yourself'
    expect(await notes({})).toEqual([[], [shared]])
    expect(await notes({ to: '~/.config/retinue/agents' })).toEqual([[], []])
  })

  it('offers no more than will be read', async () => {
    const many = (at: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => [`project/${at}/a${from + i}.md`, agent('description: x')])
    const files = Object.fromEntries([...many('.retinue/agents', 0, 300), ...many('.claude/agents', 300, 620)])
    for (const dry_run of [true, false]) {
      const { report } = await imported(files, { dry_run })
      expect([report.ok, report.agents.filter(({ state }) => state === 'written').length]).toEqual([false, 200])
      expect(report.agents.at(-1)).toMatchObject({
        state: 'faulty',
        message: '.retinue/agents has 500 agent files, and no more are read',
      })
    }
  })

  it('makes files that are the same agents when they are read', async () => {
    const places = placesIn(folder())
    for (const from of ['claude', 'opencode', 'gemini']) {
      cpSync(join(FIXTURES, from), join(places.project_dir, `.${from}/agents`), { recursive: true })
    }
    const before = await discoverAgentFiles(host, places, SURROUNDINGS)
    const sound = before.filter(({ fault }) => fault === null)
    expect(sound.length).toBeGreaterThan(15)
    await importAgentFiles(host, places, SURROUNDINGS, {})
    const after = await discoverAgentFiles(host, places, SURROUNDINGS)
    const ours = new Map(
      after.flatMap(({ source, name, profile, kept }) => {
        return source.kind === 'file' && source.file.startsWith('.retinue/') ? [[name, { profile, kept }]] : []
      }),
    )
    const same = sound.map(({ name, profile, kept }) => [name, { profile, kept }] as const)
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(same))
  })
})

describe('retinue agents import', () => {
  /** What a person sees, and the exit code. */
  async function said(files: Record<string, string>, flags: Parameters<typeof agentsImport>[1] = {}) {
    const top = folder()
    const { project_dir, home } = placesIn(top)
    put(top, files)
    vi.stubEnv('HOME', home)
    vi.stubEnv('XDG_CONFIG_HOME', '')
    vi.stubEnv('NO_COLOR', '1')
    const written: string[] = []
    const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    try {
      const code = await agentsImport([], { cwd: project_dir, ...flags })
      return { code, text: written.join('') }
    } finally {
      out.mockRestore()
      vi.unstubAllEnvs()
    }
  }

  it('says what was done, and ends with 1 where something was not imported', async () => {
    const files = {
      'project/.claude/agents/rev.md': CLAUDE,
      'project/.gemini/agents/far.md': agent('name: far\nkind: remote'),
    }
    expect(await said(files)).toEqual({
      code: 1,
      text: [
        '.claude/agents/rev.md -> .retinue/agents/code-reviewer.md  imported',
        '  description: Looks at changes',
        '  tools: Read, Grep, TodoWrite -> read_file, search_files',
        '  tools: TodoWrite left out: there is no such tool here, and without it the list is narrower',
        '  maxTurns: budget.turns: 5',
        '  color: kept, means nothing here',
        '  model: kept, sonnet is no model here: it has that of its parent. Make a pool named sonnet to choose one',
        '  name: "Code Reviewer" is asked for as code-reviewer',
        '.gemini/agents/far.md  not imported',
        '  .gemini/agents/far.md:3: kind "remote": agents that run elsewhere cannot be used here: write local, or remove the file',
        '1 agent imported',
        '',
      ].join('\n'),
    })
  })

  it('says of a dry run what would be, and not that it was', async () => {
    const files = {
      'project/.claude/agents/a.md': agent('description: x'),
      'project/.claude/agents/b.md': agent('description: new'),
      'project/.retinue/agents/b.md': agent('description: old'),
    }
    const { text } = await said(files, { dryRun: true, force: true })
    expect(text.split('\n').filter((line) => !line.startsWith('  '))).toEqual([
      '.claude/agents/a.md -> .retinue/agents/a.md  would be imported',
      '.claude/agents/b.md -> .retinue/agents/b.md  would be imported, and replace what is there',
      '2 agents would be imported; nothing was written',
      '',
    ])
  })

  it('says so where there is nothing, and gives it to programs as JSON', async () => {
    expect(await said({})).toEqual({
      code: 0,
      text: 'No agent files of other tools here. Name files or folders, or look at home with --home.\n',
    })
    const { code, text } = await said({ 'project/.claude/agents/rev.md': CLAUDE }, { json: true, dryRun: true })
    expect([code, JSON.parse(text).agents[0].state]).toEqual([0, 'written'])
  })
})
