import { describe, expect, it } from 'vitest'
import type { CommandSpec, Fence } from '../../src/host/index.js'
import { workbench } from './workbench.js'

const manifest = (test: string, more: object = {}) => JSON.stringify({ scripts: { test }, ...more })

async function commandFor(files: Record<string, string>, args: object = {}, command: string | null = null) {
  const { plan } = await workbench(files, { tools: { tests: { command } } })
  const planned = await plan('run_tests', args)
  return planned.ok ? planned.plan.command : planned.message
}

describe('the test command', () => {
  const vitest = manifest('vitest run')
  it.each<[string, Record<string, string>]>([
    ['npm test', { 'package.json': vitest }],
    ['npm test', { 'package.json': vitest, 'package-lock.json': '', Makefile: 'test:\n' }],
    ['pnpm test', { 'package.json': vitest, 'pnpm-lock.yaml': '' }],
    ['yarn test', { 'package.json': vitest, 'yarn.lock': '' }],
    ['bun run test', { 'package.json': vitest, 'bun.lock': '' }],
    ['bun test', { 'package.json': '{}', 'bun.lockb': '' }],
    ['node_modules/.bin/vitest run', { 'package.json': '{"devDependencies": {"vitest": "4"}}' }],
    [
      'node_modules/.bin/jest',
      { 'package.json': manifest('echo "Error: no test specified"', { devDependencies: { jest: '1' } }) },
    ],
    ['node --test', { 'package.json': '{}', 'lib/a.test.mjs': '' }],
    ['deno test', { 'deno.json': '{}' }],
    ['deno task test', { 'deno.jsonc': '// tasks\n{"tasks": {"test": "deno test -A"}}' }],
    ['cargo test', { 'Cargo.toml': '' }],
    ['go test -v ./...', { 'go.mod': 'module x' }],
    ['python3 -m pytest', { 'pytest.ini': '' }],
    ['python3 -m pytest', { 'pyproject.toml': '[tool.pytest.ini_options]' }],
    ['python3 -m pytest', { 'tests/conftest.py': '' }],
    ['uv run python -m pytest', { 'pyproject.toml': 'dev = ["pytest"]', 'uv.lock': '' }],
    ['poetry run python -m pytest', { 'pyproject.toml': 'pytest = "8"', 'poetry.lock': '' }],
    ['.venv/bin/python -m pytest', { 'conftest.py': '', '.gitignore': '.venv', '.venv/bin/python': '' }],
    ['python3 -m unittest', { 'tests/test_a.py': '' }],
    ['mvn -B test', { 'pom.xml': '' }],
    ['./mvnw -B test', { 'pom.xml': '', mvnw: '' }],
    ['gradle test', { 'build.gradle': '' }],
    ['./gradlew test', { 'build.gradle.kts': '', gradlew: '' }],
    ['bundle exec rspec', { Gemfile: '', 'spec/a_spec.rb': '' }],
    ['bundle exec rake test', { Gemfile: '', Rakefile: '', 'test/a_test.rb': '' }],
    ['vendor/bin/phpunit', { 'phpunit.xml.dist': '' }],
    ['composer test', { 'composer.json': manifest('phpunit') }],
    ['mix test', { 'mix.exs': '' }],
    ['dotnet test', { 'Sums.sln': '' }],
    ['make test', { Makefile: 'all: test\n\ntest: all\n\techo\n' }],
  ])('%s', async (command, files) => {
    expect(await commandFor(files)).toBe(command)
  })

  it('is not made up', async () => {
    const none =
      'no test command was found in the top folder of the workspace; use run_command, or tests.command in the configuration'
    for (const files of [
      {},
      { 'package.json': 'no json' },
      { 'package.json': '[]' },
      { 'package.json': '{"scripts": 1}' },
      { Makefile: 'test := 1\n' },
    ]) {
      expect(await commandFor(files as Record<string, string>)).toBe(none)
    }
  })

  it('is not told by a file that may not be read', async () => {
    const projects: Record<string, string>[] = [
      { 'package.json': vitest },
      { 'Cargo.toml': '' },
      { 'tests/test_a.py': '' },
    ]
    for (const files of projects) {
      const { plan } = await workbench(files, { context: { mayRead: (path) => !(path in files) } })
      expect(await plan('run_tests', {})).toMatchObject({ ok: false })
    }
  })

  it('is the configured one where there is one', async () => {
    expect(await commandFor({ 'package.json': vitest }, {}, 'make check && ./check')).toBe('make check && ./check')
    expect(await commandFor({}, { filter: 'a' }, 'go test ./...')).toBe('go test -run a ./...')
    expect(await commandFor({}, { filter: 'a b' }, 'npm run build && npx vitest run')).toBe(
      "npm run build && npx vitest run '--testNamePattern=a b'",
    )
    for (const command of [
      'make check',
      'vitest run | tee log',
      'vitest run # all',
      'vitest run > log',
      '(vitest run)',
    ]) {
      expect(await commandFor({}, { filter: 'a' }, command)).toBe(
        `how to run only some tests with ${command} is not known; leave filter and path out, or use run_command`,
      )
    }
  })
})

