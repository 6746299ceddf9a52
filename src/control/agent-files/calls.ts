import { DELEGATION_TOOLS, nearest, quoted } from '../../domain/index.js'
import { workspacePathFault } from '../config/paths.js'
import type { ToolName } from '../config/surroundings.js'
import { readRule, readTool } from '../config/tools.js'
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

/**
 * What else is meant where a tool of others is refused or asked about: what is done with `Bash` elsewhere has tools of
 * its own here, and a rule about editing is one about writing, with whatever tool.
 */
const ALONG: Readonly<Record<string, readonly string[]>> = {
  [COMMAND]: ['run_tests', 'git_commit'],
  edit_file: ['write_file'],
}

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
  const all = [tool, ...(is_ours || use === 'allow' ? [] : (ALONG[tool] ?? []))]
  if (pattern === null) return { kind: 'calls', entries: all }
  const translated = is_ours ? { ok: true as const, patterns: [pattern] } : translate(text, tool, pattern, use)
  if (!translated.ok) return fault(translated.message)
  const { patterns } = translated
  if (patterns === null) return readCall(name, use, tools)
  if (tool !== COMMAND && tool !== FETCH && !FILES.includes(tool)) {
    return fault(`${quoted(text)}: ${tool} has no patterns: write ${tool} alone`)
  }
  for (const one of patterns) {
    const rule = readRule(use, `${tool}(${one})`, tools)
    if (!rule.ok) return fault(rule.fault.message)
  }
  // Of commands the others have no patterns, and are held to those of run_command.
  const with_pattern = tool === COMMAND ? [tool] : all
  return { kind: 'calls', entries: with_pattern.flatMap((one) => patterns.map((its) => `${one}(${its})`)) }
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

/** Who may not change files with a tool that is not here may not do it with another one. */
function othersCall(name: string, use: Use): ReadCall {
  const of = use === 'allow' ? undefined : CHANGING.find(([words]) => words.test(name))?.[1]
  if (of === undefined) return { kind: 'missing' }
  return { kind: 'calls', entries: ['edit_file', 'write_file'].map((tool) => `${tool}${of}`) }
}

const CHANGING: readonly [RegExp, string][] = [
  [/^notebook_?edit$/i, '(**/*.ipynb)'],
  [/^(?:apply_?)?patch$/i, ''],
]

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

/** `patterns` null: all calls of the tool. */
type Translated = { ok: true; patterns: string[] | null } | { ok: false; message: string }

function translate(text: string, tool: string, pattern: string, use: Use): Translated {
  if (tool === COMMAND) return commandPattern(text, pattern, use)
  return tool === FETCH ? addressPatterns(text, pattern, use) : pathPattern(text, pattern, use)
}

/**
 * Elsewhere a * stands for any text, here for words at the end and for characters of one word otherwise; and elsewhere
 * quotes are part of the text. A pattern that lets through is narrower by that; one that refuses would refuse less than
 * it says.
 */
function commandPattern(text: string, pattern: string, use: Use): Translated {
  const spaced = pattern.replace(/:\*$/, ' *').trim()
  if (/^\*+$/.test(spaced)) return { ok: true, patterns: null }
  const words = spaced.replace(/\*+$/, '*').split(/\s+/)
  const written = words.join(' ')
  if (use !== 'allow' && written.slice(0, -1).includes('*')) {
    return no(
      `${quoted(text)}: a * stands for any text here only at the very end, so that this would say less than it does elsewhere: write the words out, or ${COMMAND} for all commands`,
    )
  }
  if (use !== 'allow' && /["'\\`]/.test(written)) {
    return no(
      `${quoted(text)}: commands are compared word by word, without quotes, so that this would say less than it does elsewhere: end it with a * before them, or write ${COMMAND} for all commands`,
    )
  }
  return { ok: true, patterns: [words.at(-1) !== '*' && written.endsWith('*') ? `${written} *` : written] }
}

/**
 * Elsewhere a name without a folder is one at any depth, a slash at the beginning is the project's folder, and ** goes
 * through folders only where it stands alone between slashes.
 */
function pathPattern(text: string, pattern: string, use: Use): Translated {
  if (/^(?:\/\/|~|\$HOME)/.test(pattern)) {
    return no(`${quoted(text)} is outside the project folder, which agents never leave: remove it`)
  }
  const unclear = choiceFault(pattern, use)
  if (unclear !== null) return no(`${quoted(text)}: ${unclear}`)
  const given = pattern.replace(/^\.?\//, '')
  if (given === '' || /^\*+$/.test(given)) return { ok: true, patterns: null }
  const message = workspacePathFault(given)
  if (message !== null) return no(message)
  const path = use === 'allow' ? given.replace(/(?<=[^/*])\*{2,}|\*{2,}(?=[^/*])/g, '*') : given
  const is_bare = !pattern.startsWith('/') && !pattern.startsWith('./') && !path.replace(/\/$/, '').includes('/')
  return { ok: true, patterns: [is_bare ? `**/${path}` : path] }
}

/** Elsewhere [ chooses characters and { stands for itself; here it is the other way round, which for { lets more through. */
export function choiceFault(pattern: string, use: Use): string | null {
  if (pattern.includes('['))
    return 'a [ stands for itself here, not for one of several characters: write them out, or ?'
  return use === 'allow' && pattern.includes('{') ? 'write one pattern for each choice in the braces' : null
}

/** Rules see an address as `host[:port]/path`, the host in lower case. Whoever refuses a host refuses it at every port. */
function addressPatterns(text: string, pattern: string, use: Use): Translated {
  const [, domain] = /^domain:(.*)$/s.exec(pattern) ?? []
  const [, written = '', rest = ''] = /^([^/]*)(.*)$/s.exec(domain ?? pattern.replace(/^https?:\/\//i, '')) ?? []
  const host = hostOf(written)
  if (host === null || (domain !== undefined && (rest !== '' || host.includes(':')))) {
    return no(`${quoted(text)}: ${quoted(written + rest)} names no host: write it as in domain:example.org`)
  }
  if (/[?#[]/.test(rest)) {
    return no(
      `${quoted(text)}: addresses are compared without what follows a ?, and a [ stands for itself: write * for it`,
    )
  }
  const below = domain === undefined ? rest : '/**'
  const at_ports = use === 'allow' || /:|\*$/.test(host) ? [] : [`${host}:*${below}`]
  return { ok: true, patterns: [`${host}${below}`, ...at_ports] }
}

/** A host as it is in addresses, with its port; null where it is none. */
function hostOf(written: string): string | null {
  const plain =
    written.includes('*') || !URL.canParse(`http://${written}`) ? written : new URL(`http://${written}`).host
  const host = plain.toLowerCase().replace(/\.(?=:|$)/, '')
  return /^[\w*.-]+(?::[\d*]+)?$/.test(host) ? host : null
}

function no(message: string): Translated {
  return { ok: false, message }
}

function fault(message: string): ReadCall {
  return { kind: 'fault', message }
}
