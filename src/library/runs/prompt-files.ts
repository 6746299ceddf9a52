import { type Authority, permits } from '../../domain/index.js'
import type { Workspace } from '../../host/index.js'
import { blobDigest } from '../../store/index.js'

/** Runs whose files are remembered, those that were asked for last. */
const RUNS_KEPT = 50

/** A file for a prompt as it was when it was read. `path` is where it really is, null where that is no place here. */
export type PromptFile =
  | { ok: true; path: string; text: string; digest: string }
  | { ok: false; path: string | null; message: string }

/** Files by the names that somebody gave them. */
type Files = ReadonlyMap<string, PromptFile>

/** Whose prompt a file is for. */
export type Reader = { authority: Authority; depth: number }

/**
 * What the files that sub-agents' prompts are made of had in them when their run began, or went on. An agent that
 * changes one of them must not speak through it to those that are spawned later.
 */
export class PromptFiles {
  readonly #runs = new Map<string, Promise<Files>>()

  /** Reads them anew. */
  read(run_id: string, workspace: Workspace, names: readonly string[]): Promise<Files> {
    return this.#remember(run_id, readAll(workspace, names))
  }

  of(run_id: string, workspace: Workspace, names: () => readonly string[]): Promise<Files> {
    return this.#remember(run_id, this.#runs.get(run_id) ?? readAll(workspace, names()))
  }

  #remember(run_id: string, files: Promise<Files>): Promise<Files> {
    this.#runs.delete(run_id)
    this.#runs.set(run_id, files)
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > RUNS_KEPT && oldest !== undefined) this.#runs.delete(oldest)
    return files
  }
}

async function readAll(workspace: Workspace, names: readonly string[]): Promise<Files> {
  const distinct = [...new Set(names)]
  return new Map(
    await Promise.all(distinct.map(async (name) => [name, await readPromptFile(workspace, name)] as const)),
  )
}

export async function readPromptFile(workspace: Workspace, name: string): Promise<PromptFile> {
  const resolved = await workspace.resolve(name)
  if (!resolved.ok) return { ok: false, path: null, message: resolved.message }
  const { path } = resolved
  // What was judged is what is read, wherever a link leads by then.
  const file = await workspace.exact().readText(path)
  return file.ok
    ? { ok: true, path, text: file.text, digest: blobDigest(file.text) }
    : { ok: false, path, message: file.message }
}

/** A file as far as an agent may have it in its prompt: what it could not read, nobody tells it either. */
export function fileFor(
  { authority, depth }: Reader,
  name: string,
  file: PromptFile,
): Extract<PromptFile, { ok: true }> | { ok: false; message: string } {
  if (file.path === null) return file
  const paths = [{ path: file.path, access: 'read' as const }]
  const reading = { ...authority, allowed_tools: ['read_file'] }
  const { decision, reason } = permits(reading, { tool: 'read_file', effect: 'read', paths, depth })
  if (decision === 'allow') return file
  const how = decision === 'ask' ? ' without asking' : ''
  return { ok: false, message: `${JSON.stringify(name)} may not be read${how}: ${reason}` }
}
