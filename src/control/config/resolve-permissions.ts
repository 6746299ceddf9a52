import { type Decision, NETWORKS, type Network, type Rule } from '../../domain/index.js'
import type { Config } from './schema.js'
import type { ToolName } from './surroundings.js'
import { isMcpName, readRule, toolsNamed } from './tools.js'

export type ResolvedPermissions = {
  /** Of all files, under the tools' own names. */
  rules: Rule[]
  /** Layers of globs: a path must match in each of them. At least one layer. */
  read_paths: string[][]
  write_paths: string[][]
  /** The own names of the tools that are there without any server. */
  tools: string[]
  /** Layers of patterns: the tool of a server must match in each of them. No layer: all do. */
  mcp_tools: string[][]
  /** null: nobody said. */
  network: Network | null
  /** null: all. */
  mcp_servers: string[] | null
  skills: string[] | null
}

/** Nothing may widen: rules add up, paths and patterns become layers, names intersect, the narrowest network holds. */
export function resolvePermissions(
  files: readonly Config['permissions'][],
  tools: readonly ToolName[],
): ResolvedPermissions {
  const said = files.filter((file) => file !== undefined)
  const list = (key: 'read_paths' | 'write_paths' | 'tools' | 'mcp_servers' | 'skills') =>
    said.map((file) => file[key]).filter((names) => names !== undefined)
  const rules = (decision: Decision) => said.flatMap((file) => file[decision] ?? [])
  const named = list('tools')
  return {
    rules: DECISIONS.flatMap((decision) => read(decision, rules(decision), tools)),
    read_paths: layers(list('read_paths')),
    write_paths: layers(list('write_paths')),
    tools: tools.map((tool) => tool.name).filter((name) => named.every((l) => toolsNamed(l, tools).includes(name))),
    mcp_tools: named.map((names) => names.filter((name) => isMcpName(name) || name.includes('*'))),
    network: NETWORKS.find((network) => said.some((file) => file.network === network)) ?? null,
    mcp_servers: common(list('mcp_servers')),
    skills: common(list('skills')),
  }
}

const DECISIONS = ['deny', 'ask', 'allow'] as const

function read(decision: Decision, texts: readonly string[], tools: readonly ToolName[]): Rule[] {
  return [...new Set(texts)].map((text) => {
    const rule = readRule(decision, text, tools)
    // The schema refuses what cannot be read, so files and flags have been through it.
    if (!rule.ok) throw new Error(rule.fault.message)
    return rule.rule
  })
}

function layers(given: string[][]): string[][] {
  return given.length === 0 ? [['**']] : given
}

function common(lists: readonly string[][]): string[] | null {
  const [first, ...others] = lists
  return first ? [...new Set(first)].filter((name) => others.every((list) => list.includes(name))) : null
}
