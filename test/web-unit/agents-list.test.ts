import { describe, expect, it } from 'vitest'
import { budgetWords, profileFacts } from '../../web/src/pages/agents/list/profile-facts'
import { searched } from '../../web/src/pages/agents/list/search'
import { howToMend, sourceLabel, whereChanged } from '../../web/src/pages/agents/list/sources'

type View = Parameters<typeof searched>[0]
type Source = Parameters<typeof sourceLabel>[0]

const profile = (name: string, source: Source, more: object = {}): View['profiles'][number] => ({
  ...{ name, source, notes: [], kept: {}, shadows: [], handles: [], fault: null },
  profile: { description: `Does what ${name} does.`, ...more },
})

const VIEW: View = {
  agents: [
    { agentId: '@critic', profileId: 'reviewer', description: 'Finds faults.', tags: ['quality'], fault: null },
    { agentId: '@writer', profileId: 'docs', description: 'Writes.', allowedMcpServers: ['wiki'], fault: null },
  ],
  profiles: [
    profile('docs', { kind: 'file', scope: 'project', file: '.opencode/agent/docs.md' }, { tools: ['edit_file'] }),
    profile('reviewer', { kind: 'role' }),
  ],
}

function found(typed: string): string[] {
  const { agents, profiles } = searched(VIEW, typed)
  return [...agents.map(({ agentId }) => agentId), ...profiles.map(({ name }) => name)]
}

describe('search', () => {
  it('finds by name, description, tag, server, tool and where it comes from; all words count', () => {
    expect(
      ['', 'CRITIC', 'faults finds', 'quality', 'wiki', 'edit_file', 'opencode', 'role ships', 'docs critic'].map(
        found,
      ),
    ).toEqual([
      ['@critic', '@writer', 'docs', 'reviewer'],
      ['@critic'],
      ['@critic'],
      ['@critic'],
      ['@writer'],
      ['docs'],
      ['docs'],
      ['reviewer'],
      [],
    ])
  })
})

describe('where a profile comes from', () => {
  const file = (path: string, scope: 'project' | 'home' = 'project'): Source => ({ kind: 'file', scope, file: path })

  it('in a word', () => {
    const sources: Source[] = [
      { kind: 'role' },
      file('.claude/agents/a.md'),
      file('~/.claude/agents/a.md', 'home'),
      file('.opencode/agents/a.md'),
      file('~/.config/opencode/agent/a.md', 'home'),
      file('.gemini/agents/a.md'),
      file('.retinue/agents/a.md'),
      { kind: 'config', scope: 'project', file: 'retinue.yaml' },
      { kind: 'config', scope: 'user', file: '~/.config/retinue/config.yaml' },
      { kind: 'options' },
      { kind: 'store', version: 3 },
    ]
    expect(sources.map(sourceLabel)).toEqual([
      'role',
      'Claude Code',
      'Claude Code, yours',
      'opencode',
      'opencode, yours',
      'Gemini',
      'agent file',
      'project',
      'your configuration',
      'program',
      'store',
    ])
  })

  it('says where it is changed, since here it is not', () => {
    expect(
      [file('.claude/agents/a.md'), { kind: 'store', version: 3 } as const, { kind: 'role' } as const].map((source) =>
        whereChanged({ name: 'a', source }),
      ),
    ).toEqual([
      { says: 'It is changed in .claude/agents/a.md', command: null },
      { says: 'It is in the store, and replaced with:', command: 'retinue agents put a <file>' },
      { says: 'It ships with Retinue. One of your own takes its place: .retinue/agents/a.md', command: null },
    ])
  })

  it('says how one is mended that cannot be used, and what it hides', () => {
    expect(howToMend({ name: 'a', source: file('.gemini/agents/a.md'), shadows: [{ kind: 'role' }] })).toBe(
      'Mend .gemini/agents/a.md, or remove it: it is read again when it is used next. It hides the one from Retinue (a role that ships) until then.',
    )
  })
})

describe('what a profile says', () => {
  it('what decides most is said also where it inherits', () => {
    expect(profileFacts({})).toEqual([
      { label: 'Model', says: "its parent's, or what is configured" },
      { label: 'Tools', says: 'all that its parent may use' },
      { label: 'Budget', says: 'of what its parent has left' },
    ])
  })

  it('an empty list is none, not all', () => {
    expect(profileFacts({ pool: 'small', tools: [], skills: [], may_spawn: ['researcher'] })).toEqual([
      { label: 'Model', says: 'the pool small' },
      { label: 'Tools', says: 'none' },
      { label: 'Skills', says: 'none' },
      { label: 'Budget', says: 'of what its parent has left' },
      { label: 'Sub-agents', names: ['researcher'] },
    ])
  })

  it('a budget in words, limits that there are not included', () => {
    expect(budgetWords({ budget: { turns: 12, total_tokens: 200_000, cost_usd: null, sub_agents: 0 } })).toEqual([
      '12 turns',
      '200,000 tokens',
      'no limit on cost',
      '0 sub-agents',
    ])
  })
})
