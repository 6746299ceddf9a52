import { describe, expect, it } from 'vitest'
import { configHome, resolveConfig } from '../../src/control/index.js'
import { authoritySchema } from '../../src/domain/index.js'
import { DEFAULT_LIMITS } from '../../src/tools/tool.js'
import { HOME, load, PROJECT, surroundings, USER_FILE } from './load.js'

const DEFAULT = {
  model: null,
  pools: {},
  mode: 'normal',
  permissions: {
    rules: [],
    read_paths: [['**']],
    write_paths: [['**']],
    tools: ['read_file', 'write_file', 'run_command', 'git_diff', 'git_log'],
    mcp_tools: [],
    network: null,
    mcp_servers: null,
    skills: null,
  },
  sandbox: 'on',
  budget: {
    tool_calls: 300,
    turns: 150,
    context_tokens: 120_000,
    wall_ms: 3_600_000,
    total_tokens: 5_000_000,
    cost_usd: null,
    sub_agents: 100,
  },
  workspace: { isolation: 'worktree', setup: null, repair: false, land: 'changes' },
  delegation: {
    enabled: true,
    max_depth: 2,
    max_concurrent: 8,
    budget: { tool_calls: 15, context_tokens: 8192, wall_ms: 60_000 },
    max_retries: 1,
    models: [],
    ask_person: false,
    report_path_pattern: '.retinue/reports/<run>/<agent>-step-<idx>-result.md',
    roles: true,
    test_paths: ['**/test/**', '**/tests/**', '**/__tests__/**', '**/spec/**'],
  },
  profiles: {},
  providers: {},
  instructions: { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] },
  limits: DEFAULT_LIMITS,
  retry: { max_attempts: 5 },
  model_timeout_ms: 600_000,
  idle_timeout_ms: 120_000,
  store: '/home/ada/shop/.retinue/retinue.db',
  secrets: [],
  web: { allow_private: [], search: null },
  tests: { command: null },
  local_models: true,
  engine: 'local',
  workers: { concurrency: null, labels: [], at_once: null, per_run: null },
  principals: {},
  server: { host: '127.0.0.1', port: null, users: {}, origins: [] },
}

async function resolved(files: Record<string, string>) {
  const loaded = await load(files)
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded
}

