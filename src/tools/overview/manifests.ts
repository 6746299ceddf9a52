import { posix } from 'node:path'
import { oneLine } from '../text.js'

/** What a file tells about the project, in one line; null where it is no such file or tells nothing. */
type Reader = (text: string) => string | null

const MAX_NAMES = 24

const json: Reader = (text) => {
  const manifest = parse(text)
  if (!manifest) return null
  const { name, version, scripts, bin, exports, main, workspaces, tasks } = manifest
  const parts = [
    typeof name === 'string' ? `${name}${typeof version === 'string' ? ` ${version}` : ''}` : null,
    named('workspaces', Array.isArray(workspaces) ? workspaces.map(String) : []),
    typeof bin === 'string' ? `bin: ${bin}` : named('bin', keys(bin)),
    typeof exports === 'string' ? `exports: ${exports}` : named('exports', keys(exports)),
    typeof main === 'string' && exports === undefined ? `main: ${main}` : null,
    named('scripts', keys(scripts)),
    named('tasks', keys(tasks)),
  ]
  return joined(parts)
}

const toml: Reader = (text) => {
  const section = (header: string) => text.split(/^(?=\[)/m).find((part) => part.startsWith(`[${header}]`)) ?? ''
  const project = section('project') || section('tool.poetry') || section('package')
  const [, name] = /^name\s*=\s*["']([^"'\n]+)/m.exec(project) ?? []
  const scripts = section('project.scripts') || section('tool.poetry.scripts')
  const members = /members\s*=\s*\[([^\]]*)\]/.exec(section('workspace'))?.[1] ?? ''
  return joined([
    name ?? null,
    named(
      'scripts',
      [...scripts.matchAll(/^["']?([\w.-]+)["']?\s*=/gm)].map((match) => match[1] as string),
    ),
    named(
      'workspace',
      [...members.matchAll(/["']([^"'\n]+)["']/g)].map((match) => match[1] as string),
    ),
  ])
}

const makefile: Reader = (text) => {
  const targets = [...text.matchAll(/^([A-Za-z][\w.-]*)[ \t]*:(?![=:])/gm)].map((match) => match[1] as string)
  return named('targets', [...new Set(targets)])
}

const justfile: Reader = (text) =>
  named(
    'recipes',
    [...text.matchAll(/^@?([a-z][\w-]*)[^:=\n]*:(?!=)/gim)].map((match) => match[1] as string),
  )

const goMod: Reader = (text) => /^module\s+(\S+)/m.exec(text)?.[1] ?? null

const nothing: Reader = () => null

const BY_NAME: Record<string, Reader> = {
  'package.json': json,
  'deno.json': json,
  'composer.json': json,
  'pyproject.toml': toml,
  'Cargo.toml': toml,
  'go.mod': goMod,
  Makefile: makefile,
  makefile,
  GNUmakefile: makefile,
  justfile,
  Justfile: justfile,
  ...Object.fromEntries(
    (
      'pnpm-workspace.yaml lerna.json nx.json turbo.json setup.py setup.cfg requirements.txt Pipfile tox.ini pom.xml ' +
      'build.gradle build.gradle.kts settings.gradle settings.gradle.kts Gemfile Rakefile mix.exs CMakeLists.txt ' +
      'meson.build build.zig Package.swift pubspec.yaml stack.yaml dune-project flake.nix Dockerfile compose.yaml ' +
      'docker-compose.yml docker-compose.yaml Procfile go.work WORKSPACE MODULE.bazel'
    )
      .split(' ')
      .map((name) => [name, nothing]),
  ),
}

const BY_PATH =
  /^(?:\.github\/workflows\/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci\/config\.yml|Jenkinsfile|azure-pipelines\.yml|\.travis\.yml|[^/]+\.(?:sln|csproj|cabal|gemspec))$/

const ENTRIES =
  /(?:^|\/)(?:__main__\.py|manage\.py|main\.(?:py|go|rs|c|cc|cpp|ts|js)|cli\.(?:py|ts|js)|app\.py|wsgi\.py|Program\.cs|index\.php|lib\.rs)$|(?:^|\/)src\/index\.[jt]sx?$|(?:^|\/)src\/bin\/[^/]+\.rs$/

/** Files that say what a project is and how it is built. The nearest to the top first. */
export function manifestsIn(paths: readonly string[]): string[] {
  return nearest(paths.filter((path) => BY_PATH.test(path) || Object.hasOwn(BY_NAME, posix.basename(path))))
}

/** Files at which a program begins, as their names tell. */
export function entriesIn(paths: readonly string[]): string[] {
  return nearest(paths.filter((path) => ENTRIES.test(path)))
}

function nearest(paths: string[]): string[] {
  const depth = (path: string) => path.split('/').length
  return paths.sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
}

export function aboutManifest(path: string, text: string): string | null {
  const about = BY_NAME[posix.basename(path)]?.(text) ?? null
  return about === null || about === '' ? null : oneLine(about, 500)
}

export function needsReading(path: string): boolean {
  const reader = BY_NAME[posix.basename(path)]
  return reader !== undefined && reader !== nothing
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function keys(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

function named(what: string, names: string[]): string | null {
  if (names.length === 0) return null
  const more = names.length > MAX_NAMES ? ' …' : ''
  return `${what}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`
}

function joined(parts: (string | null)[]): string | null {
  return parts.filter((part) => part !== null).join('; ') || null
}
