import { type Decision, matchesGlob, nearest, parseRule, plain, type Rule } from '../../domain/index.js'
import { workspacePathFault } from './paths.js'
import type { ToolName } from './surroundings.js'

export type NameFault = { message: string; nearest: string | null }

/** A rule as written, under the tool's own name: an alias left in it would match no call, and deny nothing. */
export function readRule(
  decision: Decision,
  text: string,
  tools: readonly ToolName[],
): { ok: true; rule: Rule } | { ok: false; fault: NameFault } {
  const parsed = parseRule(decision, text)
  if (!parsed.ok) return { ok: false, fault: { message: parsed.message, nearest: null } }
  const { rule } = parsed
  const found = readTool(rule.tool, tools)
  if (!found.ok) return found
  const message = patternFault(rule, found.name)
  if (message !== null) return { ok: false, fault: { message, nearest: null } }
  return { ok: true, rule: { ...rule, tool: found.name } }
}

/** Commands are matched word by word, everything else by path. A pattern that can match nothing is a mistake. */
function patternFault({ tool, pattern }: Rule, name: string): string | null {
  if (pattern === null) return null
  if (isMcpName(name)) return `"${tool}(${pattern})": tools of MCP servers have no patterns: write ${tool}`
  if (!matchesName(name, COMMAND_TOOL)) {
    if (pattern.includes('://')) return `"${pattern}" has a scheme: write addresses without it, as in example.org/**`
    return workspacePathFault(pattern)
  }
  // Elsewhere `Bash(rm:*)` means `rm` and anything after it; here it would be a program named `rm:…`.
  if (tool !== name && pattern.endsWith(':*')) return `"${tool}(${pattern})": write ${name}(${pattern.slice(0, -2)} *)`
  // A line is taken apart before rules are asked, so that no command has an operator among its words.
  const operator = pattern.split(/\s+/).find((word) => /^(?:[|&<>;]+|\d?>.*)$|;$/.test(word))
  if (operator !== undefined) {
    return `"${tool}(${pattern})" can match nothing: a rule is about one command, and ${operator} is part of none`
  }
  return null
}

/** Which tools a server has is known only once it runs, so their names are taken as they are. */
export function isMcpName(name: string): boolean {
  return name.startsWith('mcp__')
}

/** Whether a name or a pattern can mean tools of servers: what stands before the first * decides. */
export function mayNameServerTools(name: string): boolean {
  return isMcpName(name) || (name.includes('*') && 'mcp__'.startsWith(name.slice(0, name.indexOf('*'))))
}

/** A tool's own name for a name, an alias or a pattern such as `git_*`. */
export function readTool(
  name: string,
  tools: readonly ToolName[],
): { ok: true; name: string } | { ok: false; fault: NameFault } {
  const own = ownName(name, tools)
  if (own !== null) return { ok: true, name: own }
  const names = tools.map((tool) => tool.name)
  const near = nearest(name, names)
  const hint = near === null ? `known tools: ${names.join(', ')}` : `did you mean "${near}"?`
  return { ok: false, fault: { message: `unknown tool "${name}": ${hint}`, nearest: near } }
}

/** The tools that a list of names, aliases and patterns stands for, in the order in which they are known. */
export function toolsNamed(names: readonly string[], tools: readonly ToolName[]): string[] {
  const wanted = names.map((name) => ownName(name, tools))
  return tools.map((tool) => tool.name).filter((name) => wanted.some((own) => own !== null && matchesName(own, name)))
}

function ownName(name: string, tools: readonly ToolName[]): string | null {
  if (isMcpName(name)) return name
  if (name.includes('*')) return tools.some((tool) => matchesName(name, tool.name)) ? name : null
  const key = plain(name)
  const known = tools.find((tool) => plain(tool.name) === key)
  return (known ?? tools.find((tool) => tool.aliases?.some((alias) => plain(alias) === key)))?.name ?? null
}

const COMMAND_TOOL = 'run_command'

function matchesName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.includes('*') && matchesGlob(pattern, name))
}
