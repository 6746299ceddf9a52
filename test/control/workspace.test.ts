import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../src/control/index.js'
import { WORKSPACE_DEFAULTS } from '../../src/domain/index.js'
import { HOME, load, PROJECT } from './load.js'

async function resolved(files: Record<string, string>) {
  const loaded = await load(files)
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems))
  return loaded
}

async function problems(files: Record<string, string>): Promise<string[]> {
  const loaded = await load(files)
  if (loaded.ok) return []
  return formatProblems(loaded.problems, PROJECT).replaceAll(`${HOME}/.config/retinue/`, '').split('\n')
}

describe('workspace', () => {
  it('is as the domain says where no file does, and as a file says where one does', async () => {
    expect((await resolved({})).config.workspace).toEqual(WORKSPACE_DEFAULTS)
    const user = 'workspace: {isolation: shared, setup: npm ci, repair: true, land: commit}'
    expect((await resolved({ user })).config.workspace).toEqual({
      isolation: 'shared',
      setup: 'npm ci',
      repair: true,
      land: 'commit',
    })
  })

  it('is put together setting by setting', async () => {
    const { config, origin } = await resolved({
      user: 'workspace: {setup: npm ci, repair: true, land: commit}',
      project: 'workspace: {setup: null, land: changes}',
    })
    expect(config.workspace).toEqual({ isolation: 'worktree', setup: null, repair: true, land: 'changes' })
    expect(['setup', 'repair', 'isolation'].map((name) => origin(`workspace.${name}`))).toEqual([
      'project',
      'user',
      'default',
    ])
  })

  it.each([
    ['workspace: {isolaton: shared}', '1:13: unknown key "isolaton" in workspace: did you mean "isolation"?'],
    ['workspace: {isolation: read_only}', '1:24: workspace.isolation must be one of worktree, shared, not "read_only"'],
    ['workspace: {land: push}', '1:19: workspace.land must be one of changes, commit, branch, not "push"'],
    ['workspace: {repair: 1}', '1:21: workspace.repair must be true or false, not 1'],
    ['workspace: {setup: " "}', '1:20: an empty command sets nothing up: write null for none'],
    [
      'profiles: {p: {isolation: none}}',
      '1:27: profiles.p.isolation must be one of read_only, worktree, shared, not "none"',
    ],
  ])('says what is wrong with %s', async (user, message) => {
    expect(await problems({ user })).toEqual([`config.yaml:${message}`])
  })
})

const REMEDY = 'say it in config.yaml, or list this folder there under trusted_projects'

const WIDENING: [what: string, project: string, user: string, where: string, message: string][] = [
  [
    'sub-agents in the folder itself',
    'workspace: {isolation: shared}',
    '',
    '1:24',
    'let sub-agents write into your folder without a worktree',
  ],
  ['commits', 'workspace: {land: commit}', '', '1:19', 'widen how results reach your folder from changes to commit'],
  [
    'changes where the person wants a branch',
    'workspace: {land: changes}',
    'workspace: {land: branch}',
    '1:19',
    'widen how results reach your folder from branch to changes',
  ],
  ['repairs', 'workspace: {repair: true}', '', '1:21', 'spend a further sub-agent on each conflict'],
  ['a command for worktrees', 'workspace: {setup: npm ci}', '', '1:20', 'have a command run in each fresh worktree'],
  [
    "another command than the person's",
    'workspace: {setup: npm ci}',
    'workspace: {setup: make}',
    '1:20',
    'have a command run in each fresh worktree',
  ],
  [
    'a command that the person turned off',
    'workspace: {setup: npm ci}',
    'workspace: {setup: null}',
    '1:20',
    'have a command run in each fresh worktree',
  ],
]

describe("a project's file", () => {
  it.each(WIDENING)('cannot have %s', async (_, project, user, where, message) => {
    expect(await problems({ project, user })).toEqual([
      `retinue.yaml:${where}: a project's file cannot ${message}: ${REMEDY}`,
    ])
  })

  it.each(WIDENING)('can have %s where the person lists the folder', async (_, project, user) => {
    expect(await problems({ project, user: `${user}\ntrusted_projects: [~/shop]` })).toEqual([])
  })

  it.each([
    ["the person's own command for worktrees", 'workspace: {setup: npm ci}', 'workspace: {setup: npm ci}'],
    ["none instead of the person's command", 'workspace: {setup: null}', 'workspace: {setup: make}'],
    [
      'less than the person lets',
      'workspace: {isolation: worktree, land: branch, repair: false}',
      'workspace: {isolation: shared, land: commit, repair: true}',
    ],
    [
      'as much as the person lets',
      'workspace: {isolation: shared, land: commit, repair: true}',
      'workspace: {isolation: shared, land: commit, repair: true}',
    ],
    ['what holds anyway', 'workspace: {isolation: worktree, land: changes, repair: false, setup: null}', ''],
    [
      'profiles with any isolation: they only narrow',
      'profiles: {p: {isolation: shared}, q: {isolation: read_only}}',
      '',
    ],
  ])('can have %s', async (_, project, user) => {
    expect(await problems({ project, user })).toEqual([])
  })
})
