import { type AgentMemory, type Contract, type Message, NO_USAGE, PROGRAM } from '../../domain/index.js'
import type { Model, ModelAnswer } from '../../models/index.js'
import { createToolRegistry, type Tool, type ToolRegistry } from '../../tools/index.js'

/**
 * A program in the place of a root agent's model: it makes one call, with the order that its task ends with, and says
 * what came of it. It is asked like a model and its answers are logged like a model's, so that what it hands out is run,
 * limited, resumed and replayed like everything else.
 */
export function program(
  name: string,
  tool: string,
  ending: (result: { content: string; is_error: boolean }) => string,
): Model {
  return {
    name: `${PROGRAM}/${name}`,
    window: null,
    price: () => 0,
    unmetered: true,
    generate: async ({ messages }) => answer(messages, { name, tool, ending }),
  }
}

type Program = { name: string; tool: string; ending: (result: { content: string; is_error: boolean }) => string }

function answer(messages: readonly Message[], { name, tool, ending }: Program): ModelAnswer {
  const [task] = messages
  const said = {
    ok: true,
    model: name,
    usage: NO_USAGE,
    counted: true,
    cost_usd: 0,
    finish_reason: 'stop',
  } as const
  if (messages.at(-1) === task) {
    const args = task?.role === 'user' ? orderIn(task.content) : ''
    return { ...said, parts: [{ type: 'tool_call', wire_id: tool, tool, args }] }
  }
  const [result = { content: '', is_error: true }] = resultsIn(messages)
  return { ...said, parts: [{ type: 'text', text: ending(result) }] }
}

export function resultsIn(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
}

/** What a program's run is about in one line, and the order itself as it was given, which ends with `max_concurrent`. */
export function orderTask<O extends { max_concurrent: number }>(title: string, order: O): string {
  const { max_concurrent, ...rest } = order
  return `${title}\n\n${JSON.stringify({ ...rest, max_concurrent })}`
}

export function orderIn(task: string): string {
  return task.slice(task.indexOf('\n\n') + 2)
}

/** Whether a task may be such an order: all of them are, and what a person writes is hardly ever. */
export function isLikeOrder(task: string): boolean {
  return AT_ONCE.test(task.slice(-40))
}

const AT_ONCE = /"max_concurrent":(\d+)\}$/

/**
 * Into how many parts that which a program may spend is divided, for tasks that ask for none: as many as are at work at
 * once. Read from the end of the order, because all of it may be long and this is asked for each of the tasks.
 */
export function partsOf({ task }: AgentMemory): number {
  return Number(AT_ONCE.exec(task.slice(-40))?.[1] ?? 1)
}

export function isProgram({ model }: Contract): boolean {
  return model.provider === PROGRAM
}

/** Tools for such a root agent. No other one has the call. */
export function withTool(registry: ToolRegistry, tool: Tool): ToolRegistry {
  const own = createToolRegistry([tool])
  return {
    get: (name) => own.get(name) ?? registry.get(name),
    names: () => [...registry.names(), ...own.names()],
    definitions: (names, limits) => [...registry.definitions(names, limits), ...own.definitions(names, limits)],
  }
}
