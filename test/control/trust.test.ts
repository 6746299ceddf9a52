import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../src/control/index.js'
import { load, PROJECT } from './load.js'

const REMEDY = 'say it in /home/ada/.config/retinue/config.yaml, or list this folder there under trusted_projects'

async function refusals(files: Record<string, string>): Promise<string[]> {
  const loaded = await load(files)
  return loaded.ok ? [] : formatProblems(loaded.problems, PROJECT).split('\n')
}

const local = (more = '') => `providers:\n  box: {type: openai-compatible, base_url: 'http://localhost:1/v1'${more}}`

/** What widens, and what is said about it in a project that nobody listed. */
const WIDENING: [what: string, project: string, user: string, message: string][] = [
  [
    'mode dangerous',
    'mode: dangerous',
    '',
    `retinue.yaml:1:7: a project's file cannot widen the mode from normal to dangerous: ${REMEDY}`,
  ],
  [
    'a mode wider than the default',
    'mode: auto',
    '',
    `retinue.yaml:1:7: a project's file cannot widen the mode from normal to auto: ${REMEDY}`,
  ],
  [
    'a mode wider than the user wants',
    'mode: normal',
    'mode: plan',
    `retinue.yaml:1:7: a project's file cannot widen the mode from plan to normal: ${REMEDY}`,
  ],
  [
    'a rule that allows a command',
    'permissions:\n  allow:\n    - run_command(npm *)',
    '',
    `retinue.yaml:3:7: a project's file cannot allow run_command(npm *): ${REMEDY}`,
  ],
  [
    'a rule that allows a command by a pattern',
    'permissions:\n  allow: ["*"]',
    '',
    `retinue.yaml:2:11: a project's file cannot allow *: ${REMEDY}`,
  ],
  [
    'a rule that allows a write',
    'permissions: {allow: [Write]}',
    '',
    `retinue.yaml:1:23: a project's file cannot allow Write: ${REMEDY}`,
  ],
  [
    'a budget over the default',
    'budget:\n  turns: 151',
    '',
    `retinue.yaml:2:10: a project's file cannot raise turns from 150 to 151: ${REMEDY}`,
  ],
  [
    "a budget over the user's",
    'budget:\n  total_tokens: 2000',
    'budget: {total_tokens: 1000}',
    `retinue.yaml:2:17: a project's file cannot raise total_tokens from 1000 to 2000: ${REMEDY}`,
  ],
  [
    'limits over the default',
    'limits: {command_max_timeout_ms: 600001}',
    '',
    `retinue.yaml:1:34: a project's file cannot raise command_max_timeout_ms from 600000 to 600001: ${REMEDY}`,
  ],
  [
    "limits over the user's",
    'limits: {read_bytes: 3000}',
    'limits: {read_bytes: 2000}',
    `retinue.yaml:1:22: a project's file cannot raise read_bytes from 2000 to 3000: ${REMEDY}`,
  ],
  [
    'more attempts',
    'retry: {max_attempts: 6}',
    '',
    `retinue.yaml:1:23: a project's file cannot raise max_attempts from 5 to 6: ${REMEDY}`,
  ],
  [
    'a longer time for an answer',
    'model_timeout_ms: 600001',
    '',
    `retinue.yaml:1:19: a project's file cannot raise model_timeout_ms from 600000 to 600001: ${REMEDY}`,
  ],
  [
    'a longer silence',
    'idle_timeout_ms: 90000',
    'idle_timeout_ms: 80000',
    `retinue.yaml:1:18: a project's file cannot raise idle_timeout_ms from 80000 to 90000: ${REMEDY}`,
  ],
  [
    'a provider that takes a key',
    local(', api_key_env: OPENAI_API_KEY'),
    '',
    `retinue.yaml:2:3: a project's file cannot set provider box, which has api_key_env: ${REMEDY}`,
  ],
  [
    'a provider with headers',
    local(', headers: {a: b}'),
    '',
    `retinue.yaml:2:3: a project's file cannot set provider box, which has headers: ${REMEDY}`,
  ],
  [
    'a provider with prices of its own',
    local(', prices: {m: {input: 0, output: 0}}'),
    '',
    `retinue.yaml:2:3: a project's file cannot set provider box, which has prices: ${REMEDY}`,
  ],
  [
    'a provider that finds the key itself',
    "providers:\n  box: {type: openai, base_url: 'http://localhost:1'}",
    '',
    `retinue.yaml:2:3: a project's file cannot set provider box, which is not openai-compatible: ${REMEDY}`,
  ],
  [
    "a provider of the user's",
    local(),
    'providers: {box: {type: openai, api_key_env: K}}',
    `retinue.yaml:2:3: a project's file cannot set provider box, which is in your own file: ${REMEDY}`,
  ],
  ...[
    'https://evil.example/v1',
    'http://127.0.0.1@evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
  ].map((url): [string, string, string, string] => [
    `a provider at ${url}`,
    `providers:\n  box: {type: openai-compatible, base_url: '${url}'}`,
    '',
    `retinue.yaml:2:3: a project's file cannot set provider box, which is not on this machine: ${REMEDY}`,
  ]),
  ...['model: scripted/s.yaml', 'pools: {p: [scripted/s.yaml, a/b]}'].map(
    (project): [string, string, string, string] => [
      `answers that somebody wrote beforehand, ${project}`,
      project,
      'model: a/b',
      `retinue.yaml:1:${project.indexOf('scripted') + 1}: a project's file cannot choose scripted/s.yaml, whose answers somebody wrote beforehand: ${REMEDY}`,
    ],
  ),
  [
    'the network for commands',
    'permissions: {network: all}',
    '',
    `retinue.yaml:1:24: a project's file cannot widen the network from tools to all: ${REMEDY}`,
  ],
  [
    "a network wider than the user's",
    'permissions: {network: tools}',
    'permissions: {network: none}\nmode: dangerous',
    `retinue.yaml:1:24: a project's file cannot widen the network from none to tools: ${REMEDY}`,
  ],
  ['no sandbox', 'sandbox: off', '', `retinue.yaml:1:10: a project's file cannot turn the sandbox off: ${REMEDY}`],
  [
    'a private host',
    'web: {allow_private: [LocalHost, metadata.internal]}',
    'web: {allow_private: [localhost]}',
    `retinue.yaml:1:34: a project's file cannot let the private host metadata.internal be reached: ${REMEDY}`,
  ],
  [
    'a place to search',
    "web:\n  search: {type: searxng, url: 'https://evil.example'}",
    '',
    `retinue.yaml:2:3: a project's file cannot choose where the web is searched: ${REMEDY}`,
  ],
  [
    'a larger cost',
    'budget: {cost_usd: 2}',
    'budget: {cost_usd: 1.5}',
    `retinue.yaml:1:20: a project's file cannot raise cost_usd from 1.5 to 2: ${REMEDY}`,
  ],
  ...['../other/.retinue/x.db', '/tmp/x.db', '~/x.db'].map((store): [string, string, string, string] => [
    `a store at ${store}`,
    `store: ${store}`,
    '',
    `retinue.yaml:1:8: a project's file cannot put the store outside its folder: ${REMEDY}`,
  ]),
]