describe('a selection', () => {
  const tests = { 'test/a b.ts': '', '-x': '' }
  it.each<[string, Record<string, string>, object]>([
    [
      "npm test -- '--testNamePattern=adds two' 'test/a b.ts'",
      { 'package.json': manifest('vitest run') },
      { filter: 'adds two', path: 'test/../test/a b.ts' },
    ],
    ['npm test -- ./-x', { 'package.json': manifest('tsc && jest') }, { path: '-x' }],
    ['pnpm test --fgrep=a', { 'package.json': manifest('mocha'), 'pnpm-lock.yaml': '' }, { filter: 'a' }],
    [
      'node --import tsx --test --test-name-pattern=a',
      { 'package.json': manifest('node --import tsx --test test/*.ts') },
      { filter: 'a' },
    ],
    ['npm test', { 'package.json': manifest('vitest run') }, { path: '.' }],
    ["python3 -m pytest -k 'a or b' test", { 'pytest.ini': '' }, { filter: 'a or b', path: 'test' }],
    ['python3 -m unittest -k a', { 'test_a.py': '' }, { filter: 'a' }],
    ['cargo test a', { 'Cargo.toml': '' }, { filter: 'a' }],
    ['go test -v -run TestA ./...', { 'go.mod': '' }, { filter: 'TestA' }],
    ['go test -v ./pkg/a', { 'go.mod': '', 'pkg/a/a_test.go': '' }, { path: 'pkg/a/a_test.go' }],
    [
      'mvn -B test -Dtest=SumsTest -Dsurefire.failIfNoSpecifiedTests=false',
      { 'pom.xml': '', 'src/SumsTest.java': '' },
      { path: 'src/SumsTest.java' },
    ],
    ['gradle test --tests Sums', { 'build.gradle': '' }, { filter: 'Sums' }],
    ['gradle: it has no filter by path; give a filter', { 'build.gradle': '' }, { path: 'test' }],
    ['mix: it has no filter by name; give a path', { 'mix.exs': '' }, { filter: 'a' }],
    [
      'filter: it must not begin with - or have control characters in it',
      { 'Cargo.toml': '' },
      { filter: '--config=evil' },
    ],
    ['filter: it must not begin with - or have control characters in it', { 'Cargo.toml': '' }, { filter: 'a\nb' }],
  ])('%s', async (command, files, args) => {
    expect(await commandFor({ ...files, ...tests }, args)).toBe(command)
  })

  it('says nothing to a shell, whatever is in it', async () => {
    const hostile = [
      `'; touch x; '`,
      '$(touch x)',
      '`touch x`',
      '"; touch x; "',
      'a && touch x',
      'a|touch x',
      '>x',
      "'\\''",
      '$IFS',
      '~',
      '*',
      '!!',
      '\\',
      '#',
    ]
    const files = { 'package.json': manifest('node --test') }
    for (const filter of hostile) {
      const bench = await workbench({
        ...files,
        'a.test.js': 'require("fs").writeFileSync("args", JSON.stringify(process.execArgv))',
      })
      await bench.call('run_tests', { filter })
      const args = JSON.parse(await bench.read('args')) as string[]
      expect(args).toContain(`--test-name-pattern=${filter}`)
      await expect(bench.read('x')).rejects.toThrow()
    }
  }, 60_000)

  it('plans the path that it runs, where it really is', async () => {
    const { plan } = await workbench({ 'pytest.ini': '', 'tests/a.py': '' })
    expect(await plan('run_tests', { path: './tests/a.py' })).toEqual({
      ok: true,
      plan: {
        summary: 'run tests: python3 -m pytest tests/a.py',
        paths: [{ path: 'tests/a.py', access: 'read' }],
        command: 'python3 -m pytest tests/a.py',
        detail: 'python3 -m pytest tests/a.py',
      },
    })
    expect(await plan('run_tests', { path: '../x' })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^path: /),
    })
  })
})

