import { lstatSync, readdirSync } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { isProtected, matchesGlob } from '../../domain/index.js'
import type { TreeResult } from '../host.js'
import { fault, TEMPORARY } from '../paths.js'
import { asTreeFault, MAX_LIST, type Private } from './private.js'
import { makeScratch } from './scratch.js'

/** In the syntax of `.gitignore`: ignored files and folders that a worktree needs. */
export const INCLUDE_FILE = '.worktreeinclude'

type Candidate = { path: string; is_folder: boolean }
type Found = {
  /** null: nothing is. */
  paths: string[] | null
  /** Nobody named them. */
  is_usual: boolean
  /** All that git ignores, without what is in ignored folders. */
  ignored: string[]
  notes: string[]
}

/** What the person ignores and names to be included. `git_dir`: that of a worktree, whose index says what is tracked. */
export async function findIncluded(
  own: Private,
  git_dir: string,
  { usual = true }: { usual?: boolean } = {},
): Promise<TreeResult<Found>> {
  const none = { ok: true as const, paths: null, is_usual: false, ignored: [], notes: [] }
  const file = join(own.top, INCLUDE_FILE)
  const stats = await lstat(file).catch(() => null)
  if (stats === null) return usual ? { ...none, paths: usualIn(own), is_usual: true } : none
  if (!stats.isFile()) return { ...none, notes: [`${INCLUDE_FILE} is not a file, and is not heeded`] }
  const text = await readFile(file, 'utf8')
  const patterns = readPatterns(text)
  if (patterns.length === 0) return none
  const listed = await own
    .git({ git_dir, work_tree: own.top })
    .run(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'], { max_output: MAX_LIST })
  if (!listed.ok) return asTreeFault(listed)
  const candidates = listed.stdout
    .split('\0')
    .filter(Boolean)
    .map((path): Candidate => ({ path: path.replace(/\/$/, ''), is_folder: path.endsWith('/') }))
    .filter(isTakeable)

  const below = candidates.flatMap((candidate) => inside(own.top, candidate, patterns))
  const matched = await match(own, text, [...candidates, ...below])
  if (!matched.ok) return matched
  return {
    ok: true,
    paths: outermost(matched.paths),
    is_usual: false,
    ignored: [...candidates, ...below].map(({ path }) => path),
    notes: notesOn(patterns, matched.lines),
  }
}

/** What most commands of a project need and nobody commits. Without the file, these are there. */
const USUAL = ['node_modules', '.venv']

function usualIn({ top, prefix }: Private): string[] | null {
  const places = [...new Set(['', prefix])].flatMap((folder) => USUAL.map((name) => posix.join(folder, name)))
  const there = places.filter((path) => lstatSync(join(top, path), { throwIfNoEntry: false })?.isDirectory())
  return there.length > 0 ? there : null
}

/** A line break or lost bytes in a name cannot be written as a pattern. */
function isTakeable({ path }: Candidate): boolean {
  return !isProtected(`below/${path}`) && !path.includes(TEMPORARY) && !/[\n\uFFFD]/.test(path)
}

type Pattern = { line: number; text: string; parts: string[]; is_negative: boolean }

function readPatterns(text: string): Pattern[] {
  return text
    .split(/\r?\n/)
    .map((line, at) => ({ line: at + 1, text: line.trim() }))
    .filter(({ text: pattern }) => pattern !== '' && !pattern.startsWith('#'))
    .map((pattern) => {
      const plain = pattern.text.replace(/^!/, '').replace(/^\//, '').replace(/\/$/, '')
      return { ...pattern, parts: plain.split('/'), is_negative: pattern.text.startsWith('!') }
    })
}

/**
 * What is in an ignored folder, as far as a pattern names its way in, part by part. `.env` and `**` at the beginning
 * do not: for them all of `node_modules` would have to be read.
 */
function inside(top: string, { path, is_folder }: Candidate, patterns: readonly Pattern[]): Candidate[] {
  if (!is_folder) return []
  const parts = path.split('/')
  const leading = patterns.filter(
    (pattern) =>
      pattern.parts.length > parts.length && parts.every((part, at) => mayMatch(pattern.parts[at] ?? '', part)),
  )
  const wanted = leading.map((pattern) => pattern.parts[parts.length] ?? '')
  if (wanted.length === 0) return []
  return entriesOf(join(top, path))
    .filter(({ name }) => wanted.some((part) => part === '**' || mayMatch(part, name)))
    .map(({ name, is_folder }) => ({ path: `${path}/${name}`, is_folder }))
    .filter(isTakeable)
    .flatMap((entry) => [entry, ...inside(top, entry, patterns)])
}

/** More than git would match: it is asked afterwards. */
function mayMatch(pattern: string, name: string): boolean {
  if (pattern === '**') return false
  return matchesGlob(pattern.replace(/\[[^\]]*\]/g, '?').replace(/\\(.)/g, '$1'), name)
}

function entriesOf(folder: string): { name: string; is_folder: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      is_folder: entry.isDirectory(),
    }))
  } catch {
    return []
  }
}

