import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../src/control/index.js'
import { DELEGATION_DEFAULTS, PROFILE_NAME_FAULT, profileSchema } from '../../src/domain/index.js'
import { createConfigSurroundings } from '../../src/library/project/configuration.js'
import { HOME, load, loadWith, PROJECT, surroundings } from './load.js'

const TOOLS = 'read_file, write_file, run_command, git_diff, git_log'

async function resolved(files: Record<string, string>, around: Parameters<typeof loadWith>[0] = surroundings) {
  const loaded = await loadWith(around, files)
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems))
  return loaded
}

async function problems(files: Record<string, string>): Promise<string[]> {
  const loaded = await load(files)
  return loaded.ok
    ? []
    : formatProblems(loaded.problems, PROJECT).replaceAll(`${HOME}/.config/retinue/`, '').split('\n')
}

describe('delegation', () => {
  it('is as the domain says where no file does, and reaches as far as one does', async () => {
    const { profiles, ...settings } = DELEGATION_DEFAULTS
    expect((await resolved({})).config).toMatchObject({ delegation: { ...settings, max_concurrent: 8 }, profiles })
    const user = `
pools: {fast: [a/b]}
delegation:
  enabled: false
  max_depth: 8
  max_concurrent: 1000
  budget: {tool_calls: 30, cost_usd: 0.5, sub_agents: 0}
  max_retries: 0
  models: [a/b, fast, pool/fast]
  ask_person: true
  report_path_pattern: null
  roles: false
  test_paths: [checks/**]`
    expect((await resolved({ user })).config.delegation).toEqual({
      enabled: false,
      max_depth: 8,
      max_concurrent: 1000,
      budget: { tool_calls: 30, context_tokens: 8192, wall_ms: 60_000, cost_usd: 0.5, sub_agents: 0 },
      max_retries: 0,
      models: ['a/b', 'fast', 'pool/fast'],
      ask_person: true,
      report_path_pattern: null,
      roles: false,
      test_paths: ['checks/**'],
    })
  })

  it('is put together setting by setting, its budget limit by limit', async () => {
    const { config, origin } = await resolved({
      user: 'delegation: {max_depth: 3, models: [a/b, c/d], budget: {tool_calls: 20, turns: 9}}\nbudget: {sub_agents: 40}',
      project: 'delegation: {max_concurrent: 2, models: [c/d], budget: {turns: 4}}\nbudget: {sub_agents: 7}',
    })
    expect(config.delegation).toMatchObject({
      max_depth: 3,
      max_concurrent: 2,
      models: ['c/d'],
      budget: { tool_calls: 20, turns: 4, context_tokens: 8192, wall_ms: 60_000 },
    })
    expect(config.budget.sub_agents).toBe(7)
    expect(['delegation.max_depth', 'delegation.budget.turns', 'delegation.max_retries'].map(origin)).toEqual([
      'user',
      'project',
      'default',
    ])
  })

  it.each(['.retinue/<agent>.md', '.retinue/step-<idx>-result.md', '.retinue/a b/<run>/<agent>.<idx>.md'])(
    'writes reports to %s',
    async (pattern) => {
      const { config } = await resolved({ project: `delegation: {report_path_pattern: '${pattern}'}` })
      expect(config.delegation.report_path_pattern).toBe(pattern)
    },
  )

  it.each([
    ...['reports/<idx>.md', '/tmp/<idx>.md', '~/<idx>.md', '.retinue/../<idx>.md', '.retinue/<idx>/../../x.md'],
    ...[
      '.retinue-x/<idx>.md',
      '.Retinue/<idx>.md',
      './.retinue/<idx>.md',
      '.retinue',
      '.retinue/<idx>',
      '',
      '<idx>.md',
    ],
    ...['.retinue//<idx>.md', '.retinue\\<idx>.md', '.retinue/retinue.db', '.retinue/<idx>.db', '.retinue/*/<idx>.md'],
    ...['src/.retinue/<idx>.md', '.retinue/<idx>\u0000.md', '.retinue/<<idx>>.md', '.retinue/ <idx>/.md/'],
  ])('writes no reports to %j', async (pattern) => {
    const message = 'report_path_pattern must be a .md file below .retinue/, where reports replace no other files'
    expect(await problems({ user: `delegation: {report_path_pattern: ${JSON.stringify(pattern)}}` })).toEqual([
      `config.yaml:1:35: ${message}`,
    ])
  })
})

