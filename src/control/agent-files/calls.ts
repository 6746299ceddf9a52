import { DELEGATION_TOOLS } from '../../domain/index.js'
import { nearest } from '../config/nearest.js'
import { workspacePathFault } from '../config/paths.js'
import type { ToolName } from '../config/surroundings.js'
import { readRule, readTool } from '../config/tools.js'
import { quoted } from '../plain.js'
import { equalTool, isOthersTool } from './foreign-tools.js'
import { readName } from './name.js'

/** What an entry is for: to let calls through, to refuse them, to have a person asked. */
export type Use = 'allow' | 'deny' | 'ask'

/** An entry of a list of tools, under our names. */
export type ReadCall =
  /** Entries such as `run_command` and `run_command(git diff *)`. */
  | { kind: 'calls'; entries: string[] }
  | { kind: 'everything' }
  /** Handing work on: to agents of these names; null: to any. */
  | { kind: 'spawn'; names: string[] | null }
  | { kind: 'skill'; name: string }
  /** Retinue has no such tool, and is narrower without it. */
  | { kind: 'missing' }
  | { kind: 'fault'; message: string }

const COMMAND = 'run_command'
const FETCH = 'web_fetch'
const SKILL = 'load_skill'
const FILES = ['read_file', 'write_file', 'edit_file', 'list_dir', 'find_files', 'search_files', 'overview', 'git_diff']

/** Where `Bash` is refused, what is done with it elsewhere is meant too. */
const BY_COMMAND = [COMMAND, 'run_tests', 'git_commit']

/** Reads `Read`, `Bash(git diff *)`, `mcp__github__*`, `Agent(reviewer, tester)` and our own names. */
export function readCall(text: string, use: Use, tools: readonly ToolName[]): ReadCall {
  if (text.length > 500) return fault(`${quoted(text)} is longer than 500 characters`)
  if (text === '*') return { kind: 'everything' }
  const [, name = '', inside] = /^([^()]+)(?:\((.*)\))?$/s.exec(text) ?? []
  if (name === '') return fault(`${quoted(text)} is no tool: write its name, or its name with a pattern in parentheses`)
  if (inside?.trim() === '') return fault(`${quoted(text)}: an empty pattern says nothing: write ${quoted(name)} alone`)
  const pattern = inside === undefined || inside.trim() === '*' ? null : inside.trim()
  if (/^mcp_/.test(name)) return serverCall(name, pattern)
  if (isOthersTool(name)) return othersCall(name, use)
  const found = readTool(equalTool(name) ?? name, tools)
  if (!found.ok) return fault(unknownTool(name, tools))
  const tool = found.name
  const is_ours = tool === name
  if (DELEGATION_TOOLS.includes(tool) && !is_ours && tool !== 'spawn_await') return spawnCall(text, pattern, use)
  if (tool === SKILL && pattern !== null) return skillCall(text, pattern, use)
  if (pattern === null)
    return { kind: 'calls', entries: !is_ours && use !== 'allow' && tool === COMMAND ? BY_COMMAND : [tool] }
  const translated = is_ours ? { ok: true as const, pattern } : translate(text, tool, pattern, use)
  if (!translated.ok) return fault(translated.message)
  if (translated.pattern === null) return readCall(name, use, tools)
  if (tool !== COMMAND && tool !== FETCH && !FILES.includes(tool)) {
    return fault(`${quoted(text)}: ${tool} has no patterns: write ${tool} alone`)
  }
  const rule = readRule(use, `${tool}(${translated.pattern})`, tools)
  if (!rule.ok) return fault(rule.fault.message)
  // Elsewhere a rule about editing is one about writing, with whatever tool.
  const all = tool === 'edit_file' && !is_ours && use !== 'allow' ? ['edit_file', 'write_file'] : [tool]
  return { kind: 'calls', entries: all.map((one) => `${one}(${translated.pattern})`) }
}

/** Names that people have in mind, as they are written elsewhere. */
const ELSEWHERE = [
  'Read',
  'Write',
  'Edit',
  'Bash',
  'Grep',
  'Glob',
  'LS',
  'WebFetch',
  'WebSearch',
  'Task',
  'Agent',
  'Skill',
]

function unknownTool(name: string, tools: readonly ToolName[]): string {
  const names = tools.map((tool) => tool.name)
  const near = nearest(name, [...ELSEWHERE, ...names, ...tools.flatMap(({ aliases = [] }) => aliases)])
  if (near !== null) return `unknown tool ${quoted(name)}: did you mean ${near}?`
  // opencode names the tools of servers so.
  const server = /^([A-Za-z0-9-]+)_/.exec(name)?.[1]
  if (server !== undefined) return `unknown tool ${quoted(name)}: for the MCP server ${server} write mcp__${server}__*`
  return `unknown tool ${quoted(name)}: known tools: ${names.join(', ')}`
}