/** As git itself understands the patterns: they are the only ones of a repository in which nothing else is. */
async function match(
  own: Private,
  text: string,
  candidates: readonly Candidate[],
): Promise<TreeResult<{ paths: string[]; lines: ReadonlySet<number> }>> {
  if (candidates.length === 0) return { ok: true, paths: [], lines: new Set() }
  const scratch = await makeScratch(own)
  try {
    const [git_dir, work_tree] = [join(scratch.folder, 'git'), join(scratch.folder, 'tree')]
    for (const part of ['objects', 'refs']) await mkdir(join(git_dir, part), { recursive: true })
    await writeFile(join(git_dir, 'HEAD'), 'ref: refs/heads/none\n')
    await copyFile(join(own.home, 'config'), join(git_dir, 'config'))
    await mkdir(work_tree)
    await writeFile(join(work_tree, '.gitignore'), text)
    // Patterns that end with a slash are about folders, so there have to be some.
    for (const { path, is_folder } of candidates) if (is_folder) await mkdir(join(work_tree, path), { recursive: true })
    const stdin = candidates.map(({ path }) => `${path}\0`).join('')
    const args = ['-c', 'core.excludesFile=/dev/null', 'check-ignore', '--no-index', '--verbose', '-z', '--stdin']
    const run = await own.git({ git_dir, work_tree }).run(args, { stdin, answers: [1], max_output: MAX_LIST })
    if (!run.ok) return asTreeFault(run)
    return { ok: true, ...readMatches(run.stdout) }
  } catch (error) {
    return fault('failed', `${INCLUDE_FILE} cannot be understood: ${(error as Error).message}`)
  } finally {
    await scratch.remove()
  }
}

/** Where a pattern is, its line, itself and the path, for each. */
function readMatches(text: string): { paths: string[]; lines: Set<number> } {
  const fields = text.split('\0')
  const paths: string[] = []
  const lines = new Set<number>()
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [, line = '', pattern = '', path = ''] = fields.slice(at, at + 4)
    lines.add(Number(line))
    if (!pattern.startsWith('!')) paths.push(path)
  }
  return { paths, lines }
}

/** What is in a folder that is taken as a whole comes with it. */
function outermost(paths: readonly string[]): string[] {
  const taken = new Set(paths)
  const isBelow = (path: string) =>
    path.split('/').some((_, count, parts) => count > 0 && taken.has(parts.slice(0, count).join('/')))
  return [...taken].filter((path) => !isBelow(path)).sort()
}

function notesOn(patterns: readonly Pattern[], lines: ReadonlySet<number>): string[] {
  return patterns
    .filter(({ line, is_negative }) => !is_negative && !lines.has(line))
    .map(({ line, text, parts }) =>
      parts.includes('..')
        ? `${INCLUDE_FILE}:${line}: ${text} leads out of the folder`
        : `${INCLUDE_FILE}:${line}: ${text} matches nothing that git ignores`,
    )
}
