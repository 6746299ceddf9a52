import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DELEGATION_DEFAULTS, type DelegationSettings, WORKSPACE_DEFAULTS } from '../../src/domain/index.js'
import { createRetinue, openRetinue, type Settings } from '../../src/index.js'
import { checkOptions, runOptionsSchema, spawnTasksSchema } from '../../src/library/options.js'

async function created(delegation: unknown): Promise<string> {
  return createdWith({ delegation: delegation as DelegationSettings })
}

async function createdWith(settings: Settings): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'retinue-options-'))
  try {
    const retinue = await createRetinue({ cwd, env: {}, settings })
    await retinue.close()
    return 'taken'
  } catch (error) {
    return String(error)
  } finally {
    await rm(cwd, { recursive: true })
  }
}

describe('settings.delegation of a program', () => {
  it.each([
    { enabled: false },
    DELEGATION_DEFAULTS,
    { max_depth: 8, max_retries: 0, report_path_pattern: null, budget: { cost_usd: null, sub_agents: 0 } },
    { profiles: { coder: { tools: ['run_command'], budget: { tool_calls: 3 }, attempt_timeout_ms: 5000 } } },
  ])('can be %j', async (delegation) => {
    expect(await created(delegation)).toBe('taken')
  })

  it.each([
    [{ max_dept: 1 }, 'Unrecognized key: "max_dept"'],
    [{ max_depth: 9 }, 'settings.delegation.max_depth: Too big'],
    [{ max_depth: 0 }, 'settings.delegation.max_depth: Too small'],
    [{ max_retries: 11 }, 'settings.delegation.max_retries: Too big'],
    [{ budget: { tool_calls: 0 } }, 'settings.delegation.budget.tool_calls must be positive'],
    [{ budget: { tokens: 1 } }, 'settings.delegation.budget: there is no budget of tokens; there are tool_calls'],
    [{ report_path_pattern: 'src/<idx>.md' }, 'settings.delegation.report_path_pattern: report_path_pattern must be'],
    [{ profiles: { Coder: {} } }, 'settings.delegation.profiles.Coder: '],
    [{ profiles: { p: { tool: [] } } }, 'settings.delegation.profiles.p: Unrecognized key: "tool"'],
    [{ profiles: { p: { budget: { wall_ms: 1 } } } }, 'profiles.p.budget.wall_ms must be at least 5000'],
    [{ profiles: { p: { max_retries: 11 } } }, 'settings.delegation.profiles.p.max_retries: Too big'],
    [{ profiles: { p: { attempt_timeout_ms: 1 } } }, 'p.attempt_timeout_ms: attempt_timeout_ms must be at least 5000'],
    [{ profiles: { p: { model: 'a/b', pool: 'c' } } }, 'profiles.p.pool: a profile has a model or a pool, not both'],
  ])('cannot be %j', async (delegation, message) => {
    expect(await created(delegation)).toContain(message)
  })
})

describe('settings of a program', () => {
  it.each([
    [{ profiles: { p: {} } }, 'settings.profiles: there is no such setting: profiles go under delegation.profiles'],
    [{ budget: { tokens: 1 } }, 'settings.budget: there is no budget of tokens; there are tool_calls, turns'],
    [{ budget: { turns: 1.5 } }, 'settings.budget.turns must be a whole number'],
    [{ budget: { cost_usd: -1 } }, 'settings.budget.cost_usd must be positive'],
    [{ budget: [] }, 'settings.budget must be an object with limits'],
    [{ workspace: { isolation: 'read_only' } }, 'settings.workspace.isolation: Invalid option'],
    [{ workspace: { setup: ' ' } }, 'settings.workspace.setup: an empty command sets nothing up: give null for none'],
    [{ workspace: { land: 'push' } }, 'settings.workspace.land: Invalid option'],
    [{ workspace: { repairs: true } }, 'settings.workspace: Unrecognized key: "repairs"'],
  ])('cannot be %j', async (settings, message) => {
    expect(await createdWith(settings as Settings)).toContain(message)
  })

  it('can have every limit, and none of some kinds', async () => {
    const budget = { total_tokens: null, cost_usd: null, sub_agents: 0, turns: 1, wall_ms: 5000 }
    expect(await createdWith({ budget })).toBe('taken')
  })
})

it('the workspace of a program can be whatever a file can say', async () => {
  expect(await createdWith({ workspace: {} })).toBe('taken')
  expect(await createdWith({ workspace: WORKSPACE_DEFAULTS })).toBe('taken')
  expect(await createdWith({ workspace: { isolation: 'shared', setup: 'make', repair: true, land: 'branch' } })).toBe(
    'taken',
  )
})

describe('options of runs and tasks', () => {
  const refused = (schema: Parameters<typeof checkOptions>[0], options: object) => {
    try {
      checkOptions(schema, options)
      return 'taken'
    } catch (error) {
      return (error as Error).message
    }
  }

  it('say how the result lands', () => {
    for (const land of ['changes', 'commit', 'branch']) {
      expect(refused(runOptionsSchema, { task: 'x', land })).toBe('taken')
    }
    expect(refused(runOptionsSchema, { task: 'x', land: true })).toContain('land: Invalid option')
  })

  it('say where a sub-agent works, and what must be there afterwards', () => {
    const tasks = (more: object) => refused(spawnTasksSchema, { tasks: [{ task: 'x', ...more }] })
    expect(tasks({ isolation: 'read_only', checks: [{ kind: 'paths', exist: ['dist'] }] })).toBe('taken')
    expect(tasks({ isolation: 'none' })).toContain('tasks.0.isolation: Invalid option')
    expect(tasks({ checks: [{ kind: 'paths' }] })).toContain('tasks.0.checks.0: a check of paths says what must exist')
    expect(tasks({ checks: [{ kind: 'paths', exist: ['/x'] }] })).toContain(
      'tasks.0.checks.0.exist.0: "/x" in exist is not relative to the workspace',
    )
  })
})

describe('openRetinue', () => {
  it.each([
    [undefined, 'expected object'],
    [{ env: {} }, 'cwd must be the path of the project folder'],
    [{ cwd: 3, env: {} }, 'cwd must be the path of the project folder'],
    [{ cwd: '.' }, 'env must be an object with environment variables'],
    [{ cwd: '.', env: {}, mode: 'auto' }, 'Unrecognized key: "mode"'],
  ])('takes no %j', async (options, message) => {
    await expect(openRetinue(options as Parameters<typeof openRetinue>[0])).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining(message),
    })
  })
})

it('everything that a file can say is taken', async ({ onTestFinished }) => {
  const cwd = await mkdtemp(join(tmpdir(), 'retinue-options-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  await mkdir(join(cwd, 'config/retinue'), { recursive: true })
  const example = page.split('```yaml\n').at(-1)?.split('```')[0] ?? ''
  await writeFile(join(cwd, 'config/retinue/config.yaml'), example)
  const retinue = await openRetinue({ cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config'), HOME: cwd } })
  await retinue.close()
  expect(example).toMatch(/^profiles:$/m)
})
