import type { ToolContext } from '../tool.js'
import { type Runner, runnerOf } from './runners.js'

/** A project's way to run its tests, as shell words. */
export type TestCommand = {
  all: string
  /** What the words that select some tests are added to; null: what is run cannot be told, so none can be added. */
  some: { runner: Runner; words: string } | null
  /** The file that says so. */
  from: string
}

type Look = {
  names: ReadonlySet<string>
  read: (path: string) => Promise<string>
  /** Whether there is a file like this, ignored ones left out. */
  has: (path: RegExp) => Promise<boolean>
  /** Names in a folder below, ignored ones too. */
  list: (folder: string) => Promise<string[]>
}
type Detector = (look: Look) => Promise<TestCommand | null>

const MAX_MANIFEST_BYTES = 1024 * 1024
const MAX_FILES = 20_000

export type TestsContext = Pick<ToolContext, 'workspace' | 'mayRead' | 'signal'>

/**
 * Finds the command; null when nothing in the top folder tells. A language's own way goes before a general one. `known`
 * are the files there are, where somebody knows them already.
 */
export async function detectTests(context: TestsContext, known?: readonly string[]): Promise<TestCommand | null> {
  const { workspace, mayRead, signal } = context
  const listing = await workspace.list('.')
  const names = new Set(listing.ok ? listing.entries.map(({ name }) => name).filter(mayRead) : [])
  let paths = known
  const look: Look = {
    names,
    read: async (path) => {
      if (!mayRead(path)) return ''
      const file = await workspace.readText(path, { max_bytes: MAX_MANIFEST_BYTES })
      return file.ok ? file.text : ''
    },
    has: async (name) => {
      if (!paths) {
        const found = await workspace.find('**', { limit: MAX_FILES, signal })
        paths = found.ok ? found.paths.filter(mayRead) : []
      }
      return paths.some((path) => name.test(path))
    },
    list: async (folder) => {
      const below = await workspace.list(folder)
      return below.ok ? below.entries.map(({ name }) => name) : []
    },
  }
  for (const detect of DETECTORS) {
    const found = await detect(look)
    if (found) return found
  }
  return null
}

function command(all: string, runner: Runner | null, from: string, words = all): TestCommand {
  return { all, some: runner === null ? null : { runner, words }, from }
}

/** A command that a person wrote down. */
export function configuredTests(all: string): TestCommand {
  const runner = runnerOf(all)
  return command(all, runner, 'tests.command', runner === 'go' ? all.replace(/ \.\/\.\.\.(?= |$)/g, '') : all)
}

const javascript: Detector = async ({ names, read, has }) => {
  if (!names.has('package.json')) return null
  const manifest = parse(await read('package.json'))
  const script = manifest.scripts?.test
  if (typeof script === 'string' && !script.includes('no test specified')) return packageScript(script, names)
  if (names.has('bun.lock') || names.has('bun.lockb')) return command('bun test', 'bun', 'package.json')
  const installed = { ...manifest.dependencies, ...manifest.devDependencies }
  if ('vitest' in installed) return command('node_modules/.bin/vitest run', 'vitest', 'package.json')
  if ('jest' in installed) return command('node_modules/.bin/jest', 'jest', 'package.json')
  if ('mocha' in installed) return command('node_modules/.bin/mocha', 'mocha', 'package.json')
  return (await has(/\.test\.[mc]?js$/)) ? command('node --test', 'node', 'package.json') : null
}

/** The package manager by its lock file. Only npm needs to be told where its own options end. */
function packageScript(script: string, names: ReadonlySet<string>): TestCommand {
  const runner = runnerOf(script)
  const [all, some] = names.has('pnpm-lock.yaml')
    ? ['pnpm test', 'pnpm test']
    : names.has('yarn.lock')
      ? ['yarn test', 'yarn test']
      : names.has('bun.lock') || names.has('bun.lockb')
        ? ['bun run test', 'bun run test']
        : ['npm test', 'npm test --']
  const [, nodeTest] = /^((?:node|tsx)(?: --?[\w.:/@=-]+(?: (?!-)[\w.:/@-]+)??)* --test)\b/.exec(script) ?? []
  // Node takes options only before the files, and those stand in the script already.
  return command(all, runner, 'package.json', runner === 'node' && nodeTest ? nodeTest : some)
}

