import { describe, expect, it } from 'vitest'
import { formatProblems, loadConfig } from '../../src/control/index.js'
import { HOME, load, PROJECT, surroundings, USER_FILE } from './load.js'

const KEYS =
  'model, pools, providers, mode, permissions, sandbox, budget, delegation, profiles, workspace, instructions, limits, retry, model_timeout_ms, idle_timeout_ms, store, secrets, web, tests, local_models, mcp_servers, engine, workers, principals, server, trusted_projects'
const TOOLS = 'read_file, write_file, run_command, git_diff, git_log'

/** Every message a person can get for one slip, as it stands on the screen. */
const MISTAKES: [text: string, ...messages: string[]][] = [
  // keys
  ['modle: a/b', '1:1: unknown key "modle": did you mean "model"?'],
  ['# why\n\nMode: plan', '3:1: unknown key "Mode": did you mean "mode"?'],
  ['budget:\n  toolCalls: 3', '2:3: unknown key "toolCalls" in budget: did you mean "tool_calls"?'],
  ['permissions: {alow: []}', '1:15: unknown key "alow" in permissions: did you mean "allow"?'],
  ['network: none', `1:1: unknown key "network": known keys: ${KEYS}`],
  [
    'budget:\n  requests: 2',
    '2:3: unknown key "requests" in budget: known keys: tool_calls, turns, context_tokens, wall_ms, total_tokens, cost_usd, sub_agents',
  ],
  ['1: x', `1:1: unknown key "1": known keys: ${KEYS}`],
  ['<<: {mode: plan}', `1:1: unknown key "<<": known keys: ${KEYS}`],
  ['? [a]\n: x', '1:3: a key must be plain text'],
  ['&m mode: plan\n*m : x', '2:1: a key must be plain text'],
  ['__proto__: {mode: dangerous}', '1:1: unknown key "__proto__"'],
  ['providers:\n  __proto__: {type: openai}', '2:3: unknown key "__proto__"'],
  ['mode: plan\nbudget: {}\nmode: normal', '3:1: key "mode" appears twice'],
  // kinds of values
  ['model: 5', '1:8: model must be text, not 5'],
  ['mode: [plan]', '1:7: mode must be one of plan, normal, auto, dangerous, not a list'],
  [
    'mode: dangrous',
    '1:7: mode must be one of plan, normal, auto, dangerous, not "dangrous": did you mean "dangerous"?',
  ],
  ['model: gpt-5', '1:8: model must be provider/model, as in openai/gpt-5.2'],
  ['model: openai/', '1:8: model must be provider/model, as in openai/gpt-5.2'],
  ['model: Fast', '1:8: model must be provider/model, as in openai/gpt-5.2'],
  ['model: pool/fast', '1:8: model must be provider/model, as in openai/gpt-5.2'],
  [
    'pools: {fast: [a/b], deep: [c/d]}\nmodel: fats',
    '2:8: model must be provider/model, as in openai/gpt-5.2, or one of the pools fast, deep: did you mean "fast"?',
  ],
  [
    'pools: {fast: [a/b]}\nmodel: gpt-5',
    '2:8: model must be provider/model, as in openai/gpt-5.2, or one of the pools fast',
  ],
  ['model:', '1:1: model has no value: give it one or remove it'],
  ['permissions:\n  write_paths:\n  tools: []', '2:3: permissions.write_paths has no value: give it one or remove it'],
  ['permissions:\n  deny:\n    -', '3:5: permissions.deny[0] has no value: give it one or remove it'],
  ['budget: none', '1:9: budget must be a mapping, not "none"'],
  ['instructions: AGENTS.md', '1:15: instructions must be a list, not "AGENTS.md"'],
  ['instructions:\n  a: b', '2:3: instructions must be a list, not a mapping'],
  // numbers
  ['budget: {tool_calls: 0}', '1:22: tool_calls must be positive'],
  [
    'budget: {turns: -1, context_tokens: 0, total_tokens: 0}',
    '1:17: turns must be positive',
    '1:37: context_tokens must be positive',
    '1:54: total_tokens must be positive',
  ],
  ['budget:\n  wall_ms: 4999', '2:12: wall_ms must be at least 5000'],
  ['budget: {sub_agents: -1}', '1:22: sub_agents must not be negative'],
  ['budget: {turns: 1.5}', '1:17: budget.turns must be a whole number, not 1.5'],
  ['budget: {turns: .nan}', '1:17: budget.turns must be a number, not NaN'],
  ['budget: {turns: .inf}', '1:17: budget.turns must be a number, not Infinity'],
  ['budget: {turns: "10"}', '1:17: budget.turns must be a number, not "10"'],
  ['retry: {max_attempts: 0}', '1:23: retry.max_attempts must be at least 1'],
  ['retry: {max_attempts: 11}', '1:23: retry.max_attempts must be at most 10'],
  ['model_timeout_ms: 10', '1:19: model_timeout_ms must be at least 1000'],
  ['limits:\n  read_lines: 1', '2:15: limits.read_lines must be at least 10'],
  [
    'limits:\n  command_timeout_ms: 700000',
    '2:23: command_timeout_ms (700000) is over command_max_timeout_ms (600000)',
  ],
  [
    'limits:\n  command_max_timeout_ms: 5000',
    '2:27: command_timeout_ms (120000) is over command_max_timeout_ms (5000)',
  ],
  // pools
  ['pools: [a/b]', '1:8: pools must be a mapping, not a list'],
  ['pools: {fast: a/b}', '1:15: pools.fast must be a list, not "a/b"'],
  ['pools: {fast: []}', '1:15: a pool needs at least one model'],
  ['pools: {fast: [a/b, c/d, a/b]}', '1:26: "a/b" is in this pool already'],
  ['pools: {fast: ["gpt 5"]}', '1:16: "gpt 5" must be provider/model, as in openai/gpt-5.2'],
  [
    'pools: {fast: [a/b], all: [fast, pool/fast]}',
    '1:28: "fast" is no model: a pool lists models, as provider/model, and no pools',
    '1:34: "pool/fast" is no model: a pool lists models, as provider/model, and no pools',
  ],
  [
    'pools: {Fast: [a/b]}',
    '1:9: pools.Fast: a pool name begins with a lower-case letter and has letters, digits, dashes and underscores',
  ],
  // what may be reached
  ['sandbox: false', '1:10: sandbox must be one of on, off, not false'],
  ['permissions: {network: no}', '1:24: permissions.network must be one of none, tools, all, not "no"'],
  [
    'permissions: {mcp_servers: ["git*"], skills: [a b]}',
    '1:29: "git*" does not name an MCP server: list whole names, without * or spaces; without the list all are meant',
    '1:47: "a b" does not name a skill: list whole names, without * or spaces; without the list all are meant',
  ],
  ['budget: {cost_usd: 0}', '1:20: cost_usd must be positive'],
  ['budget: {cost_usd: .inf}', '1:20: budget.cost_usd must be a number, not Infinity'],
  [
    'secrets: [sk-live-123, A_B]',
    '1:11: secrets[0] must be the name of an environment variable, not the secret itself',
  ],
  ['secrets: hunter2', '1:10: secrets must be a list, not text'],
  ...['https://a.example', 'a b', '*.internal', 'a:0', 'a:70000', 'a/b', '', 'a:'].map((host): [string, string] => [
    `web: {allow_private: ['${host}']}`,
    `1:23: "${host}" is no host: write a name or an address, with or without a port, as in localhost:8080`,
  ]),
  ['web: {search: {type: searxng}}', '1:15: a searxng search needs the url of the server'],
  ['web: {search: {type: searxng, url: "http://a", api_key_env: A}}', '1:61: a searxng search takes no key'],
  ['web: {search: {type: google}}', '1:22: web.search.type must be one of searxng, brave, tavily, not "google"'],
  ['web: {search: {type: brave, key: x}}', '1:29: unknown key "key" in web.search: known keys: type, url, api_key_env'],
  [
    'web: {search: {type: brave, api_key_env: BSA-x}}',
    '1:42: web.search.api_key_env must be the name of an environment variable, not a key',
  ],
  ['web: {search: {type: brave, url: "ftp://x"}}', '1:34: web.search.url must be an http or https address'],
  ['tests: {command: " "}', '1:18: an empty command runs no tests'],
  ['local_models: off', '1:15: local_models must be true or false, not "off"'],
  // principals
  ['engine: remote', '1:9: engine must be one of local, dbos, not "remote"'],
  ['principals: {ada: root}', '1:19: principals.ada must be one of viewer, operator, admin, not "root"'],
  ['principals: [ada]', '1:13: principals must be a mapping, not a list'],
  ...['a b', 'a:b', '**', '-x', '@x', 'x'.repeat(65), ''].map((name): [string, string] => [
    `principals: {"${name}": viewer}`,
    `1:14: principals.${name}: a name of a principal begins with a letter or digit and has at most 64 letters, digits, dots, dashes, underscores and @; * stands for everybody else`,
  ]),
  // server
  ['server: {host: "a b"}', '1:16: no address to listen on: write one as in 127.0.0.1 or ::1'],
  ['server: {port: 70000}', '1:16: server.port must be at most 65535'],
  [
    'server: {users: {ada: {token_sha256: hunter2}}}',
    '1:38: server.users.ada.token_sha256 must be the SHA-256 digest of a token, 64 of 0-9 and a-f, not the token itself',
  ],
  [
    'server: {users: {ada: {token: hunter2}}}',
    '1:23: server.users.ada.token_sha256 is missing',
    '1:24: unknown key "token" in server.users.ada: known keys: token_sha256',
  ],
  ...['https://a.example/', 'a.example', 'https://a.example/x', 'ftp://a.example', '*'].map(
    (text): [string, string] => [
      `server: {origins: ['${text}']}`,
      `1:20: "${text}" is no origin: write it as in https://retinue.example.org, without a path`,
    ],
  ),
  // rules and tools
  ['permissions: {deny: [run_comand]}', '1:22: unknown tool "run_comand": did you mean "run_command"?'],
  [
    'permissions: {deny: ["mcp__github__get(x)"]}',
    '1:22: "mcp__github__get(x)": tools of MCP servers have no patterns: write mcp__github__get',
  ],
  ['permissions: {deny: ["mcp_github"]}', `1:22: unknown tool "mcp_github": known tools: ${TOOLS}`],
  [
    'permissions: {deny: ["git_log(https://a.example/**)"]}',
    '1:22: "https://a.example/**" has a scheme: write addresses without it, as in example.org/**',
  ],
  ['permissions: {deny: [WebFetch]}', `1:22: unknown tool "WebFetch": known tools: ${TOOLS}`],
  ['permissions: {tools: [read_fil, Bash]}', '1:23: unknown tool "read_fil": did you mean "read_file"?'],
  [
    'permissions: {deny: ["run_command(rm"]}',
    '1:22: "run_command(rm" is not a rule: write tool or tool(pattern), as in run_command(git diff *)',
  ],
  [
    'permissions: {deny: ["run_command(git push | tee log)"]}',
    '1:22: "run_command(git push | tee log)" can match nothing: a rule is about one command, and | is part of none',
  ],
  [
    'permissions: {deny: ["run_command(cd x; rm y)"]}',
    '1:22: "run_command(cd x; rm y)" can match nothing: a rule is about one command, and x; is part of none',
  ],
  ['permissions: {deny: ["Bash(rm:*)"]}', '1:22: "Bash(rm:*)": write run_command(rm *)'],
  [
    'permissions: {deny: ["Read(~/.ssh/**)"]}',
    '1:22: "~/.ssh/**" is not in the workspace: paths are relative to the project folder',
  ],
  ['permissions: {deny: [{Bash: rm}]}', '1:22: permissions.deny[0] must be text, not a mapping'],
  [`permissions: {deny: ['${'*a'.repeat(251)}']}`, '1:22: longer than 500 characters'],
  // paths
  [
    'permissions: {read_paths: [/etc]}',
    '1:28: "/etc" is not in the workspace: paths are relative to the project folder',
  ],
  ['permissions: {write_paths: [src/../..]}', '1:29: "src/../.." leaves the workspace: .. is not allowed'],
  ['permissions: {write_paths: ["!src"]}', '1:29: "!src" negates: list what is allowed instead'],
  ['permissions: {write_paths: [""]}', '1:29: an empty path names nothing: write . for the whole workspace'],
  ['permissions: {write_paths: [src\\x]}', '1:29: "src\\x" has a backslash: write folders with /'],
  [
    'instructions: [~/.ssh/id_rsa]',
    '1:16: "~/.ssh/id_rsa" is not in the workspace: paths are relative to the project folder',
  ],
  ['store: ""', '1:8: an empty path names nothing'],
  ['store: ~bob/x.db', '1:8: "~bob/x.db": only ~/ stands for the home folder'],
  // providers
  ['providers: {a: {}}', '1:16: providers.a.type is missing'],
  [
    'providers: {a/b: {type: google}}',
    '1:13: providers.a/b: a provider name has lower-case letters, digits, dots, dashes and underscores',
  ],
  [
    'providers: {a: {type: opnai}}',
    '1:23: providers.a.type must be one of openai-compatible, openai, anthropic, google, not "opnai": did you mean "openai"?',
  ],
  [
    'providers:\n  a:\n    type: google\n    base_ulr: x',
    '4:5: unknown key "base_ulr" in providers.a: did you mean "base_url"?',
  ],
  ['providers: {a: {type: google, base_url: x}}', '1:41: providers.a.base_url must be an http or https address'],
  [
    'providers: {a: {type: google, base_url: "file:///x"}}',
    '1:41: providers.a.base_url must be an http or https address',
  ],
  ['providers: {a: {type: openai-compatible}}', '1:16: an openai-compatible provider needs a base_url'],
  ['providers: {scripted: {type: google}}', '1:13: providers.scripted: "scripted" is the name of the scripted model'],
  [
    'providers: {a: {type: openai, api_key_env: sk-secret}}',
    '1:44: providers.a.api_key_env must be the name of an environment variable, not a key',
  ],
  ['providers: {a: {type: openai, headers: sk-secret}}', '1:40: providers.a.headers must be a mapping, not text'],
  // YAML
  ['- mode', '1:1: the file must be a mapping, not a list'],
  ['mode', '1:1: the file must be a mapping, not "mode"'],
  ['budget:\n\tturns: 3', '2:1: tabs cannot indent YAML: use spaces'],
  ['mode: plan\n---\nmode: auto', '2:1: one document only: remove the line that begins a second one'],
  ['mode: "plan', '1:12: not valid YAML: Missing closing "quote'],
  ['mode: plan\n  model: x', '1:7: not valid YAML: Nested mappings are not allowed in compact mappings'],
  ['mode: !secret plan', '1:7: Unresolved tag: !secret: tags have no meaning here'],
  ['mode: *other', '1:7: no anchor &other stands before *other'],
  ['instructions: &all [*all]', '1:21: *all is inside what it refers to'],
  [
    `a: &a [x]\n${[...'bcdefghi'].map((name, i) => `${name}: &${name} [${Array(6).fill(`*${'abcdefgh'[i]}`).join(', ')}]`).join('\n')}`,
    '1:1: Excessive alias count indicates a resource exhaustion attack',
  ],
  [`a: &a x\nb: [${Array(51).fill('*a').join(', ')}]`, '2:205: more than 50 aliases'],
  ['['.repeat(3000), '1:1: nested deeper than 32 levels'],
  ['- '.repeat(3000), '1:1: nested deeper than 32 levels'],
  ['mode: plan\nmodel: \uFFFD/x', '2:8: the file is not UTF-8 text'],
  ['m\0o\0d\0e\0', '1:2: the file is not UTF-8 text'],
  ['#'.repeat(32_769), '1:1: the file is too large: at most 32768 characters are read'],
]

