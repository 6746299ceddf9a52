import { posix } from 'node:path'
import type { ToolContext } from '../tool.js'

export type File = { path: string; bytes: number }
export type Language = { name: string; files: number; lines: number; exact: boolean }

const BY_EXTENSION: Record<string, string> = Object.fromEntries(
  Object.entries({
    TypeScript: 'ts tsx mts cts',
    JavaScript: 'js jsx mjs cjs',
    Python: 'py pyi',
    Rust: 'rs',
    Go: 'go',
    Java: 'java',
    Kotlin: 'kt kts',
    Scala: 'scala',
    C: 'c h',
    'C++': 'cc cpp cxx hpp hh hxx',
    'C#': 'cs',
    'F#': 'fs',
    Ruby: 'rb',
    PHP: 'php',
    Swift: 'swift',
    'Objective-C': 'm mm',
    Elixir: 'ex exs',
    Erlang: 'erl hrl',
    Haskell: 'hs',
    OCaml: 'ml mli',
    Clojure: 'clj cljs cljc',
    Lua: 'lua',
    Perl: 'pl pm',
    R: 'r',
    Julia: 'jl',
    Dart: 'dart',
    Zig: 'zig',
    Nim: 'nim',
    Shell: 'sh bash zsh fish',
    PowerShell: 'ps1',
    SQL: 'sql',
    HTML: 'html htm',
    CSS: 'css scss sass less',
    Vue: 'vue',
    Svelte: 'svelte',
    Astro: 'astro',
    Terraform: 'tf',
    Protobuf: 'proto',
    GraphQL: 'graphql gql',
    Markdown: 'md mdx',
  }).flatMap(([name, extensions]) => extensions.split(' ').map((extension) => [extension, name])),
)

/** So many files of a language are read; of more, some, and the rest is reckoned by their size. */
const READ_FILES = 60
const MAX_BYTES = 1024 * 1024

/** Languages by the number of their lines. */
export async function languagesOf(files: readonly File[], context: ToolContext): Promise<Language[]> {
  const groups = new Map<string, File[]>()
  for (const file of files) {
    const name = BY_EXTENSION[posix.extname(file.path).slice(1).toLowerCase()]
    if (name === undefined) continue
    const group = groups.get(name)
    if (group) group.push(file)
    else groups.set(name, [file])
  }
  const languages = await Promise.all([...groups].map(([name, group]) => languageOf(name, group, context)))
  return languages.sort((a, b) => b.lines - a.lines || (a.name < b.name ? -1 : 1))
}

async function languageOf(name: string, files: readonly File[], { workspace, signal }: ToolContext): Promise<Language> {
  const step = Math.max(1, files.length / READ_FILES)
  const chosen = Array.from(
    { length: Math.min(files.length, READ_FILES) },
    (_, i) => files[Math.floor(i * step)] as File,
  )
  let lines = 0
  let bytes = 0
  for (const { path } of chosen) {
    if (signal.aborted) break
    const read = await workspace.readText(path, { max_bytes: MAX_BYTES })
    if (!read.ok) continue
    bytes += read.bytes
    lines += newlines(read.text)
  }
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  const exact = bytes === total
  return { name, files: files.length, lines: exact || bytes === 0 ? lines : Math.round((lines / bytes) * total), exact }
}

function newlines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
