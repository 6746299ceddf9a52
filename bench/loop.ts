import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRetinue } from '../src/index.js'
import { createModels } from '../src/models/index.js'
import { builtinTools, createToolRegistry, DEFAULT_LIMITS } from '../src/tools/index.js'
import { measure, type Sample } from './measure.js'

export type LoopCase = { agents: number; calls: number; at_once: number }

const tools = createToolRegistry(builtinTools()).definitions(['read_file'], DEFAULT_LIMITS)
const TOOLS = tools.map(({ name, description, parameters }) => ({
  type: 'function',
  function: { name, description, parameters },
}))

/** What the same work costs when nothing is enforced, recorded or survives: fetch, parse, read the file, again. */
async function bareAgent(url: string, cwd: string): Promise<string> {
  const messages: unknown[] = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: 'Read the files' },
  ]
  for (;;) {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: JSON.stringify({ model: 'm', messages, tools: TOOLS, tool_choice: 'auto' }),
    })
    const { choices } = (await response.json()) as Completion
    const { message } = choices[0] as Completion['choices'][0]
    messages.push(message)
    if (!message.tool_calls) return message.content ?? ''
    for (const call of message.tool_calls) {
      const { path } = JSON.parse(call.function.arguments) as { path: string }
      const text = await readFile(join(cwd, path), 'utf8')
      const numbered = text.split('\n').map((line, i) => `${String(i + 1).padStart(5)}\t${line}`)
      messages.push({ role: 'tool', tool_call_id: call.id, content: numbered.join('\n') })
    }
  }
}

type Completion = {
  choices: { message: { content: string | null; tool_calls?: { id: string; function: { arguments: string } }[] } }[]
}

export async function bare(url: string, cwd: string, { agents, at_once }: LoopCase): Promise<Sample> {
  return measure(() => inParallel(agents, at_once, () => bareAgent(url, cwd)))
}

export async function ours(url: string, cwd: string, store: string, { agents, at_once }: LoopCase): Promise<Sample> {
  const providers = { loop: { type: 'openai-compatible' as const, base_url: url } }
  const retinue = await createRetinue({
    cwd,
    store,
    models: createModels({ env: {}, providers }),
    settings: { max_concurrent: at_once, tools: ['read_file'], model: { name: 'loop/m', source: 'user' } },
  })
  try {
    return await measure(() =>
      inParallel(agents, at_once, async () => {
        const result = await retinue.run({ task: 'Read the files' }).result()
        if (result.outcome !== 'completed') throw new Error(`${result.outcome}: ${result.reason}`)
        return result.text
      }),
    )
  } finally {
    await retinue.close()
  }
}

async function inParallel(count: number, at_once: number, work: () => Promise<string>): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const text = await work()
      if (text !== 'Done.') throw new Error(`unexpected answer: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: at_once }, worker))
}
