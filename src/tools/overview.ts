import { posix } from 'node:path'
import { z } from 'zod'
import { countInWords, plural } from '../domain/index.js'
import { type File, languagesOf } from './overview/languages.js'
import { aboutManifest, entriesIn, manifestsIn, needsReading } from './overview/manifests.js'
import { treeOf } from './overview/tree.js'
import { plannedPath, planPath } from './paths.js'
import { findTests, type RunTestsSettings } from './run_tests.js'
import { cutLine, head, size } from './text.js'
import { defineTool, type Tool, type ToolContext } from './tool.js'

const MAX_FILES = 20_000
const MAX_CHARS = 6000
const MAX_MANIFESTS = 15
const TREE_LINES = 50
const COMMITS = 200
const MAX_MANIFEST_BYTES = 1024 * 1024
const LISTED_AT_ONCE = 16

export function overview(tests: RunTestsSettings): Tool {
  return defineTool({
    name: 'overview',
    effect: 'read',
    repeatable: true,
    description: () =>
      'The shape of a repository in one page: languages, manifests, entry points, test command, folders, largest and ' +
      'most changed files. A good first call.',
    parameters: z.strictObject({
      path: z.string().optional().describe('folder; default: the workspace'),
    }),
    plan: (args, context) => planPath(context, args.path || '.', 'read', (path) => `overview of ${path}`),
    async execute(_args, context, plan) {
      const under = plannedPath(plan)
      const found = await context.workspace.find('**', { under, limit: MAX_FILES, signal: context.signal })
      if (!found.ok) return { ok: false, content: found.message }
      const paths = found.paths.filter(context.mayRead)
      if (paths.length === 0) return { ok: true, content: `[there are no files in ${under}]` }
      const prefix = under === '.' ? '' : `${under}/`
      const inner = paths.map((path) => path.slice(prefix.length))
      const [files, testing, changed] = await Promise.all([
        sizesOf(paths, context),
        under === '.' ? findTests(tests, context, paths) : null,
        changedFiles(new Set(paths), context),
      ])
      const sections = [
        heading(under, paths, found.more),
        await languages(files, context),
        await manifests(inner, prefix, context),
        list('Entry points', entriesIn(inner).slice(0, 12)),
        testing ? `Tests (run_tests): ${testing.all}, as ${testing.from} says` : '',
        docs(inner),
        `Folders:\n${treeOf(inner, TREE_LINES).join('\n')}`,
        largest(files),
        changed,
      ]
      const files_read = manifestsIn(inner).slice(0, MAX_MANIFESTS).filter(needsReading)
      return { ok: true, content: page(sections), files_read: files_read.map((path) => `${prefix}${path}`) }
    },
  })
}

function heading(under: string, paths: string[], more: boolean): string {
  const folders = new Set(paths.map((path) => posix.dirname(path))).size
  const all = more ? `the first ${countInWords(MAX_FILES)} files` : plural(paths.length, 'file')
  return `${under === '.' ? 'Workspace' : under}: ${all} in ${plural(folders, 'folder')}, ignored ones left out`
}

/** Folder by folder, a few at a time. */
async function sizesOf(paths: readonly string[], { workspace, signal }: ToolContext): Promise<File[]> {
  const folders = [...new Set(paths.map((path) => posix.dirname(path)))]
  const bytes = new Map<string, number>()
  for (let i = 0; i < folders.length && !signal.aborted; i += LISTED_AT_ONCE) {
    const batch = folders.slice(i, i + LISTED_AT_ONCE)
    const listings = await Promise.all(batch.map((folder) => workspace.list(folder)))
    for (const [j, listing] of listings.entries()) {
      if (!listing.ok) continue
      for (const entry of listing.entries) bytes.set(posix.join(batch[j] as string, entry.name), entry.bytes)
    }
  }
  return paths.map((path) => ({ path, bytes: bytes.get(path) ?? 0 }))
}

async function languages(files: File[], context: ToolContext): Promise<string> {
  const found = (await languagesOf(files, context)).slice(0, 10)
  return list(
    'Languages',
    found.map(
      ({ name, files, lines, exact }) =>
        `${name} ${plural(files, 'file')}, ${exact ? '' : 'about '}${plural(lines, 'line')}`,
    ),
    '; ',
  )
}

async function manifests(paths: string[], prefix: string, { workspace }: ToolContext): Promise<string> {
  const found = manifestsIn(paths)
  const lines = await Promise.all(
    found.slice(0, MAX_MANIFESTS).map(async (path) => {
      if (!needsReading(path)) return `- ${path}`
      const file = await workspace.readText(`${prefix}${path}`, { max_bytes: MAX_MANIFEST_BYTES })
      const about = file.ok ? aboutManifest(path, file.text) : null
      return about === null ? `- ${path}` : `- ${path}: ${about}`
    }),
  )
  if (found.length > MAX_MANIFESTS) lines.push(`- and ${countInWords(found.length - MAX_MANIFESTS)} more`)
  return lines.length === 0 ? '' : `Manifests:\n${lines.join('\n')}`
}

function docs(paths: string[]): string {
  const own = paths.filter((path) => /^[^/]+\.(?:md|rst|adoc)$/i.test(path)).slice(0, 12)
  const folders = ['docs', 'doc', 'documentation'].flatMap((folder) => {
    const files = paths.filter((path) => path.startsWith(`${folder}/`)).length
    return files === 0 ? [] : [`${folder}/ (${plural(files, 'file')})`]
  })
  return list('Docs', [...own, ...folders])
}

function largest(files: File[]): string {
  const sorted = [...files].sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1)).slice(0, 8)
  return list(
    'Largest',
    sorted.map(({ path, bytes }) => `${path} (${size(bytes)})`),
  )
}

async function changedFiles(present: ReadonlySet<string>, context: ToolContext): Promise<string> {
  const repository = await context.repository()
  const touched = await repository?.touched({ commits: COMMITS })
  if (!touched?.ok) return ''
  const commits = new Map<string, number>()
  for (const path of touched.paths) if (present.has(path)) commits.set(path, (commits.get(path) ?? 0) + 1)
  const latest = [...commits.keys()].slice(0, 8)
  const often = [...commits].filter(([, n]) => n > 1).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return [
    list('Changed last', latest),
    list(
      `Changed most in the last ${COMMITS} commits`,
      often.slice(0, 8).map(([path, n]) => `${path} (${n})`),
    ),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function list(what: string, entries: string[], separator = ', '): string {
  return entries.length === 0 ? '' : `${what}: ${entries.join(separator)}`
}

function page(sections: string[]): string {
  const lines = sections.filter((section) => section !== '').flatMap((section) => section.split('\n'))
  const text = lines.map((line) => cutLine(line, 800)).join('\n')
  return text.length <= MAX_CHARS ? text : `${head(text, MAX_CHARS)}\n[cut; overview of a folder shows more of it]`
}
