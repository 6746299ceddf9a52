import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { createCatalog, discoverAgentFiles, resolveProfile } from '../../src/control/index.js'
import { EXPECTED } from '../fixtures/agents/expected.js'
import { temporaryFolders } from '../host/helpers.js'
import { agent, discover, host, placesIn, SURROUNDINGS } from './agent-folders.js'

const folder = temporaryFolders()
const FIXTURES = fileURLToPath(new URL('../fixtures/agents', import.meta.url))
const FOLDERS = {
  claude: '.claude/agents',
  opencode: '.opencode/agents',
  gemini: '.gemini/agents',
  agents: '.agents/agents',
  native: '.retinue/agents',
}

it('reads agents as people write them for other tools, each to the profile or the error that is expected', async () => {
  const places = placesIn(folder())
  for (const [from, to] of Object.entries(FOLDERS)) {
    cpSync(join(FIXTURES, from), join(places.project_dir, to), { recursive: true })
  }
  const found = await discoverAgentFiles(host, places, SURROUNDINGS)
  const read = found.map(({ source, name, kept, notes, profile, fault }) => [
    source.kind === 'file' ? source.file : '',
    { name, kept, notes, ...(fault === null ? { profile } : { fault: fault.split('\n') }) },
  ])
  expect(Object.fromEntries(read)).toEqual(EXPECTED)
  // One of them is turned off, and not there.
  const files = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
  expect(files.length).toBeGreaterThan(30)
  expect(Object.keys(EXPECTED).length).toBe(files.length - 1)
})