describe('a file with a mistake', () => {
  it.each(MISTAKES.map((row) => [row[0].slice(0, 60), ...row] as const))('%j', async (_, user, ...messages) => {
    const loaded = await load({ user })
    expect(loaded.ok ? '' : formatProblems(loaded.problems, `${HOME}/.config/retinue`)).toBe(
      messages.map((message) => `config.yaml:${message}`).join('\n'),
    )
  })

  it('names the nearest key as a value too', async () => {
    expect(await load({ user: 'retrys: {}\nbudget: {turn: 1}\npermissions: {ask: [Bassh]}' })).toEqual({
      ok: false,
      problems: [
        { file: USER_FILE, line: 1, column: 1, message: expect.any(String), nearest: 'retry' },
        { file: USER_FILE, line: 2, column: 10, message: expect.any(String), nearest: 'turns' },
        { file: USER_FILE, line: 3, column: 21, message: expect.any(String), nearest: null },
      ],
    })
  })

  it('has its line and column right with Windows line ends and a byte order mark', async () => {
    const loaded = await load({ user: '\uFEFFmode: plan\r\n\r\nbudget:\r\n  turns: 0\r\n' })
    expect(loaded).toMatchObject({ ok: false, problems: [{ line: 4, column: 10 }] })
  })

  it('is reported with all others, of both files, in the order of the files', async () => {
    const loaded = await load({
      user: 'mode: fast\nbudget: {turns: 0}\nmode: slow',
      project: 'permissions:\n  allow: [Bash]\n  tools: [nothing]\nmodel: x',
    })
    expect(loaded.ok ? '' : formatProblems(loaded.problems, PROJECT)).toBe(
      [
        `${USER_FILE}:1:7: mode must be one of plan, normal, auto, dangerous, not "slow"`,
        `${USER_FILE}:2:17: turns must be positive`,
        `${USER_FILE}:3:1: key "mode" appears twice`,
        `retinue.yaml:3:11: unknown tool "nothing": known tools: ${TOOLS}`,
        'retinue.yaml:4:8: model must be provider/model, as in openai/gpt-5.2',
      ].join('\n'),
    )
  })

  it.each([
    ['retinue', `${PROJECT}/retinue.yaml`, `${PROJECT}/retinue.yml`],
    ['config', USER_FILE, `${HOME}/.config/retinue/config.yml`],
  ])('is having two spellings of %s', async (name, long, short) => {
    expect(await load({ [long]: 'mode: plan', [short]: '' })).toEqual({
      ok: false,
      problems: [
        { file: short, line: 1, column: 1, message: `${name}.yaml is there too: keep one of them`, nearest: null },
      ],
    })
  })

  it('is one that cannot be read', async () => {
    const loaded = await loadConfig({
      read: async (path) => {
        if (path === USER_FILE) throw new Error('EACCES: permission denied')
        return null
      },
      project_dir: PROJECT,
      home: HOME,
      config_home: `${HOME}/.config`,
      surroundings,
    })
    const message = 'cannot be read: EACCES: permission denied'
    expect(loaded).toEqual({ ok: false, problems: [{ file: USER_FILE, line: 1, column: 1, message, nearest: null }] })
  })

  it('does not let the project trust what the broken file of the user would decide', async () => {
    const loaded = await load({ user: 'trusted_projects: ~/shop', project: 'mode: auto' })
    expect(loaded.ok ? '' : formatProblems(loaded.problems)).toBe(
      `${USER_FILE}:1:19: trusted_projects must be a list, not "~/shop"`,
    )
  })
})