describe('profiles', () => {
  it('have every field of the domain, with the tools under their own names', async () => {
    const user = `
pools: {smart: [a/b]}
profiles:
  researcher:
    description: Looks things up.
    system_prompt: Be brief.
    system_prompt_file: RESEARCHER.md
    bootstrap_files: [SOUL.md, AGENTS.md]
    tools: [git_*, cat, mcp__web__fetch, 'mcp__github__*', Bash(git diff *), run_command(ls), 'Write(docs/**)']
    deny: [Bash(rm *), Read(**/.env), mcp__github__delete_repo]
    ask: [write]
    read_paths: [src, 'docs/**']
    write_paths: []
    skills: [release-notes]
    mcp_servers: [github]
    pool: smart
    models: [a/b, smart, pool/smart]
    mode: plan
    isolation: read_only
    budget: {tool_calls: 3, wall_ms: 5000, cost_usd: 0.1, sub_agents: 0}
    context_share: 25
    attempt_timeout_ms: 5000
    max_retries: 10
    label: gpu
    can_spawn_children: true
    may_spawn: [reviewer, team.a:b, '@writer']
    cache: true
  nobody: {tools: [], bootstrap_files: [], skills: [], mcp_servers: [], deny: [], read_paths: [], may_spawn: []}
  alone: {model: a/b, models: []}
  anybody: {}`
    const { config, profiles } = await resolved({ user })
    expect(config.profiles).toEqual({
      researcher: {
        description: 'Looks things up.',
        system_prompt: 'Be brief.',
        system_prompt_file: 'RESEARCHER.md',
        bootstrap_files: ['SOUL.md', 'AGENTS.md'],
        tools: [
          ...['read_file', 'git_diff', 'git_log', 'mcp__web__fetch', 'mcp__github__*'],
          ...['run_command(git diff *)', 'run_command(ls)', 'write_file(docs/**)'],
        ],
        deny: ['run_command(rm *)', 'read_file(**/.env)', 'mcp__github__delete_repo'],
        ask: ['write_file'],
        read_paths: ['src', 'docs/**'],
        write_paths: [],
        skills: ['release-notes'],
        mcp_servers: ['github'],
        pool: 'smart',
        models: ['a/b', 'smart', 'pool/smart'],
        mode: 'plan',
        isolation: 'read_only',
        budget: { tool_calls: 3, wall_ms: 5000, cost_usd: 0.1, sub_agents: 0 },
        context_share: 25,
        attempt_timeout_ms: 5000,
        max_retries: 10,
        label: 'gpu',
        can_spawn_children: true,
        may_spawn: ['reviewer', 'team.a:b', '@writer'],
        cache: true,
      },
      nobody: {
        ...{ tools: [], bootstrap_files: [], skills: [], mcp_servers: [] },
        ...{ deny: [], read_paths: [], may_spawn: [] },
      },
      alone: { model: 'a/b', models: [] },
      anybody: {},
    })
    expect(Object.keys(config.profiles.researcher ?? {}).length).toBe(Object.keys(profileSchema.shape).length - 1)
    expect(profiles.map(({ name, profile }) => [name, profile])).toEqual(Object.entries(config.profiles))
  })

  it('are found with the file that each is in, the project’s first', async () => {
    const { profiles } = await resolved({
      user: 'profiles: {coder: {mode: plan, deny: [Bash]}}',
      project: 'profiles: {coder: {tools: [Bash]}, theirs: {}}',
    })
    const from = (scope: string, file: string) => ({ source: { kind: 'config', scope, file }, notes: [], kept: {} })
    const project = { ...from('project', 'retinue.yaml'), fault: null }
    const user = { ...from('user', '~/.config/retinue/config.yaml'), fault: null }
    expect(profiles).toEqual([
      { name: 'coder', ...project, profile: { tools: ['run_command'] } },
      { name: 'theirs', ...project, profile: {} },
      { name: 'coder', ...user, profile: { mode: 'plan', deny: ['run_command'] } },
    ])
    expect((await resolved({})).profiles).toEqual([])
  })

  it('take the tools of seed 000 by the names it has for them', async () => {
    const project = 'profiles: {coder: {tools: [shell, read_file, write_file, list_files, web_search]}}'
    const { config } = await resolved({ project }, createConfigSurroundings())
    expect(new Set(config.profiles.coder?.tools)).toEqual(
      new Set(['run_command', 'read_file', 'write_file', 'list_dir', 'web_search']),
    )
  })

  it.each([
    ['*', [...TOOLS.split(', '), '*']],
    ['mcp*', ['mcp*']],
    ['git_*', ['git_diff', 'git_log']],
  ])('keep the pattern %s where it can mean tools of servers', async (pattern, tools) => {
    const around = { ...surroundings, tools: [...surroundings.tools, ...(pattern === 'mcp*' ? [{ name: 'mcp' }] : [])] }
    const { config } = await resolved({ user: `profiles: {p: {tools: ['${pattern}']}}` }, around)
    expect(config.profiles.p?.tools).toEqual(pattern === 'mcp*' ? ['mcp', ...tools] : tools)
  })

  it('are of both files, and the user’s wins as a whole, as with servers', async () => {
    const { config } = await resolved({
      user: 'profiles: {coder: {mode: plan}, mine: {}}\ntrusted_projects: [~/shop]',
      project: 'profiles: {coder: {tools: [Bash]}, theirs: {model: a/b}}',
    })
    expect(config.profiles).toEqual({ coder: { mode: 'plan' }, mine: {}, theirs: { model: 'a/b' } })
  })

  it('may name a pool of the other file', async () => {
    const { config } = await resolved({
      user: 'pools: {fast: [a/b]}\nprofiles: {q: {model: deep}}',
      project: 'pools: {deep: [c/d]}\nprofiles: {p: {pool: fast}}',
    })
    expect(config.profiles).toEqual({ p: { pool: 'fast' }, q: { model: 'deep' } })
  })
})