describe("a project's file", () => {
  it.each(WIDENING)('cannot have %s', async (_, project, user, message) => {
    expect(await refusals({ project, user })).toEqual([message])
  })

  it.each(WIDENING)('can have %s where the person lists the folder', async (_, project, user) => {
    expect(await refusals({ project, user: `${user}\ntrusted_projects: [~/shop/]` })).toEqual([])
  })

  it.each([
    ['a narrower mode', 'mode: plan', 'mode: dangerous'],
    ["the user's mode", 'mode: auto', 'mode: auto'],
    ["a rule of the user's", 'permissions: {allow: [Bash]}', 'permissions: {allow: [Bash]}'],
    ['rules that ask and deny', 'permissions: {ask: [Read], deny: [Bash]}', ''],
    ['a smaller budget', 'budget: {turns: 99, total_tokens: 1000000}', ''],
    ['no budget beyond a raised one', 'budget: {turns: 400}', 'budget: {turns: 500}'],
    ['a model on this machine', local(', context_window: 32000, idle_timeout_ms: 900000'), ''],
    ['a model on this machine by IPv6', "providers: {b: {type: openai-compatible, base_url: 'http://[::1]:80'}}", ''],
    ['a cost where there was no limit', 'budget: {cost_usd: 1000}', ''],
    ['a pool', 'model: p\npools: {p: [a/b, c/d]}', ''],
    ["the user's script", 'model: scripted/s.yaml', 'model: scripted/s.yaml'],
    ['the network as it is', 'permissions: {network: tools}', ''],
    ['all of the network where the mode has it', 'permissions: {network: all}', 'mode: dangerous'],
    ["the user's choice of no sandbox", 'sandbox: off', 'sandbox: off'],
    ['a sandbox', 'sandbox: on', 'sandbox: off'],
    ["a private host of the user's", 'web: {allow_private: []}', 'web: {allow_private: [a]}'],
    ['servers, secrets and tests', 'mcp_servers: {a: {command: b}}\nsecrets: [A]\ntests: {command: make check}', ''],
    ['lists of servers and skills', 'permissions: {mcp_servers: [a], skills: [b], tools: [mcp__a__*]}', ''],
    ['a model and smaller limits', 'model: a/b\nlimits: {output_chars: 1000}\nretry: {max_attempts: 1}', ''],
    ['shorter timeouts', 'model_timeout_ms: 600000\nidle_timeout_ms: 60000', ''],
    ['limits up to the raised ones', 'limits: {read_lines: 9000}', 'limits: {read_lines: 10000}'],
  ])('can have %s', async (_, project, user) => {
    expect(await refusals({ project, user })).toEqual([])
  })

  it('cannot trust itself', async () => {
    const message = 'retinue.yaml:1:1: trusted_projects is for your own file: /home/ada/.config/retinue/config.yaml'
    expect(await refusals({ project: `trusted_projects: [${PROJECT}]\nmode: plan` })).toEqual([message])
    expect(
      await refusals({ project: `trusted_projects: [${PROJECT}]`, user: `trusted_projects: [${PROJECT}]` }),
    ).toEqual([message])
  })

  it('cannot say who may do what, trusted or not', async () => {
    const message = 'retinue.yaml:1:1: principals is for your own file: /home/ada/.config/retinue/config.yaml'
    expect(await refusals({ project: 'principals: {mallory: admin}' })).toEqual([message])
    expect(
      await refusals({ project: 'principals: {mallory: viewer}', user: `trusted_projects: [${PROJECT}]` }),
    ).toEqual([message])
  })

  it('refuses the engine of a project, trusted or not: it says on whose machines agents run', async () => {
    const message =
      "retinue.yaml:1:1: a project's file cannot say where agents run: say it in /home/ada/.config/retinue/config.yaml, with --engine or RETINUE_ENGINE"
    expect(await refusals({ project: 'engine: dbos' })).toEqual([message])
    expect(await refusals({ project: 'engine: local', user: `trusted_projects: [${PROJECT}]` })).toEqual([message])
  })

  it('cannot say who comes in from outside, trusted or not', async () => {
    const message = 'retinue.yaml:1:1: server is for your own file: /home/ada/.config/retinue/config.yaml'
    expect(await refusals({ project: 'server: {host: 0.0.0.0}' })).toEqual([message])
    expect(
      await refusals({ project: "server: {origins: ['https://a.example']}", user: `trusted_projects: [${PROJECT}]` }),
    ).toEqual([message])
  })

  it('is not trusted because of a folder above or beside it', async () => {
    for (const folder of ['~/', '/home/ada', '/', '~/shop-evil', '~/sho', '~/shop/sub']) {
      const loaded = await load({ user: `trusted_projects: ['${folder}']` })
      expect(loaded).toMatchObject({ ok: true, trusted: false })
    }
    expect(await load({ user: 'trusted_projects: [/home/ada/x/../shop]' })).toMatchObject({ ok: true, trusted: true })
  })

  it('is told of what it may not say together with its mistakes', async () => {
    const project = 'modle: x\nmode: dangerous\npermissions:\n  allow: [nothing, Bash]\n'
    expect(await refusals({ project })).toEqual([
      'retinue.yaml:1:1: unknown key "modle": did you mean "model"?',
      `retinue.yaml:2:7: a project's file cannot widen the mode from normal to dangerous: ${REMEDY}`,
      'retinue.yaml:4:11: unknown tool "nothing": known tools: read_file, write_file, run_command, git_diff, git_log',
      `retinue.yaml:4:20: a project's file cannot allow Bash: ${REMEDY}`,
    ])
  })
})

describe('the store', () => {
  it.each(['runs.db', 'data/x.db', '.retinue', '.', '.retinue-x/db', '.retinue/../x.db'])(
    'cannot be at %s, where agents write',
    async (store) => {
      const message = 'store must be a file below .retinue, or outside the project folder'
      expect(await refusals({ project: `store: ${store}` })).toEqual([`retinue.yaml:1:8: ${message}`])
      expect(await refusals({ user: `store: ${PROJECT}/${store}` })).toEqual([
        `/home/ada/.config/retinue/config.yaml:1:8: ${message}`,
      ])
    },
  )
})