describe('agent files', () => {
  it('of a person stand before those of a project, and ours before those of other tools', async () => {
    const same = agent('name: same\ndescription: x')
    const found = await discover(folder(), {
      'project/.gemini/agents/a.md': same,
      'project/.opencode/agent/a.md': same,
      'project/.opencode/agents/a.md': same,
      'project/.claude/agents/a.md': same,
      'project/.agents/agents/a.md': same,
      'project/.retinue/agents/a.md': same,
      'config/opencode/agent/a.md': same,
      'config/opencode/agents/a.md': same,
      'home/.gemini/agents/a.md': same,
      'home/.opencode/agent/a.md': same,
      'home/.opencode/agents/a.md': same,
      'home/.claude/agents/a.md': same,
      'home/.agents/agents/a.md': same,
      'home/.retinue/agents/a.md': same,
      'config/retinue/agents/a.md': same,
    })
    const files = found.map(({ source }) => (source.kind === 'file' ? `${source.scope} ${source.file}` : ''))
    expect(files.map((file) => file.replace(/\/tmp.*\/config/, '<config>'))).toEqual([
      'project .gemini/agents/a.md',
      'project .opencode/agent/a.md',
      'project .opencode/agents/a.md',
      'project .claude/agents/a.md',
      'project .agents/agents/a.md',
      'project .retinue/agents/a.md',
      'home <config>/opencode/agent/a.md',
      'home <config>/opencode/agents/a.md',
      'home ~/.gemini/agents/a.md',
      'home ~/.opencode/agent/a.md',
      'home ~/.opencode/agents/a.md',
      'home ~/.claude/agents/a.md',
      'home ~/.agents/agents/a.md',
      'home ~/.retinue/agents/a.md',
      'home <config>/retinue/agents/a.md',
    ])
  })

  it('that are broken take the place of those they stand before, and say where and why', async () => {
    const found = await discover(folder(), {
      'project/.claude/agents/tester.md': agent('description: sound'),
      'project/.retinue/agents/tester.md': agent('description: broken\ntools: Raed'),
    })
    const resolved = resolveProfile(createCatalog(found, []), 'tester')
    expect(resolved).toEqual({
      ok: false,
      message:
        'The profile tester cannot be used: .retinue/agents/tester.md:3: unknown tool "Raed": did you mean Read?',
    })
  })

  it('with one name in one folder: the first holds and names the other', async () => {
    const found = await discover(folder(), {
      'project/.claude/agents/a/first.md': agent('name: same\ndescription: first'),
      'project/.claude/agents/b/second.md': agent('name: same\ndescription: second'),
    })
    expect(found.map(({ name, profile, notes }) => [name, profile?.description, notes])).toEqual([
      ['same', 'first', ['not used: .claude/agents/b/second.md has the same name']],
    ])
  })

  it('count once, as the person’s own, where the home folder is the project', async () => {
    const top = folder()
    const { project_dir } = placesIn(top)
    mkdirSync(join(project_dir, '.claude/agents'), { recursive: true })
    const files = { 'project/.claude/agents/a.md': agent('description: x\nmodel: scripted/a.yaml') }
    await discover(top, files)
    const places = { project_dir, home: project_dir, config_home: join(project_dir, '.config') }
    const found = await discoverAgentFiles(host, places, SURROUNDINGS)
    expect(found.map(({ source, fault }) => [source.kind === 'file' && source.scope, fault])).toEqual([['home', null]])
  })

  it('are named after their file where they have no name, in folders too; a README is none', async () => {
    const found = await discover(folder(), {
      'project/.opencode/agent/team/Fast Review.md': agent('description: x'),
      'project/.opencode/agent/README.md': '# Agents\n',
      'project/.opencode/agent/notes.txt': 'x',
      'project/.opencode/agent/.hidden.md': agent('description: x'),
    })
    expect(found.map(({ name, notes, fault }) => [name, notes, fault])).toEqual([
      ['fast-review', ['name: "Fast Review" is asked for as fast-review'], null],
    ])
  })

  it('take a pool before the word of another tool, and models only as far as the person lists them', async () => {
    const files = {
      'project/.claude/agents/a.md': agent('description: x\nmodel: haiku'),
      'project/.claude/agents/b.md': agent('description: x\nmodel: openai/gpt-5.2'),
      'project/.claude/agents/c.md': agent('description: x\nmodels: [haiku, openai/gpt-5.2]'),
      'home/.claude/agents/d.md': agent('description: x\nmodel: openai/gpt-5.2'),
    }
    const surroundings = { pools: ['haiku'], models_listed: ['pool/haiku'] }
    const found = await discover(folder(), files, { surroundings })
    const not =
      'a project\'s file cannot let sub-agents use "openai/gpt-5.2", which your delegation.models does not list: add it there, put the agent into your home folder, or choose another'
    expect(found.map(({ profile, fault }) => profile?.model ?? fault)).toEqual([
      'haiku',
      `.claude/agents/b.md:3: ${not}`,
      `.claude/agents/c.md:3: ${not}`,
      'openai/gpt-5.2',
    ])
  })

  it('of a project spend no more than the person has fixed', async () => {
    const header = 'description: x\nmaxTurns: 50\nmax_retries: 3\nbudget: {tool_calls: 5, total_tokens: null}'
    const fixed = { budget: { turns: 20, tool_calls: 10, total_tokens: 1000 }, max_retries: 1 }
    const files = { 'project/.claude/agents/a.md': agent(header), 'home/.claude/agents/a.md': agent(header) }
    const [project, home] = await discover(folder(), files, { surroundings: { fixed } })
    expect(project?.profile).toMatchObject({
      budget: { turns: 20, tool_calls: 5, total_tokens: 1000 },
      max_retries: 1,
    })
    expect(project?.notes).toEqual([
      'budget.turns: 50 becomes 20, which is fixed in your own file',
      'budget.total_tokens: no limit becomes 1000, which is fixed in your own file',
      'max_retries: it becomes 1, which is fixed in your own file',
    ])
    expect(home?.profile).toMatchObject({ budget: { turns: 50, tool_calls: 5, total_tokens: null }, max_retries: 3 })
  })

  it('of a project fill no share of a window where the person has fixed how many tokens', async () => {
    const files = {
      'project/.claude/agents/a.md': agent('description: x\ncontext_share: 40'),
      'home/.claude/agents/a.md': agent('description: x\ncontext_share: 40'),
    }
    const fixed = { budget: { context_tokens: 32_000 } }
    const found = await discover(folder(), files, { surroundings: { fixed } })
    expect(found.map(({ profile, fault }) => fault ?? profile?.context_share)).toEqual([
      ".claude/agents/a.md:3: a project's file cannot fill 40 % of a model's window, where your file has 32000 context_tokens: write budget.context_tokens, or put the agent into your home folder",
      40,
    ])
    const free = await discover(folder(), files)
    expect(free.map(({ profile }) => profile?.context_share)).toEqual([40, 40])
  })

  it('that a person has linked from elsewhere at home are read', async () => {
    const found = await discover(
      folder(),
      { 'home/dotfiles/a.md': agent('description: x') },
      {
        prepare: (top) => {
          mkdirSync(join(top, 'home/.claude/agents'), { recursive: true })
          symlinkSync(join(top, 'home/dotfiles/a.md'), join(top, 'home/.claude/agents/a.md'))
        },
      },
    )
    expect(found.map(({ name, fault }) => [name, fault])).toEqual([['a', null]])
  })

  it('load the YAML parser only where there is one', async () => {
    vi.resetModules()
    let loads = 0
    vi.doMock('yaml', async (original) => {
      loads++
      return await original()
    })
    const top = folder()
    expect(await discover(top, {})).toEqual([])
    expect(loads).toBe(0)
    await discover(top, { 'project/.claude/agents/a.md': agent('description: x') })
    expect(loads).toBe(1)
    vi.doUnmock('yaml')
  })
})