/** Every message for one slip, as it stands on the screen. */
const NAME = PROFILE_NAME_FAULT
const MISTAKES: [text: string, ...messages: string[]][] = [
  ['delegation: {max_dept: 1}', '1:14: unknown key "max_dept" in delegation: did you mean "max_depth"?'],
  ['delegation: {max_depth: 0}', '1:25: delegation.max_depth must be at least 1'],
  ['delegation: {max_depth: 9}', '1:25: delegation.max_depth must be at most 8'],
  ['delegation: {max_concurrent: 0}', '1:30: delegation.max_concurrent must be at least 1'],
  ['delegation: {max_concurrent: 1001}', '1:30: delegation.max_concurrent must be at most 1000'],
  ['delegation: {max_retries: -1}', '1:27: delegation.max_retries must be at least 0'],
  ['delegation: {max_retries: 11}', '1:27: delegation.max_retries must be at most 10'],
  ['delegation: {enabled: on}', '1:23: delegation.enabled must be true or false, not "on"'],
  ['delegation: {enabled: }', '1:14: delegation.enabled has no value: give it one or remove it'],
  ['delegation:\n  budget: {tool_calls: 0}', '2:24: tool_calls must be positive'],
  ['delegation:\n  budget: {wall_ms: 1}', '2:21: wall_ms must be at least 5000'],
  [
    'delegation:\n  budget: {tokens: 1}',
    '2:12: unknown key "tokens" in delegation.budget: known keys: tool_calls, turns, context_tokens, wall_ms, total_tokens, cost_usd, sub_agents',
  ],
  ['delegation: {models: [gpt 5]}', '1:23: model must be provider/model, as in openai/gpt-5.2'],
  ['delegation: {models: [a/b, fast]}', '1:28: model must be provider/model, as in openai/gpt-5.2'],
  [
    'pools: {fast: [a/b]}\ndelegation: {models: [fats]}',
    '2:23: model must be provider/model, as in openai/gpt-5.2, or one of the pools fast: did you mean "fast"?',
  ],
  ['delegation: {report_path_pattern: 5}', '1:35: delegation.report_path_pattern must be text, not 5'],
  [
    'delegation: {report_path_pattern: .retinue/<name>.md}',
    '1:35: report_path_pattern has the unknown placeholder <name>: there are <run>, <agent> and <idx>',
  ],
  [
    'delegation: {report_path_pattern: .retinue/<run>.md}',
    '1:35: report_path_pattern needs <agent> or <idx>: all reports would be one file',
  ],
  ['profiles: [coder]', '1:11: profiles must be a mapping, not a list'],
  ['profiles: {coder: }', '1:12: profiles.coder has no value: give it one or remove it'],
  ...['Coder', '1st', 'a b', 'a/b', '-x', `${'x'.repeat(65)}`, ''].map((name): [string, string] => [
    `profiles: {"${name}": {}}`,
    `1:12: profiles.${name}: ${NAME}`,
  ]),
  ['profiles:\n  __proto__: {}', '2:3: unknown key "__proto__"'],
  [
    'profiles: {p: {promt: x}}',
    '1:16: unknown key "promt" in profiles.p: known keys: description, system_prompt, system_prompt_file, bootstrap_files, tools, deny, ask, read_paths, write_paths, skills, mcp_servers, model, pool, models, mode, isolation, budget, context_share, attempt_timeout_ms, max_retries, label, can_spawn_children, may_spawn, cache',
  ],
  ['profiles: {p: {tool: []}}', '1:16: unknown key "tool" in profiles.p: did you mean "tools"?'],
  ['profiles: {p: {tools: [Bash, read_fil]}}', '1:30: unknown tool "read_fil": did you mean "read_file"?'],
  ['profiles: {p: {tools: ["x*"]}}', `1:24: unknown tool "x*": known tools: ${TOOLS}`],
  ['profiles: {p: {tools: shell}}', '1:23: profiles.p.tools must be a list, not "shell"'],
  [
    'profiles: {p: {system_prompt_file: /etc/passwd}}',
    '1:36: "/etc/passwd" is not in the workspace: paths are relative to the project folder',
  ],
  ['profiles: {p: {bootstrap_files: [a.md, ../b.md]}}', '1:40: "../b.md" leaves the workspace: .. is not allowed'],
  [
    'profiles: {p: {skills: ["a*"]}}',
    '1:25: "a*" does not name a skill: list whole names, without * or spaces; without the list all are meant',
  ],
  [
    'profiles: {p: {mcp_servers: [a b]}}',
    '1:30: "a b" does not name an MCP server: list whole names, without * or spaces; without the list all are meant',
  ],
  ['profiles: {p: {mode: fast}}', '1:22: profiles.p.mode must be one of plan, normal, auto, dangerous, not "fast"'],
  ['profiles: {p: {model: gpt-5}}', '1:23: model must be provider/model, as in openai/gpt-5.2'],
  ['profiles: {p: {pool: smart}}', '1:22: there is no pool "smart": list its models under pools'],
  ['pools: {smart: [a/b]}\nprofiles: {p: {pool: a/b}}', '2:22: pool must be one of the pools smart'],
  [
    'pools: {smart: [a/b]}\nprofiles: {p: {pool: smrt}}',
    '2:22: pool must be one of the pools smart: did you mean "smart"?',
  ],
  ['pools: {s: [a/b]}\nprofiles: {p: {pool: s, model: a/b}}', '2:22: a profile has a model or a pool, not both'],
  ['profiles: {p: {budget: {tool_calls: 0}}}', '1:37: tool_calls must be positive'],
  [
    'profiles: {p: {budget: {cost_usd: -1, wall_ms: 4999}}}',
    '1:35: cost_usd must be positive',
    '1:48: wall_ms must be at least 5000',
  ],
  ['profiles: {p: {budget: {turn: 1}}}', '1:25: unknown key "turn" in profiles.p.budget: did you mean "turns"?'],
  ['profiles: {p: {attempt_timeout_ms: 4999}}', '1:36: attempt_timeout_ms must be at least 5000'],
  ['profiles: {p: {max_retries: 11}}', '1:29: profiles.p.max_retries must be at most 10'],
  [
    'profiles: {p: {tools: ["Bahs(ls)"]}}',
    '1:24: unknown tool "Bahs": known tools: read_file, write_file, run_command, git_diff, git_log',
  ],
  [
    'profiles: {p: {tools: ["Bash(ls"]}}',
    '1:24: "Bash(ls" is not a rule: write tool or tool(pattern), as in run_command(git diff *)',
  ],
  ['profiles: {p: {tools: ["Bash(rm:*)"]}}', '1:24: "Bash(rm:*)": write run_command(rm *)'],
  [
    'profiles: {p: {tools: ["Write(/etc/**)"]}}',
    '1:24: "/etc/**" is not in the workspace: paths are relative to the project folder',
  ],
  [
    'profiles: {p: {tools: ["Bash(ls)", read, "*"]}}',
    '1:24: "Bash(ls)" limits nothing beside "*", which has the tool for all calls: remove one of them',
  ],
  [
    'profiles: {p: {tools: [run_command, "Bash(ls)"]}}',
    '1:37: "Bash(ls)" limits nothing beside "run_command", which has the tool for all calls: remove one of them',
  ],
  ['profiles: {p: {deny: [run_comand]}}', '1:23: unknown tool "run_comand": did you mean "run_command"?'],
  [
    'profiles: {p: {ask: ["Bash(a | b)"]}}',
    '1:22: "Bash(a | b)" can match nothing: a rule is about one command, and | is part of none',
  ],
  ['profiles: {p: {deny: Bash}}', '1:22: profiles.p.deny must be a list, not "Bash"'],
  ['profiles: {p: {write_paths: [../x]}}', '1:30: "../x" leaves the workspace: .. is not allowed'],
  [
    'profiles: {p: {write_paths: ["{..,a}/x"]}}',
    '1:30: "{..,a}/x" in write_paths leaves the workspace: .. is not allowed',
  ],
  ['profiles: {p: {read_paths: [""]}}', '1:29: an empty path names nothing: write . for the whole workspace'],
  [
    'profiles: {p: {models: []}}',
    '1:24: a profile without a model has nothing to run on with an empty list: name models, or remove it',
  ],
  ['profiles: {p: {models: [gpt 5]}}', '1:25: model must be provider/model, as in openai/gpt-5.2'],
  ['profiles: {p: {models: [a/b, fast]}}', '1:30: model must be provider/model, as in openai/gpt-5.2'],
  ['profiles: {p: {context_share: 0}}', '1:31: profiles.p.context_share must be at least 1'],
  ['profiles: {p: {context_share: 101}}', '1:31: profiles.p.context_share must be at most 100'],
  ...['Reviewer', '@a', '@A B', 'a b', '*'].map((name): [string, string] => [
    `profiles: {p: {may_spawn: ["${name}"]}}`,
    `1:28: "${name}" names no profile and is no handle: write a name as under profiles, or a handle such as @writer`,
  ]),
  ['delegation: {roles: yes}', '1:21: delegation.roles must be true or false, not "yes"'],
  [
    'delegation: {test_paths: [/tests]}',
    '1:27: "/tests" is not in the workspace: paths are relative to the project folder',
  ],
  ['delegation: {test_paths: ["{a,..}"]}', '1:27: "{a,..}" in test_paths leaves the workspace: .. is not allowed'],
  [`profiles: {p: {description: "${'x'.repeat(501)}"}}`, '1:29: longer than 500 characters'],
  [
    'tools:\n  spawn:\n    enabled: true\n    profiles: {}',
    '1:1: unknown key "tools": what tools.spawn has goes under delegation, and its profiles under profiles',
  ],
  ['tools: {}', '1:1: unknown key "tools": did you mean "pools"?'],
]

