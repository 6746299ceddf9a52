import type { ToolDefinition } from '../domain/index.js'
import type { Tool, ToolLimits } from './tool.js'

export type ToolRegistry = {
  get: (name: string) => Tool | null
  names: () => string[]
  /** What a model is told about these tools. In the registry's order whatever the order of names, so that the same
   * tools always give the same bytes. Names that are not registered are left out. */
  definitions: (names: readonly string[], limits: ToolLimits) => ToolDefinition[]
}

export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  if (byName.size !== tools.length) throw new Error('two tools have the same name')
  return {
    get: (name) => byName.get(name) ?? null,
    names: () => [...byName.keys()],
    definitions: (names, limits) => {
      const wanted = new Set(names)
      return tools
        .filter((tool) => wanted.has(tool.name))
        .map((tool) => ({ name: tool.name, description: tool.description(limits), parameters: tool.parameters() }))
    },
  }
}