describe('files and defaults', () => {
  it('gives the defaults where there is no file', async () => {
    const loaded = await resolved({})
    expect(loaded.config).toEqual(DEFAULT)
    expect(loaded.sources).toEqual([])
    expect(loaded.mcp_servers).toEqual({})
    expect(loaded.origin('mode')).toBe('default')
  })

  it.each([
    ['an empty file', ''],
    ['comments alone', '# nothing yet\n'],
    ['a byte order mark alone', '\uFEFF'],
    ['an empty document', '---\n'],
    ['an empty mapping', '{}'],
  ])('takes %s for no settings', async (_, project) => {
    const loaded = await resolved({ project })
    expect(loaded.config).toEqual(DEFAULT)
    expect(loaded.sources).toEqual([{ file: `${PROJECT}/retinue.yaml`, keys: [] }])
  })

  it('reads a byte order mark and Windows line ends', async () => {
    const { config } = await resolved({ project: '\uFEFFmode: plan\r\nbudget:\r\n  turns: 7\r\n' })
    expect(config).toEqual({ ...DEFAULT, mode: 'plan', budget: { ...DEFAULT.budget, turns: 7 } })
  })

  it('reads anchors and aliases', async () => {
    const project = 'permissions:\n  read_paths: &own [src]\n  write_paths: *own\n'
    const { config } = await resolved({ project })
    expect(config.permissions).toMatchObject({ read_paths: [['src']], write_paths: [['src']] })
  })

  it('reads retinue.yml too', async () => {
    const { config, sources } = await resolved({ [`${PROJECT}/retinue.yml`]: 'mode: plan' })
    expect(config.mode).toBe('plan')
    expect(sources).toEqual([{ file: `${PROJECT}/retinue.yml`, keys: ['mode'] }])
  })

  it('lets the project win setting by setting and says where each came from', async () => {
    const loaded = await resolved({
      user: 'model: openai/a\nbudget: {turns: 50, wall_ms: 60000}\nlimits: {read_lines: 500}\nretry: {max_attempts: 2}',
      project: 'model: anthropic/b\nbudget: {turns: 5}\ninstructions: [docs/rules.md]\nmodel_timeout_ms: 5000',
    })
    expect(loaded.config).toEqual({
      ...DEFAULT,
      model: 'anthropic/b',
      budget: { ...DEFAULT.budget, turns: 5, wall_ms: 60_000 },
      limits: { ...DEFAULT_LIMITS, read_lines: 500 },
      retry: { max_attempts: 2 },
      instructions: { take: 'all', files: ['docs/rules.md'] },
      model_timeout_ms: 5000,
    })
    expect(loaded.sources).toEqual([
      { file: USER_FILE, keys: ['model', 'budget.turns', 'budget.wall_ms', 'limits.read_lines', 'retry.max_attempts'] },
      { file: `${PROJECT}/retinue.yaml`, keys: ['model', 'budget.turns', 'instructions', 'model_timeout_ms'] },
    ])
    const origins = ['model', 'budget.turns', 'budget.wall_ms', 'budget.tool_calls', 'budget', 'mod'].map(loaded.origin)
    expect(origins).toEqual(['project', 'project', 'user', 'default', 'project', 'default'])
  })

  it('replaces lists, and providers by name', async () => {
    const { config } = await resolved({
      user: `
instructions: [a.md, b.md]
trusted_projects: [~/shop]
providers:
  work: {type: openai, api_key_env: WORK_KEY, base_url: 'https://work.example/v1'}
  spare: {type: google}`,
      project: `
instructions: [c.md]
providers:
  work: {type: openai-compatible, base_url: 'https://elsewhere.example'}`,
    })
    expect(config.instructions).toEqual({ take: 'all', files: ['c.md'] })
    expect(config.providers).toEqual({
      work: { type: 'openai-compatible', base_url: 'https://elsewhere.example' },
      spare: { type: 'google' },
    })
  })

  it('replaces pools by name, and takes a pool of either file for a model', async () => {
    const { config } = await resolved({
      user: 'model: fast\npools: {fast: [a/b, c/d], slow: [e/f]}',
      project: 'pools: {fast: [g/h], deep: [i/j:1]}',
    })
    expect(config).toEqual({
      ...DEFAULT,
      model: 'fast',
      pools: { fast: ['g/h'], slow: ['e/f'], deep: ['i/j:1'] },
    })
    expect((await resolved({ user: 'pools: {fast: [a/b]}', project: 'model: pool/fast' })).config.model).toBe(
      'pool/fast',
    )
    expect((await resolved({ user: 'model: fast', project: 'pools: {fast: [a/b]}' })).config.model).toBe('fast')
  })

  it('puts the settings of the web, of tests and of the machine together', async () => {
    const { config } = await resolved({
      user: `
web: {allow_private: [Docs.Internal, 'localhost:8080'], search: {type: brave}}
secrets: [A_SALT, B_SALT]
tests: {command: npm test}
sandbox: off
budget: {cost_usd: 2.5}`,
      project: `
web: {allow_private: ['localhost:8080']}
secrets: [B_SALT, C_SALT]
local_models: false
sandbox: on
budget: {cost_usd: 0.25}`,
    })
    expect(config).toEqual({
      ...DEFAULT,
      web: { allow_private: ['localhost:8080'], search: { type: 'brave', url: null, api_key_env: 'BRAVE_API_KEY' } },
      secrets: ['A_SALT', 'B_SALT', 'C_SALT'],
      tests: { command: 'npm test' },
      local_models: false,
      budget: { ...DEFAULT.budget, cost_usd: 0.25 },
    })
  })

  it.each([
    ['{type: tavily}', { type: 'tavily', url: null, api_key_env: 'TAVILY_API_KEY' }],
    ['{type: brave, api_key_env: MY_KEY}', { type: 'brave', url: null, api_key_env: 'MY_KEY' }],
    ['{type: searxng, url: "http://localhost:8888"}', { type: 'searxng', url: 'http://localhost:8888' }],
  ])('finds the key of the search %s', async (search, settings) => {
    expect((await resolved({ user: `web: {search: ${search}}` })).config.web.search).toEqual(settings)
  })

  it('takes servers of both files and lets the user’s win', async () => {
    const loaded = await resolved({
      user: 'mcp_servers: {files: {command: mine}}',
      project: 'mcp_servers: {files: {command: theirs}, more: {url: "https://mcp.example/mcp"}}',
    })
    const project = `${PROJECT}/retinue.yaml`
    expect(loaded.mcp_servers).toEqual({
      files: { settings: { command: 'mine' }, from: 'user', file: USER_FILE },
      more: { settings: { url: 'https://mcp.example/mcp' }, from: 'project', file: project },
    })
  })

  it('takes principals of the user’s file alone', async () => {
    const { config, origin } = await resolved({ user: "principals: {ada: operator, bo.b@x-1: viewer, '*': viewer}" })
    expect(config).toEqual({ ...DEFAULT, principals: { ada: 'operator', 'bo.b@x-1': 'viewer', '*': 'viewer' } })
    expect(origin('principals')).toBe('user')
  })

  it('takes the engine of the user’s file alone', async () => {
    const { config, origin } = await resolved({ user: 'engine: dbos' })
    expect([config, origin('engine')]).toEqual([{ ...DEFAULT, engine: 'dbos' }, 'user'])
  })

  it('takes the server of the user’s file alone', async () => {
    const token_sha256 = 'a1'.repeat(32)
    const { config, origin } = await resolved({
      user: `server: {port: 8080, users: {ada: {token_sha256: ${token_sha256}}}, origins: ['https://a.example']}`,
    })
    const server = { host: '127.0.0.1', port: 8080, users: { ada: { token_sha256 } }, origins: ['https://a.example'] }
    expect(config).toEqual({ ...DEFAULT, server })
    expect(origin('server.port')).toBe('user')
  })

  it('takes flags as one more file', async () => {
    const { files } = await resolved({ user: 'mode: plan\nbudget: {turns: 3}' })
    const config = resolveConfig([...files, { mode: 'dangerous', model: 'x/y' }], surroundings, {
      project_dir: PROJECT,
      home: HOME,
    })
    expect(config).toEqual({ ...DEFAULT, mode: 'dangerous', model: 'x/y', budget: { ...DEFAULT.budget, turns: 3 } })
  })
})