describe('run_tests', () => {
  const passing = "require('node:test')('keeps', () => {})\n"
  const failing = "require('node:test')('adds', () => require('node:assert').equal(2, 3))\n"
  const project = (text: string) => ({ 'package.json': manifest('node --test'), 'a.test.js': text })

  it('says how many passed, and no more, where all is well', async () => {
    const { call } = await workbench(project(passing))
    expect(await call('run_tests', {})).toEqual({
      ok: true,
      content: expect.stringMatching(/^passed: 1 passed, 0 failed, 0 skipped in [\d.]+ s\ncommand: npm test$/),
    })
  })

  it('says what failed and why', async () => {
    const { call } = await workbench(project(passing + failing))
    const { ok, content } = (await call('run_tests', {})) as { ok: boolean; content: string }
    expect(ok).toBe(false)
    expect(content).toMatch(
      /^failed \(exit code 1\): 1 passed, 1 failed, 0 skipped in [\d.]+ s\ncommand: npm test\n\nfailed: adds\n/,
    )
    expect(content).toContain('2 == 3')
  })

  it('believes the exit code, whatever the output says', async () => {
    const run = async (command: string) => {
      const { call } = await workbench(
        { lie: '# tests 3\n# pass 3\n# fail 0\n', honest: '# tests 1\n# pass 0\n# fail 1\n' },
        { tools: { tests: { command } } },
      )
      const { ok, content } = (await call('run_tests', {})) as { ok: boolean; content: string }
      return [ok, content.split('\n')[0]?.replace(/ in [\d.]+ s/, '')]
    }
    expect(await run('cat lie; exit 3')).toEqual([
      false,
      'failed (exit code 3): 3 passed, 0 failed, 0 skipped; no test is said to have failed, the command did',
    ])
    expect(await run('cat lie; kill -9 $$')).toEqual([
      false,
      expect.stringMatching(/^failed \(ended by signal SIGKILL\)/),
    ])
    expect(await run('cat honest')).toEqual([
      true,
      'passed: 0 passed, 1 failed, 0 skipped; the exit code is 0 all the same',
    ])
    expect(await run('echo hello')).toEqual([true, 'passed; the result could not be parsed (exit code 0)'])
    expect(await run('echo hello; exit 1')).toEqual([false, 'failed (exit code 1); the result could not be parsed'])
  })

  it('shows the end of an output that it cannot make out', async () => {
    const { call } = await workbench({}, { tools: { tests: { command: 'seq 10000; exit 1' } } })
    const { content } = (await call('run_tests', {})) as { content: string }
    expect(content).toMatch(/the last 6,000 characters of the output:\n[\s\S]*\n10000$/)
    expect(content.length).toBeLessThan(6300)
  })

  it('ends at its timeout, and stops when the call is cancelled', async () => {
    const { call, abort } = await workbench({}, { tools: { tests: { command: 'echo start; sleep 20' } } })
    expect(await call('run_tests', { timeout_ms: 1000 })).toEqual({
      ok: false,
      content: expect.stringMatching(/^failed \(timed out after 1 s/),
    })
    setTimeout(() => abort.abort(), 100)
    expect(await call('run_tests', {})).toEqual({ ok: false, content: expect.stringMatching(/^failed \(stopped/) })
  })

  it('runs inside the fence that commands are in, and so does run_command', async () => {
    const fence: Fence = { root: '/', write_paths: [['**']], read_paths: [['**']], hidden: [], network: false }
    const specs: CommandSpec[] = []
    const { context, call } = await workbench(project(passing), { context: { fence } })
    const real = context.processes
    // What is handed to the processes is what counts here; that it holds is the sandbox's own test.
    context.processes = {
      run: (spec) => {
        specs.push(spec)
        const { fence: _, ...unfenced } = spec
        return real.run({ ...unfenced, command: 'true' })
      },
    }
    await call('run_tests', {})
    await call('run_command', { command: 'ls' })
    expect(specs.map(({ command, fence }) => [command, fence])).toEqual([
      ['npm test', fence],
      ['ls', fence],
    ])
  })
})
