import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createHost } from '../../src/host/index.js'
import {
  builtinTools,
  DEFAULT_LIMITS,
  type PlanResult,
  type Tool,
  type ToolContext,
  type ToolLimits,
  type ToolOutput,
} from '../../src/tools/index.js'

type Options = {
  /** The part of the folder that is the workspace. */
  under?: string
  limits?: Partial<ToolLimits>
  time_left_ms?: number
  answer?: string | null
  outputs?: Record<string, string>
}

/** Tools at work on real files in a folder of their own, without the pipeline around them. */
export async function workbench(files: Record<string, string | Uint8Array> = {}, options: Options = {}) {
  const top = await mkdtemp(join(tmpdir(), 'retinue-tools-'))
  onTestFinished(() => rm(top, { recursive: true, force: true }))
  const root = join(top, options.under ?? '.')
  await mkdir(root, { recursive: true })
  const put = async (path: string, content: string | Uint8Array) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  for (const [path, content] of Object.entries(files)) await put(path, content)

  const host = createHost()
  const workspace = await host.workspace(root)
  const abort = new AbortController()
  const asked: { text: string; options: string[] }[] = []
  const progress: string[] = []
  const context: ToolContext = {
    workspace,
    processes: host.processes,
    repository: async () => {
      const opened = await host.git.open(root)
      return opened.ok ? opened.repository : null
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    signal: abort.signal,
    time_left_ms: () => options.time_left_ms ?? 60_000,
    mayRead: () => true,
    readOutput: async (call_id) => options.outputs?.[call_id] ?? null,
    askPerson: async (question) => {
      asked.push(question)
      return options.answer ?? null
    },
    onProgress: (text) => void progress.push(text),
  }

  return {
    root,
    context,
    abort,
    asked,
    progress,
    put,
    read: (path: string) => readFile(join(root, path), 'utf8'),
    plan: (name: string, args: object): Promise<PlanResult> => toolNamed(name).plan({ ...args }, context),
    async call(name: string, args: object): Promise<ToolOutput | { refused: string }> {
      const tool = toolNamed(name)
      const planned = await tool.plan({ ...args }, context)
      return planned.ok ? tool.execute({ ...args }, context, planned.plan) : { refused: planned.message }
    },
    git: async (...argv: string[]) => {
      const who = ['-c', 'user.name=T', '-c', 'user.email=t@example.org']
      const spec = { command: ['git', ...who, ...argv], cwd: root, timeout_ms: 20_000, max_output_bytes: 1e6 }
      return (await host.processes.run(spec)).stdout
    },
  }
}

export function toolNamed(name: string): Tool {
  const found = builtinTools().find((tool) => tool.name === name)
  if (!found) throw new Error(`no tool ${name}`)
  return found
}
