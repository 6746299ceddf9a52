import { isAbsolute, posix, relative, sep } from 'node:path'
import { z } from 'zod'
import type { Workspace } from '../host/index.js'
import { similarNames } from './similar.js'
import { cutLine, head, linesOf } from './text.js'
import { defineTool, type Tool, type ToolContext, type ToolOutput } from './tool.js'

/** A skill as far as loading it goes. `folder` is absolute and real; `files` are those of the skill, and no others. */
export type LoadableSkill = { name: string; folder: string; files: Workspace }

const MAX_BODY_CHARS = 25_000
const MAX_FILES = 100
const MAX_FOLDERS = 50
const MAX_LINE_CHARS = 2000

export function loadSkill(skills: readonly LoadableSkill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  return defineTool({
    name: 'load_skill',
    effect: 'read',
    repeatable: true,
    description: () => 'Loads the instructions of a skill by its name, or one of its files.',
    parameters: z.strictObject({
      name: z.string().min(1),
      file: z.string().min(1).optional().describe('a file of the skill, by its path in the skill'),
    }),
    async plan(args) {
      const skill = byName.get(args.name)
      if (!skill) return { ok: false, message: unknown(args.name, [...byName.keys()]) }
      const what = args.file === undefined ? '' : `, file ${args.file}`
      return { ok: true, plan: { summary: `load the skill ${skill.name}${what}`, paths: [], skill: skill.name } }
    },
    async execute(args, context) {
      const skill = byName.get(args.name)
      if (!skill) return { ok: false, content: unknown(args.name, [...byName.keys()]) }
      return args.file === undefined ? instructions(skill, context) : fileOf(skill, args.file, context)
    },
  })
}

async function instructions(skill: LoadableSkill, context: ToolContext): Promise<ToolOutput> {
  const read = await skill.files.readText('SKILL.md', { max_bytes: context.limits.read_bytes })
  if (!read.ok) return { ok: false, content: `the skill ${skill.name} cannot be read any more: ${read.message}` }
  const text = withoutHeader(read.text)
  const rest = `[cut here; all of it: load_skill ${JSON.stringify({ name: skill.name, file: 'SKILL.md' })}]`
  const body = text.length > MAX_BODY_CHARS ? `${head(text, MAX_BODY_CHARS)}\n${rest}` : text
  const lines = [`# Skill ${skill.name}`, '', body || '[it says nothing]', ...(await beside(skill, context))]
  return { ok: true, content: lines.join('\n') }
}

function withoutHeader(text: string): string {
  return text.replace(/^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, '').trim()
}

/** The other files of a skill, and how they are read. */
async function beside(skill: LoadableSkill, context: ToolContext): Promise<string[]> {
  const { paths, more } = await filesOf(skill.files)
  if (paths.length === 0) return []
  const place = placeInside(context.workspace.root, skill.folder)
  const example = JSON.stringify({ name: skill.name, file: paths[0] })
  const how = place === null ? `load_skill ${example}` : 'read_file'
  const shown = paths.map((path) => (place === null ? path : posix.join(place, path)))
  return ['', `Files of the skill (read them with ${how}):`, ...shown, ...(more ? ['[and more]'] : [])]
}

/** Folder by folder: a skill may well be in what .gitignore leaves out. */
async function filesOf(files: Workspace): Promise<{ paths: string[]; more: boolean }> {
  const paths: string[] = []
  const folders = ['.']
  for (let seen = 0; seen < folders.length; seen++) {
    if (seen === MAX_FOLDERS || paths.length > MAX_FILES) return { paths: paths.slice(0, MAX_FILES), more: true }
    const folder = folders[seen] as string
    const listing = await files.list(folder)
    for (const { name, kind } of listing.ok ? listing.entries : []) {
      const path = posix.join(folder, name)
      if (kind === 'directory' && name !== 'node_modules') folders.push(path)
      if (kind === 'file' && path !== 'SKILL.md') paths.push(path)
    }
  }
  return { paths: paths.slice(0, MAX_FILES), more: paths.length > MAX_FILES }
}

/** Files in the workspace are under the rules for paths, so only read_file reads them. */
async function fileOf(skill: LoadableSkill, file: string, context: ToolContext): Promise<ToolOutput> {
  const place = placeInside(context.workspace.root, skill.folder)
  const is = await skill.files.resolve(file)
  if (!is.ok) return { ok: false, content: `file: it is no file of the skill ${skill.name}` }
  if (place !== null && is.path !== 'SKILL.md') {
    return { ok: false, content: `${file} is in the workspace: use read_file with ${posix.join(place, is.path)}` }
  }
  const read = await skill.files.readText(is.path, { max_bytes: context.limits.read_bytes })
  if (!read.ok) return { ok: false, content: `file: ${read.message}` }
  const lines = linesOf(read.text).map((line) => cutLine(line, MAX_LINE_CHARS))
  return { ok: true, content: lines.join('\n') || `[${is.path} is empty]` }
}

/** Where a folder is below another; null when it is not. */
function placeInside(root: string, folder: string): string | null {
  const path = relative(root, folder)
  return path.startsWith('..') || isAbsolute(path) ? null : path.split(sep).join('/')
}

function unknown(name: string, names: string[]): string {
  const [similar] = similarNames(name, names, 1)
  const hint = similar === undefined ? `skills: ${names.join(', ')}` : `did you mean ${similar}?`
  return `name: there is no skill ${JSON.stringify(name)}; ${hint}`
}