describe('permissions of both files', () => {
  it('adds rules up, whatever the project says', async () => {
    const { config } = await resolved({
      user: 'permissions: {deny: ["run_command(rm *)"], ask: [write_file], allow: ["Bash(git diff *)"]}',
      project: 'permissions: {deny: ["Read(**/.env)"], ask: [], allow: ["Bash(git diff *)"]}',
    })
    expect(config.permissions.rules).toEqual([
      { decision: 'deny', tool: 'run_command', pattern: 'rm *' },
      { decision: 'deny', tool: 'read_file', pattern: '**/.env' },
      { decision: 'ask', tool: 'write_file', pattern: null },
      { decision: 'allow', tool: 'run_command', pattern: 'git diff *' },
    ])
  })

  it('makes paths layers and intersects tools', async () => {
    const { config } = await resolved({
      user: 'permissions: {read_paths: [src], write_paths: [src], tools: [Read, run_command, git_*]}',
      project: 'permissions: {read_paths: ["**"], write_paths: [], tools: [read_file, write_file, git_log]}',
    })
    expect(config.permissions).toEqual({
      ...DEFAULT.permissions,
      read_paths: [['src'], ['**']],
      write_paths: [['src'], []],
      tools: ['read_file', 'git_log'],
      mcp_tools: [['git_*'], []],
    })
  })

  it('takes an empty list for none', async () => {
    const lists = ['tools', 'read_paths', 'write_paths', 'mcp_servers', 'skills'].map((name) => `${name}: []`)
    const { config } = await resolved({ project: `permissions: {${lists.join(', ')}}` })
    expect(config.permissions).toEqual({
      ...DEFAULT.permissions,
      ...{ read_paths: [[]], write_paths: [[]], tools: [], mcp_tools: [[]], mcp_servers: [], skills: [] },
    })
  })

  it('takes the tools of servers by name or pattern, file by file', async () => {
    const { config } = await resolved({
      user: 'permissions: {tools: [Read, mcp__github__*, mcp__web__fetch], deny: [mcp__github__delete_repo]}',
      project: 'permissions: {tools: ["*"], ask: [mcp__*]}',
    })
    expect(config.permissions).toEqual({
      ...DEFAULT.permissions,
      tools: ['read_file'],
      mcp_tools: [['mcp__github__*', 'mcp__web__fetch'], ['*']],
      rules: [
        { decision: 'deny', tool: 'mcp__github__delete_repo', pattern: null },
        { decision: 'ask', tool: 'mcp__*', pattern: null },
      ],
    })
  })

  it('intersects servers and skills', async () => {
    const { config } = await resolved({
      user: 'permissions: {mcp_servers: [a, b, c], skills: [x]}',
      project: 'permissions: {mcp_servers: [c, b, d], skills: []}',
    })
    expect(config.permissions).toMatchObject({ mcp_servers: ['b', 'c'], skills: [] })
    const alone = await resolved({ project: 'permissions: {skills: [x, y, x]}' })
    expect(alone.config.permissions).toMatchObject({ mcp_servers: null, skills: ['x', 'y'] })
  })

  it.each([
    ['tools', 'none', 'none'],
    ['none', 'tools', 'none'],
    ['all', 'tools', 'tools'],
    ['all', 'all', 'all'],
  ])('of the networks %s and %s takes %s', async (user, project, network) => {
    const { config } = await resolved({
      user: `permissions: {network: ${user}}\ntrusted_projects: [~/shop]`,
      project: `permissions: {network: ${project}}`,
    })
    expect(config.permissions.network).toBe(network)
  })

  it('gives what an authority is made of', async () => {
    const { mode, permissions } = (await resolved({ user: 'permissions: {allow: ["git_*"]}' })).config
    const { rules, tools, read_paths, write_paths } = permissions
    const authority = authoritySchema.parse({
      mode,
      read_paths,
      write_paths,
      allowed_tools: tools,
      allowed_skills: [],
      allowed_mcp_servers: [],
      rules: [{ mode, rules }],
      network: 'all',
      can_ask_person: true,
      can_spawn_children: false,
      max_delegation_depth: 0,
    })
    expect(authority.rules).toEqual([{ mode: 'normal', rules: [{ decision: 'allow', tool: 'git_*', pattern: null }] }])
  })
})

describe('places', () => {
  it.each([
    ['.retinue/runs.db', '/home/ada/shop/.retinue/runs.db'],
    ['/var/lib/retinue.db', '/var/lib/retinue.db'],
    ['~/runs.db', '/home/ada/runs.db'],
  ])('puts the store %s at %s', async (store, path) => {
    expect((await resolved({ user: `store: ${store}` })).config.store).toBe(path)
  })

  it.each([
    [{}, '/home/ada/.config'],
    [{ XDG_CONFIG_HOME: '/etc/ada' }, '/etc/ada'],
    [{ XDG_CONFIG_HOME: '' }, '/home/ada/.config'],
    [{ XDG_CONFIG_HOME: 'relative' }, '/home/ada/.config'],
  ])('finds the user file with %o in %s', (env, folder) => {
    expect(configHome(env, HOME)).toBe(folder)
  })
})
