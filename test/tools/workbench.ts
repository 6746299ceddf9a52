import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { NOTHING_TO_REDACT } from '../../src/domain/index.js'
import { createHost } from '../../src/host/index.js'
import {
  type BuiltinOptions,
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
  /** Settings of the tools that have some. */
  tools?: BuiltinOptions
  context?: Partial<ToolContext>
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
    fence: null,
    http: host.http,
    redactor: NOTHING_TO_REDACT,
    repository: async () => {
      const opened = await host.git.open(root)
      return opened.ok ? opened.repository : null
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    signal: abort.signal,
    time_left_ms: () => options.time_left_ms ?? 60_000,
    mayRead: () => true,
    readOutput: async (call_id) => options.outputs?.[call_id] ?? null,
    call_id: 'c1',
    delegation: null,
    askPerson: async (question) => {
      asked.push(question)
      return options.answer ?? null
    },
    onProgress: (text) => void progress.push(text),
    ...options.context,
  }

  return {
    root,
    context,
    abort,
    asked,
    progress,
    put,
    read: (path: string) => readFile(join(root, path), 'utf8'),
    plan: (name: string, args: object): Promise<PlanResult> =>
      toolNamed(name, options.tools).plan({ ...args }, context),
    async call(name: string, args: object): Promise<ToolOutput | { refused: string }> {
      const tool = toolNamed(name, options.tools)
      const exact = { ...context, workspace: workspace.exact() }
      const planned = await tool.plan({ ...args }, context)
      return planned.ok ? tool.execute({ ...args }, exact, planned.plan) : { refused: planned.message }
    },
    git: async (...argv: string[]) => {
      const who = ['-c', 'user.name=T', '-c', 'user.email=t@example.org']
      const spec = { command: ['git', ...who, ...argv], cwd: root, timeout_ms: 20_000, max_output_bytes: 1e6 }
      return (await host.processes.run(spec)).stdout
    },
  }
}

export function toolNamed(name: string, options?: BuiltinOptions): Tool {
  const found = builtinTools(options).find((tool) => tool.name === name)
  if (!found) throw new Error(`no tool ${name}`)
  return found
}

/** Every tool there can be. */
export function allTools(): Tool[] {
  const search = { type: 'searxng', url: 'http://localhost:8888' } as const
  const skill = { name: 'one', folder: '/none', files: null as never }
  return builtinTools({ web: { allow_private: [], search }, skills: [skill] })
}