/** What a key comes to, or what is said of it. */
async function read(header: string) {
  const [found] = await discover(folder(), { 'project/.claude/agents/a.md': agent(header) })
  if (found?.profile == null) return found?.fault?.replaceAll('.claude/agents/a.md:', '').split('\n')
  const { system_prompt: _, ...profile } = found.profile
  return profile
}

const READ_SPAWN = ['read_file', 'spawn_agent']

describe('boundaries of other tools', () => {
  it.each<[string, unknown]>([
    ['tools: "*"', {}],
    ['tools:', ['2: tools has no value: write [] for none, or remove it to inherit']],
    ['tools: Bash()', ['2: "Bash()": an empty pattern says nothing: write "Bash" alone']],
    [
      'tools: Bash(git log',
      ['2: "Bash(git log" is no tool: write its name, or its name with a pattern in parentheses'],
    ],
    ['tools: Bash(*), Bash(git *)', { tools: ['run_command', 'run_command(git *)'] }],
    ['tools: Read(../secret)', ['2: "../secret" leaves the workspace: .. is not allowed']],
    [
      'tools: Read(//etc/**)',
      ['2: "Read(//etc/**)" is outside the project folder, which agents never leave: remove it'],
    ],
    ['tools: Bash(git log | head)', [expect.stringMatching(/^2: .*can match nothing/)]],
    ['tools: WebSearch(cats)', ['2: "WebSearch(cats)": web_search has no patterns: write web_search alone']],
    ['tools: [{Read: true}]', ['2: tools: each entry must be a name']],
    ['tools: Agent(../x)', [expect.stringMatching(/^2: "Agent\(\.\.\/x\)": "\.\.\/x" is no name of an agent/)]],
    ['tools: Skill(release-notes)', { tools: ['load_skill'], skills: ['release-notes'] }],
    ['disallowedTools: Agent', { can_spawn_children: false }],
    ['disallowedTools: Agent(x)', [expect.stringMatching(/^2: .*single agents cannot be refused here/)]],
    ['disallowedTools: Skill(x)', [expect.stringMatching(/^2: .*single skills cannot be refused here/)]],
    ['disallowedTools: NotebookEdit', { deny: ['edit_file(**/*.ipynb)', 'write_file(**/*.ipynb)'] }],
    ['disallowedTools: apply_patch', { deny: ['edit_file', 'write_file'] }],
    ['disallowedTools: Edit', { deny: ['edit_file', 'write_file'] }],
    ['disallowedTools: MultiEdit', { deny: ['edit_file', 'write_file'] }],
    ['disallowedTools: edit_file', { deny: ['edit_file'] }],
    ['ask: Edit', { ask: ['edit_file', 'write_file'] }],
    ['tools: Edit', { tools: ['edit_file'] }],
    ['disallowedTools: mcp__github', { deny: ['mcp__github__*'] }],
    ['disallowedTools: "*"', { tools: [] }],
    ...['* --force', 'git push*--force*', '*--no-verify*', '*--force*', '*/etc/*', 'git:* push', '* *'].flatMap(
      (pattern): [string, unknown][] => {
        const not = [expect.stringMatching(/^2: .*: a \* stands for any text here only at the very end/)]
        return [
          [`disallowedTools: ["Bash(${pattern})"]`, not],
          [`ask: ["Bash(${pattern})"]`, not],
          [`permission: {bash: {"${pattern}": deny}}`, not],
        ]
      },
    ),
    ['tools: ["Bash(git push*--dry-run*)"]', { tools: ['run_command(git push*--dry-run* *)'] }],
    ['disallowedTools: ["Bash(psql -c \\"DROP*)"]', [expect.stringMatching(/^2: .* word by word, without quotes/)]],
    ['disallowedTools: Bash(git push*)', { deny: ['run_command(git push* *)'] }],
    ['disallowedTools: ["Read([.]env)"]', [expect.stringMatching(/^2: "Read\(\[\.\]env\)": a \[ stands for itself/)]],
    ['tools: ["Read(src/[ab]/**)"]', [expect.stringMatching(/^2: .* a \[ stands for itself/)]],
    [
      'permission: {edit: {"src/[a-c]*": deny}}',
      [expect.stringMatching(/^2: "src\/\[a-c\]\*": a \[ stands for itself/)],
    ],
    ['permission: {read: {"*": deny, "src/[a-c]*": allow}}', [expect.stringMatching(/^2: .* a \[ stands for itself/)]],
    ['disallowedTools: ["Read(*.{pem,key})"]', { deny: ['read_file(**/*.{pem,key})'] }],
    ['tools: ["Read(*.{md,txt})"]', ['2: "Read(*.{md,txt})": write one pattern for each choice in the braces']],
    ['tools: ["Edit(src/**.ts)"]', { tools: ['edit_file(src/*.ts)'] }],
    ['permission: {read: {"a?b": deny}}', { deny: ['read_file(a**b)'] }],
    ['disallowedTools: WebFetch(domain:Evil.com)', { deny: ['web_fetch(evil.com/**)', 'web_fetch(evil.com:*/**)'] }],
    ['tools: WebFetch(domain:Docs.example.org)', { tools: ['web_fetch(docs.example.org/**)'] }],
    [
      'disallowedTools: WebFetch(domain:bücher.example)',
      { deny: ['web_fetch(xn--bcher-kva.example/**)', 'web_fetch(xn--bcher-kva.example:*/**)'] },
    ],
    [
      'permission: {webfetch: {"https://evil.com/*?q=*": deny}}',
      [expect.stringMatching(/^2: .* without what follows a \?/)],
    ],
    ['disallowedTools: ["WebFetch(domain:)"]', [expect.stringMatching(/^2: .* names no host/)]],
    ['disallowedTools: ["WebFetch(domain:evil.com/x)"]', [expect.stringMatching(/^2: .* names no host/)]],
    [
      'permission: {webfetch: {"https://Evil.com/*": deny}}',
      { deny: ['web_fetch(evil.com/**)', 'web_fetch(evil.com:*/**)'] },
    ],
    [
      'disallowedTools: ["WebFetch(https://evil.com/*?q=*)"]',
      [expect.stringMatching(/^2: .* without what follows a \?/)],
    ],
    ['deny: ["run_command(rm *)"]', { deny: ['run_command(rm *)'] }],
    ['permission: deny', { tools: [] }],
    ['permission: ask', { ask: [...SURROUNDINGS.tools.map(({ name }) => name), 'mcp__*'] }],
    ['permission: {read: allow, "*": deny}', { tools: [], deny: ['read_file'] }],
    ['permission: {edit: deny, "*": allow}', { deny: ['write_file', 'edit_file'] }],
    ['permission: {"*": {"rm *": deny}}', [expect.stringMatching(/^2: permission\.\* cannot have patterns here/)]],
    [
      'permission: {"*": ask, read: allow, task: deny}',
      {
        can_spawn_children: false,
        ask: [
          ...SURROUNDINGS.tools
            .map(({ name }) => name)
            .filter((name) => !['read_file', 'spawn', 'spawn_agent', 'delegate_task'].includes(name)),
          'mcp__*',
        ],
      },
    ],
    ['permission: maybe', [expect.stringMatching(/^2: permission must be allow, ask or deny/)]],
    ['permission: {toString: deny}', [expect.stringMatching(/^2: unknown tool "toString"/)]],
    ['permission: {bash: {"git push *": allow, "*": deny}}', { deny: ['run_command', 'run_tests', 'git_commit'] }],
    ['permission: {bash: {"r?m *": deny}}', [expect.stringMatching(/^2: "r\?m \*": a \? stands for itself/)]],
    ['permission: {edit: {"~/x": deny}}', [expect.stringMatching(/^2: "~\/x": write paths relative to the project/)]],
    ['permission: {edit: {"src/*": deny}}', { deny: ['write_file(src/**)', 'edit_file(src/**)'] }],
    ['permission: {edit: {"a/*/b": deny}}', { deny: ['write_file(a/**/b)', 'edit_file(a/**/b)'] }],
    ['permission: {edit: {"*": deny, "a/*/b": allow}}', { write_paths: ['a/*/b'] }],
    ['permission: {webfetch: {"*": deny, "https://*.example.org/*": allow}}', expect.anything()],
    [
      'permission: {grep: {"secret": deny}}',
      [expect.stringMatching(/^2: "secret": patterns of grep are not understood/)],
    ],
    ['permission: {skill: {"internal-*": deny}}', [expect.stringMatching(/^2: .*single skills cannot be refused/)]],
    [
      'permission: {"*": deny, edit: {"*": deny, "docs/*": allow}}',
      { tools: ['write_file', 'edit_file'], write_paths: ['docs/**'] },
    ],
    ['permission: {"*": deny, constructor: allow}', [expect.stringMatching(/^2: unknown tool "constructor"/)]],
    ['tools: constructor', [expect.stringMatching(/^2: unknown tool "constructor"/)]],
    ['permissionMode: bypassPermissions', { mode: 'dangerous' }],
    ['permissionMode: yolo', [expect.stringMatching(/^2: permissionMode "yolo" cannot be enforced/)]],
    ['isolation: remote', [expect.stringMatching(/^2: isolation must be one of/)]],
    ['hooks: ./run.sh', [expect.stringMatching(/^2: hooks may refuse calls/)]],
    ['maxTurns: 0', ['2: maxTurns must be a whole number of at least 1, not 0']],
    ['maxTurns: 1e300', [expect.stringMatching(/^2: maxTurns must be a whole number/)]],
    ['timeout_mins: soon', ['2: timeout_mins must be a number of minutes of at least 0.1, not "soon"']],
    ['max_turns: 9\nbudget: {turns: 4}', { budget: { turns: 4 } }],
    ['budget: {turns: 9}\nmaxTurns: 4', { budget: { turns: 4 } }],
    ['mcpServers: [a__b]', [expect.stringMatching(/^2: "a__b": a server name/)]],
    ['skills: [a, "b*"]', ['2: "b*" does not name a skill: list whole names, without *']],
    [
      'disalowedTools: Bash',
      ['2: "disalowedTools" is not understood, and may be a boundary: did you mean disallowedTools?'],
    ],
    [
      'read_only: true',
      ['2: "read_only" is not understood, and may be a boundary: write isolation: read_only, or write_paths'],
    ],
    ['model: gpt5', [expect.stringMatching(/^2: "gpt5" is no model: write provider\/model/)]],
    ['pool: fsat', ['2: pool must be one of the pools fast: did you mean "fast"?']],
    ['model: fast\npool: fast', ['3: a profile has a model or a pool, not both']],
    ['may_spawn: ["@x y"]', [expect.stringMatching(/^2: "@x" is neither a profile nor a handle/)]],
    ['system_prompt: twice', ['2: there is a prompt below the header, too: say it there']],
    ['name: "../../etc"', [expect.stringMatching(/^2: "..\/..\/etc" is no name of an agent/)]],
    [
      'name: "a\\u001b[31m"',
      [
        '2: "a\\u001b[31m" is no name of an agent: write at most 64 lower-case letters, digits and dashes, beginning with a letter, such as a-31m',
      ],
    ],
    ['name: "<b>x</b>"', [expect.stringMatching(/^2: "<b>x<\/b>" is no name of an agent/)]],
    ['name: a..b', [expect.stringMatching(/^2: "a..b" is no name of an agent/)]],
  ])('%s', async (header, expected) => {
    expect(await read(header)).toEqual(expected)
  })

  it.each<[string, unknown]>([
    ['tools: Read, Bash\npermission: {"*": deny, read: allow, grep: allow}', { tools: ['read_file'] }],
    ['permission: {"*": deny, read: allow}\ntools: Read, Bash', { tools: ['read_file'] }],
    [
      'tools: Bash, Read\npermission: {bash: {"*": deny, "git log *": allow}}',
      { tools: ['run_command(git log *)', 'read_file'] },
    ],
    ['tools: Bash(git *), Read\npermission: {bash: {"*": deny, "ls *": allow}}', { tools: ['read_file'] }],
    ['disallowedTools: "*"\ntools: Read', { tools: [] }],
    ['disallowedTools: Agent\ntools: Read, Agent', { tools: ['read_file'], can_spawn_children: false }],
    ['can_spawn_children: false\ntools: Read, Agent', { tools: ['read_file'], can_spawn_children: false }],
    ['permissionMode: plan\nmode: auto', { mode: 'plan' }],
    ['mode: plan\npermissionMode: bypassPermissions', { mode: 'plan' }],
    ['permission: {skill: {"*": deny, a: allow}}\nskills: [a, b]', { skills: ['a'] }],
    ['permission: {task: {"*": deny, a: allow}}\nmay_spawn: [a, b]', { may_spawn: ['a'], can_spawn_children: true }],
    ['may_spawn: []\ntools: Read, Agent(reviewer)', { may_spawn: [], can_spawn_children: true, tools: READ_SPAWN }],
    ['tools: Read, Agent(reviewer)\nmay_spawn: []', { may_spawn: [], can_spawn_children: true, tools: READ_SPAWN }],
    [
      'tools: Read, Agent(reviewer)\nmay_spawn: [executor]',
      { may_spawn: [], can_spawn_children: true, tools: READ_SPAWN },
    ],
    [
      'tools: Read, Agent(reviewer), Agent(tester)\nmay_spawn: [tester, executor]',
      { may_spawn: ['tester'], can_spawn_children: true, tools: READ_SPAWN },
    ],
    ['skills: []\ntools: Skill(deploy)', { skills: [], tools: ['load_skill'] }],
    ['tools: Skill(deploy)\nskills: []', { skills: [], tools: ['load_skill'] }],
    ['tools: Skill(a), Skill(b)\nskills: [b, c]', { skills: ['b'], tools: ['load_skill'] }],
    ['mcpServers: [a, b]\nmcp_servers: [b, c]', { mcp_servers: ['b'] }],
    ['mcpServers: []\nmcp_servers: [a]', { mcp_servers: [] }],
    [
      'permission: {edit: {"*": deny, "a/*": allow}}\nwrite_paths: [b]',
      ['2: there are write_paths in this file, too: say it in one place'],
    ],
  ])('of two keys that say how much, the narrower holds: %s', async (header, expected) => {
    expect(await read(header)).toEqual(expected)
  })

  it.each([
    ...['allowed_mcp_servers: [a]', 'allowed_skills: [a]', 'allowed_models: [a/b]', 'allowed_write_paths: [src]'],
    ...['allowed_calls: [x]', 'owns: [src]', 'max_tool_calls: 3', 'tool_calls: 3', 'turns: 3', 'max_cost_usd: 1'],
    ...['timeout_seconds: 3', 'max_iterations: 3', 'max_depth: 1', 'can_delegate: false', 'subagents: false'],
    ...['forbidden_tools: [Bash]', 'excluded_paths: [src]', 'restricted_paths: [src]', 'network_access: false'],
    ...['toolConfig: {functionCallingConfig: {mode: NONE}}', 'run_config: {max_turns: 3}', 'limits: {turns: 3}'],
    ...['excludeMcpServers: [a]', 'bash: false', 'write: false', 'grep: false', 'webfetch: deny', 'maxturns: 3'],
    ...['readOnly: true', 'canspawn: false', 'no-network: true', 'enabled: false', 'permissions: {}', 'allow: []'],
    ...['forbiddenTools: [Bash]', 'forbidden: [Bash]', 'denied: [Bash]', 'blocked: [Bash]', 'allowed: [Read]'],
    ...['exclude: [src]', 'allowed_directories: [src]', 'requireApproval: true', 'noWrite: true', 'access: read'],
    ...['capabilities: [read]', 'restrictions: [x]', 'files: [src]', 'scope: src', 'policy: strict'],
    ...['autoApprove: false', 'paths: [src]', 'commands: [ls]', 'internet: false', 'guardrails: [x]', 'mcp: {}'],
  ])('a key that sounds like one and that nobody here reads is refused: %s', async (header) => {
    expect(await read(header)).toEqual([
      expect.stringMatching(/^2: "\w[\w-]*" is not understood, and may be a boundary: /),
    ])
  })

  it('and so is one with a dot in it', async () => {
    expect(await read('tools.exclude: [Bash]')).toEqual([
      '2: "tools.exclude" is not understood, and may be a boundary: write disallowedTools',
    ])
  })

  it('and so is one inside another key, with its line', async () => {
    expect(await read('settings:\n  style: short\n  runtime:\n    max_calls: 3')).toEqual([
      '5: "settings.runtime.max_calls" is not understood, and may be a boundary: write budget',
    ])
  })

  it.each([
    ...['color: red', 'temperature: 0.1', 'top_p: 1', 'memory: project', 'version: 1.2.0', 'author: Ann', 'tags: [a]'],
    ...['display_name: A', 'background: true', 'effort: high', 'hidden: true', 'argument-hint: x', 'license: MIT'],
    ...['metadata: {tools: x}', 'tooltip: x', 'thinkingBudget: 100', 'shallow: true', 'thread: x', 'credits: Ann'],
    ...['expertise: [tests]', 'category: docs', 'initialPrompt: x', 'variant: high', 'options: {textVerbosity: low}'],
    ...['hooks: {Stop: [], post_tool_use: []}'],
  ])('a key that says nothing about what an agent may do is kept: %s', async (header) => {
    expect(await read(header)).toEqual({})
  })

  it.each(['PreToolUse', 'pre_tool_use', 'pre-tool-use', 'PRETOOLUSE', 'before_tool', 'onToolCall', 'whatever'])(
    'a hook that may refuse calls, or that nobody knows, is refused: %s',
    async (event) => {
      expect(await read(`hooks:\n  Stop: []\n  ${event}: []`)).toEqual([
        expect.stringMatching(new RegExp(`^4: the hook ${event} may refuse calls`)),
      ])
    },
  )

  it('a site that is let through is that site alone', async () => {
    const profile = await read('permission: {webfetch: {"*": deny, "https://*.example.org/*": allow}}')
    expect(profile).toMatchObject({ tools: expect.arrayContaining(['read_file', 'web_fetch(*.example.org/**)']) })
    expect(profile).not.toMatchObject({ tools: expect.arrayContaining(['web_fetch']) })
  })
})