const deno: Detector = async ({ names, read }) => {
  const file = ['deno.json', 'deno.jsonc'].find((name) => names.has(name))
  if (file === undefined) return null
  const { tasks } = parse(await read(file))
  return typeof tasks?.test === 'string'
    ? command('deno task test', runnerOf(tasks.test), file)
    : command('deno test', 'deno', file)
}

const python: Detector = async ({ names, read, has, list }) => {
  const manifests = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'setup.py', 'requirements-dev.txt', 'requirements.txt']
  const present = manifests.filter((name) => names.has(name))
  const texts = await Promise.all(present.map(read))
  const own = ['pytest.ini', 'conftest.py'].find((name) => names.has(name))
  const named = present[texts.findIndex((text) => /\bpytest\b/.test(text))]
  const run = names.has('uv.lock')
    ? 'uv run python'
    : names.has('poetry.lock')
      ? 'poetry run python'
      : await interpreter(list)
  const from = own ?? named
  if (from !== undefined) return command(`${run} -m pytest`, 'pytest', from)
  if (await has(/(?:^|\/)conftest\.py$/)) return command(`${run} -m pytest`, 'pytest', 'conftest.py')
  if (!(await has(/(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/))) return null
  return command(`${run} -m unittest`, 'unittest', present[0] ?? 'test_*.py')
}

/** The environment beside the project has what the project needs. */
async function interpreter(list: Look['list']): Promise<string> {
  for (const folder of ['.venv/bin', 'venv/bin']) if ((await list(folder)).includes('python')) return `${folder}/python`
  return 'python3'
}

const cargo: Detector = async ({ names }) =>
  names.has('Cargo.toml') ? command('cargo test', 'cargo', 'Cargo.toml') : null

const go: Detector = async ({ names }) =>
  names.has('go.mod') ? command('go test -v ./...', 'go', 'go.mod', 'go test -v') : null

const java: Detector = async ({ names }) => {
  if (names.has('pom.xml')) return command(`${names.has('mvnw') ? './mvnw' : 'mvn'} -B test`, 'maven', 'pom.xml')
  const build = ['build.gradle', 'build.gradle.kts'].find((name) => names.has(name))
  return build === undefined ? null : command(`${names.has('gradlew') ? './gradlew' : 'gradle'} test`, 'gradle', build)
}

const ruby: Detector = async ({ names }) => {
  const bundle = names.has('Gemfile') ? 'bundle exec ' : ''
  if (names.has('spec') && (names.has('Gemfile') || names.has('.rspec')))
    return command(`${bundle}rspec`, 'rspec', 'spec')
  return names.has('Rakefile') && names.has('test') ? command(`${bundle}rake test`, null, 'Rakefile') : null
}

const php: Detector = async ({ names, read }) => {
  const own = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'].find((name) => names.has(name))
  if (own !== undefined) return command('vendor/bin/phpunit', 'phpunit', own)
  if (!names.has('composer.json')) return null
  return parse(await read('composer.json')).scripts?.test === undefined
    ? null
    : command('composer test', null, 'composer.json')
}

const others: Detector = async ({ names }) => {
  if (names.has('mix.exs')) return command('mix test', 'mix', 'mix.exs')
  const dotnet = [...names].sort().find((name) => /\.(?:sln|slnx|csproj|fsproj|vbproj)$/.test(name))
  return dotnet === undefined ? null : command('dotnet test', 'dotnet', dotnet)
}

const make: Detector = async ({ names, read }) => {
  const file = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => names.has(name))
  if (file === undefined) return null
  return /^test[ \t]*:(?!=)/m.test(await read(file)) ? command('make test', null, file) : null
}

const DETECTORS = [javascript, deno, cargo, go, python, java, ruby, php, others, make]

type Manifest = Partial<Record<'scripts' | 'tasks' | 'dependencies' | 'devDependencies', Record<string, unknown>>>

/** What is no JSON object, or has something else in a place, says nothing. */
function parse(text: string): Manifest {
  try {
    // deno.jsonc may have comments on lines of their own.
    const value: unknown = JSON.parse(text.replace(/^\s*\/\/.*$/gm, '').replace(/^\uFEFF/, ''))
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(Object.entries(value).filter(([, part]) => typeof part === 'object' && part !== null))
  } catch {
    return {}
  }
}