it.each(MISTAKES.map((row) => [row[0].slice(0, 60), ...row] as const))(
  'says what is wrong with %j',
  async (_, user, ...messages) => {
    expect(await problems({ user })).toEqual(messages.map((message) => `config.yaml:${message}`))
  },
)

const REMEDY = 'say it in /home/ada/.config/retinue/config.yaml, or list this folder there under trusted_projects'

/** What widens, and what is said about it in a project that nobody listed. */
const WIDENING: [what: string, project: string, user: string, where: string, message: string][] = [
  [
    'delegation that is off',
    'delegation: {enabled: true}',
    'delegation: {enabled: false}',
    '1:23',
    'turn delegation on',
  ],
  ['a deeper tree than the default', 'delegation: {max_depth: 3}', '', '1:25', 'raise max_depth from 2 to 3'],
  ['a deeper tree', 'delegation: {max_depth: 2}', 'delegation: {max_depth: 1}', '1:25', 'raise max_depth from 1 to 2'],
  ['more at once', 'delegation: {max_concurrent: 9}', '', '1:30', 'raise max_concurrent from 8 to 9'],
  ['more retries', 'delegation: {max_retries: 2}', '', '1:27', 'raise max_retries from 1 to 2'],
  ['more calls', 'delegation: {budget: {tool_calls: 16}}', '', '1:35', 'raise tool_calls from 15 to 16'],
  [
    'more of what the user bounds',
    'delegation: {budget: {cost_usd: 0.2}}',
    'delegation: {budget: {cost_usd: 0.1}}',
    '1:33',
    'raise cost_usd from 0.1 to 0.2',
  ],
  ['more sub-agents', 'budget: {sub_agents: 101}', '', '1:22', 'raise sub_agents from 100 to 101'],
  ['questions of sub-agents', 'delegation: {ask_person: true}', '', '1:26', 'let sub-agents ask you'],
  [
    'reports that are turned off',
    'delegation: {report_path_pattern: .retinue/<agent>.md}',
    'delegation: {report_path_pattern: null}',
    '1:35',
    'have reports written, which your file turns off',
  ],
  [
    'a model that is not listed',
    'delegation: {models: [a/b, e/f]}',
    'delegation: {models: [a/b]}',
    '1:28',
    'let sub-agents use e/f, which your delegation.models does not list',
  ],
  [
    'a profile with a model that is not listed',
    'profiles: {p: {model: e/f}}',
    'delegation: {models: []}',
    '1:23',
    'let sub-agents use e/f, which your delegation.models does not list',
  ],
  [
    'a profile with a pool that is not listed',
    'pools: {q: [a/b]}\nprofiles: {p: {pool: q}}',
    'delegation: {models: []}',
    '2:22',
    'let sub-agents use q, which your delegation.models does not list',
  ],
  [
    'a profile with a script',
    'profiles: {p: {model: scripted/s.yaml}}',
    '',
    '1:23',
    'choose scripted/s.yaml, whose answers somebody wrote beforehand',
  ],
  [
    'a script among the models',
    'delegation: {models: [scripted/s.yaml]}',
    '',
    '1:23',
    'choose scripted/s.yaml, whose answers somebody wrote beforehand',
  ],
  [
    'a profile with more than the user gives sub-agents',
    'profiles: {p: {budget: {turns: 9, tool_calls: 99}}}',
    'delegation: {budget: {turns: 8}}',
    '1:32',
    'raise turns from 8 to 9',
  ],
  [
    'a profile with a model among others that is not listed',
    'profiles: {p: {models: [a/b, e/f]}}',
    'delegation: {models: [a/b]}',
    '1:30',
    'let sub-agents use e/f, which your delegation.models does not list',
  ],
  [
    'a profile with a script among others',
    'profiles: {p: {models: [scripted/s.yaml]}}',
    '',
    '1:25',
    'choose scripted/s.yaml, whose answers somebody wrote beforehand',
  ],
  [
    "a profile with a share of the window where the user's file has a number",
    'profiles: {p: {context_share: 50}}',
    'delegation: {budget: {context_tokens: 4000}}',
    '1:31',
    "fill 50 % of a model's window, where your file has 4000 context_tokens",
  ],
  [
    'roles that are turned off',
    'delegation: {roles: true}',
    'delegation: {roles: false}',
    '1:21',
    'bring the roles back, which your file turns off',
  ],
  [
    "other test folders than the user's file has",
    "delegation: {test_paths: [test, '**']}",
    'delegation: {test_paths: [test]}',
    '1:33',
    'let the tester write **, which your delegation.test_paths does not list',
  ],
  [
    'a profile with more retries than the user gives sub-agents',
    'profiles: {p: {max_retries: 1}}',
    'delegation: {max_retries: 0}',
    '1:29',
    'raise max_retries from 0 to 1',
  ],
]

