import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SRC = resolve(dirname(fileURLToPath(import.meta.url)), '../src')
const WEB = resolve(SRC, '../web/src')

/** Who may import whom, as in the design. `library` is the public face, `src/index.ts`, and what makes it. */
const ROOMS: Record<string, string[]> = {
  domain: [],
  host: ['domain'],
  store: ['host', 'domain'],
  models: ['host', 'domain'],
  tools: ['host', 'domain'],
  workspaces: ['host', 'domain'],
  control: ['host', 'domain'],
  runtime: ['store', 'models', 'tools', 'workspaces', 'control', 'host', 'domain'],
  planning: ['runtime', 'store', 'models', 'tools', 'workspaces', 'control', 'host', 'domain'],
  engine: ['planning', 'runtime', 'store', 'models', 'tools', 'workspaces', 'control', 'host', 'domain'],
  testing: ['models', 'store', 'host', 'domain'],
  library: ['engine', 'planning', 'runtime', 'store', 'models', 'tools', 'workspaces', 'control', 'host', 'domain'],
  cli: ['library', 'server'],
  server: ['library'],
}

/**
 * Node modules that touch the machine. Only the host does; but the store's file is its own business, the models room
 * speaks to providers, the command line has the terminal, and the server is asked over HTTP and has the web app's files.
 */
const MACHINE = /^node:(fs|child_process|net|http|https|os|dgram|tls|worker_threads|process)/
const MAY_TOUCH: Record<string, RegExp> = {
  host: /./,
  cli: /./,
  store: /^node:fs/,
  models: /^node:https?$/,
  server: /^node:(http|net|os|fs)/,
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (f) => f.endsWith('.ts') && !f.endsWith('.test.ts'),
)

function room(file: string): string {
  const [first, ...rest] = relative(SRC, file).split('/')
  return rest.length === 0 ? 'library' : (first as string)
}

const imports = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8')
  const found = [...text.matchAll(/(?<!['\w])(?:from|import)\b\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string)
  return found.map((specifier) => ({ file, specifier }))
})

it('every import goes in an allowed direction', () => {
  const wrong = imports.filter(({ file, specifier }) => {
    if (!specifier.startsWith('.')) return false
    const from = room(join(SRC, file))
    const target = resolve(SRC, dirname(file), specifier)
    const to = room(target)
    if (from === to) return false
    return !ROOMS[from]?.includes(to)
  })
  expect(wrong).toEqual([])
})

// The conformance suite is the one other door: it needs vitest, which nobody who uses the store has.
it('a room is entered through its index', () => {
  const wrong = imports.filter(({ file, specifier }) => {
    if (!specifier.startsWith('.')) return false
    const target = resolve(SRC, dirname(file), specifier)
    return room(join(SRC, file)) !== room(target) && !/^([^/]+\/)?(index|conformance)\.js$/.test(relative(SRC, target))
  })
  expect(wrong).toEqual([])
})

it('the domain imports zod and nothing else from outside', () => {
  const outside = imports.filter(({ file, specifier }) => file.startsWith('domain/') && !specifier.startsWith('.'))
  expect(new Set(outside.map(({ specifier }) => specifier))).toEqual(new Set(['zod']))
})

it('only the host touches the machine', () => {
  const wrong = imports.filter(
    ({ file, specifier }) => MACHINE.test(specifier) && !MAY_TOUCH[room(join(SRC, file))]?.test(specifier),
  )
  expect(wrong).toEqual([])
})

it('only the models room imports a provider', () => {
  const wrong = imports.filter(({ file, specifier }) => specifier.startsWith('@ai-sdk/') && !file.startsWith('models/'))
  expect(wrong).toEqual([])
})

it('the command line does not load the server before it serves', () => {
  const eager = files
    .filter((file) => file.startsWith('cli/'))
    .filter((file) =>
      /^(import|export) (?!type ).*'[./]+server\/index\.js'/m.test(readFileSync(join(SRC, file), 'utf8')),
    )
  expect(eager).toEqual([])
})

it('the web app imports the domain, types of the wire, its own files and packages, and nothing else', () => {
  const { devDependencies } = JSON.parse(readFileSync(resolve(SRC, '../package.json'), 'utf8'))
  const packages = Object.keys(devDependencies)
  const wrong = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(WEB, file), 'utf8')
      const found = [...text.matchAll(/(?:^(?:import|export)( type)?\s[^'=]*?\sfrom |^import |\bimport\()'([^']+)'/gm)]
      return found.map(([, type, specifier = '']) => ({ file, specifier, is_type: type !== undefined }))
    })
    .filter(({ file, specifier, is_type }) => {
      if (specifier === '#domain' || (specifier === '#wire' && is_type)) return false
      if (specifier.startsWith('.')) return !resolve(WEB, dirname(file), specifier).startsWith(`${WEB}/`)
      return !packages.some((name) => specifier === name || specifier.startsWith(`${name}/`))
    })
  expect(wrong).toEqual([])
})