function serverCall(name: string, pattern: string | null): ReadCall {
  if (pattern !== null) return fault(`${quoted(name)}: tools of MCP servers have no patterns: write ${name}`)
  if (name === 'mcp_*' || name === 'mcp__*') return { kind: 'calls', entries: ['mcp__*'] }
  // Gemini writes mcp_server_tool, where a server has no underscore in its name.
  const full = name.startsWith('mcp__') ? name : name.replace(/^mcp_([^_]+)_(.+)$/, 'mcp__$1__$2')
  if (!/^mcp__[\w*-]+$/.test(full)) return fault(`${quoted(name)} is no tool of an MCP server: write mcp__server__tool`)
  return { kind: 'calls', entries: [/^mcp__.+?__./.test(full) || full.includes('*') ? full : `${full}__*`] }
}

/** Who may not edit notebooks with a tool for them may not do it with another one. */
function othersCall(name: string, use: Use): ReadCall {
  if (use === 'allow' || !/^notebook_?edit$/i.test(name)) return { kind: 'missing' }
  return { kind: 'calls', entries: ['edit_file(**/*.ipynb)'] }
}

function spawnCall(text: string, pattern: string | null, use: Use): ReadCall {
  if (pattern === null) return { kind: 'spawn', names: null }
  if (use !== 'allow') {
    return fault(`${quoted(text)}: single agents cannot be refused here: list those that it may have under may_spawn`)
  }
  const names = pattern.split(',').map((name) => readName(name.trim().replace(/^@/, '')))
  const wrong = names.find((name) => !name.ok)
  if (wrong && !wrong.ok) return fault(`${quoted(text)}: ${wrong.message}`)
  return { kind: 'spawn', names: names.flatMap((name) => (name.ok ? [name.name] : [])) }
}

function skillCall(text: string, pattern: string, use: Use): ReadCall {
  if (use === 'allow' && /^[^\s*()]+$/.test(pattern)) return { kind: 'skill', name: pattern }
  return fault(`${quoted(text)}: single skills cannot be refused here: list those that it may load under skills`)
}

/** `pattern` null: all calls of the tool. */
type Translated = { ok: true; pattern: string | null } | { ok: false; message: string }

function translate(text: string, tool: string, pattern: string, use: Use): Translated {
  if (tool === COMMAND) return commandPattern(text, pattern, use)
  if (tool === FETCH) {
    const domain = /^domain:(.+)$/.exec(pattern)?.[1]
    return { ok: true, pattern: domain === undefined ? pattern.replace(/^https?:\/\//, '') : `${domain}/**` }
  }
  return pathPattern(text, pattern)
}

/**
 * Elsewhere a * stands for any text, here for words at the end and for characters of one word otherwise. A pattern that
 * lets through is narrower by that; one that refuses would refuse less than it says.
 */
function commandPattern(text: string, pattern: string, use: Use): Translated {
  const spaced = pattern.replace(/:\*$/, ' *').trim()
  if (/^\*+$/.test(spaced)) return { ok: true, pattern: null }
  const words = spaced.split(/\s+/)
  if (use !== 'allow' && words.slice(0, -1).some((word) => word.includes('*'))) {
    const message = `${quoted(text)}: a * before the last word stands for one word here, so that this would say less than it does elsewhere: write the words out, or ${COMMAND} for all commands`
    return { ok: false, message }
  }
  const last = words.at(-1) as string
  return { ok: true, pattern: last !== '*' && last.endsWith('*') ? `${words.join(' ')} *` : words.join(' ') }
}

/** Elsewhere a name without a folder is one at any depth, and a slash at the beginning is the project's folder. */
function pathPattern(text: string, pattern: string): Translated {
  if (/^(?:\/\/|~|\$HOME)/.test(pattern)) {
    return { ok: false, message: `${quoted(text)} is outside the project folder, which agents never leave: remove it` }
  }
  const path = pattern.replace(/^\.?\//, '')
  if (path === '' || /^\*+$/.test(path)) return { ok: true, pattern: null }
  const message = workspacePathFault(path)
  if (message !== null) return { ok: false, message }
  const is_bare = !pattern.startsWith('/') && !pattern.startsWith('./') && !path.replace(/\/$/, '').includes('/')
  return { ok: true, pattern: is_bare ? `**/${path}` : path }
}

function fault(message: string): ReadCall {
  return { kind: 'fault', message }
}