describe("a project's file", () => {
  it.each(WIDENING)('cannot have %s', async (_, project, user, where, message) => {
    expect(await problems({ project, user })).toEqual([
      `retinue.yaml:${where}: a project's file cannot ${message}: ${REMEDY}`.replace(`${HOME}/.config/retinue/`, ''),
    ])
  })

  it.each(WIDENING)('can have %s where the person lists the folder', async (_, project, user) => {
    expect(await problems({ project, user: `${user}\ntrusted_projects: [~/shop]` })).toEqual([])
  })

  it.each([
    ['no delegation', 'delegation: {enabled: false}', 'delegation: {enabled: true}'],
    [
      'delegation as it is',
      'delegation: {enabled: true, max_depth: 2, max_concurrent: 8}\nbudget: {sub_agents: 100}',
      '',
    ],
    [
      'less of everything',
      'delegation: {max_depth: 1, max_concurrent: 1, max_retries: 0, budget: {tool_calls: 1}}',
      '',
    ],
    ['a bound where there was none', 'delegation: {budget: {total_tokens: 9000000}}', ''],
    ["the user's raised numbers", 'delegation: {max_depth: 4}', 'delegation: {max_depth: 5}'],
    ['questions where the user lets them', 'delegation: {ask_person: true}', 'delegation: {ask_person: true}'],
    [
      'no questions and no reports',
      'delegation: {ask_person: false, report_path_pattern: null}',
      'delegation: {ask_person: true}',
    ],
    ['models of its own', 'delegation: {models: [a/b]}\nprofiles: {p: {model: c/d}}', 'model: e/f'],
    ['fewer of the models', 'delegation: {models: [c/d]}', 'delegation: {models: [a/b, c/d]}'],
    ['a profile with a listed pool', 'profiles: {p: {pool: q}}', 'pools: {q: [a/b]}\ndelegation: {models: [pool/q]}'],
    ["a profile with the run's model", 'model: a/b\nprofiles: {p: {model: a/b}}', 'delegation: {models: []}'],
    ["the user's script", 'profiles: {p: {model: scripted/s}}', 'model: scripted/s'],
    ['no roles', 'delegation: {roles: false}', ''],
    ['roles as they are', 'delegation: {roles: true}', ''],
    ['test folders of its own', "delegation: {test_paths: ['src/**/*.test.ts']}", ''],
    ["the user's test folders, or fewer", 'delegation: {test_paths: [test]}', 'delegation: {test_paths: [test, spec]}'],
    ['a share of the window', 'profiles: {p: {context_share: 100}}', 'delegation: {budget: {tool_calls: 3}}'],
    [
      'profiles that narrow in every way',
      "profiles: {p: {tools: ['Bash(ls)'], deny: [read], ask: [write], read_paths: [src], write_paths: [], may_spawn: []}}",
      '',
    ],
    [
      'profiles, in any mode and with a budget',
      'profiles: {p: {mode: dangerous, budget: {tool_calls: 99}, max_retries: 3}}',
      '',
    ],
  ])('can have %s', async (_, project, user) => {
    expect(await problems({ project, user })).toEqual([])
  })
})
