import { z } from 'zod'
import { type Decision, networkSchema } from '../../domain/index.js'
import { workspacePathFault } from './paths.js'
import { checked, named, setting } from './setting.js'
import type { ToolName } from './surroundings.js'
import { readRule, readTool } from './tools.js'

export function permissionsSettingsSchema(tools: readonly ToolName[]) {
  const paths = z.array(checked(workspacePathFault))
  return z.strictObject({
    allow: setting(
      rules('allow', tools),
      'Calls that are not asked about, as `tool` or `tool(pattern)`. A pattern is matched word by word against a ' +
        'command, and as a glob against the paths of every other tool.',
      { default_text: 'none', examples: [['run_command(git diff *)', 'write_file(docs/**)']] },
    ),
    ask: setting(
      rules('ask', tools),
      'Calls that a person is asked about, whatever `allow` and the mode say; `plan` mode still refuses what it refuses.',
      {
        default_text: 'none',
        examples: [['run_command(git push *)']],
      },
    ),
    deny: setting(rules('deny', tools), 'Calls that are refused, whatever the mode, `allow` and `ask` say.', {
      default_text: 'none',
      examples: [['run_command(rm *)', 'read_file(**/.env)']],
    }),
    read_paths: setting(paths, 'Globs of the files that agents may read. An empty list: none.', {
      default_text: 'the whole workspace',
      examples: [['src', 'docs/**/*.md']],
    }),
    write_paths: setting(paths, 'Globs of the files that agents may write. An empty list: none.', {
      default_text: 'the whole workspace',
      examples: [['src', 'test']],
    }),
    tools: setting(
      toolNames(tools),
      'The tools that agents have. Tools of MCP servers are `mcp__server__tool`, or `mcp__server__*` for all of one ' +
        'server. An empty list: none.',
      { default_text: 'all', examples: [['read_file', 'write_file', 'run_command', 'mcp__github__*']] },
    ),
    network: setting(
      networkSchema,
      'What may reach the network: `none` for nothing, `tools` for the tools that are there for it (`web_fetch`, ' +
        '`web_search`, MCP servers), `all` for commands too.',
      { default_text: '`tools`; `all` in `dangerous` mode', examples: ['tools'] },
    ),
    mcp_servers: setting(serverNames(), 'The MCP servers, by name, whose tools agents may use. An empty list: none.', {
      default_text: 'all',
      examples: [['github']],
    }),
    skills: setting(skillNames(), 'The skills, by name, that agents may load. An empty list: none.', {
      default_text: 'all',
      examples: [['release-notes']],
    }),
  })
}

/** Rules such as `run_command(rm *)`. */
export function rules(decision: Decision, tools: readonly ToolName[]) {
  return z.array(
    named((text) => {
      const read = readRule(decision, text, tools)
      return read.ok ? null : read.fault
    }),
  )
}

/** Tools by name, alias or pattern. */
function toolNames(tools: readonly ToolName[]) {
  return z.array(
    named((name) => {
      const read = readTool(name, tools)
      return read.ok ? null : read.fault
    }),
  )
}

export function serverNames() {
  return z.array(checked((name) => nameFault(name, 'an MCP server')))
}

export function skillNames() {
  return z.array(checked((name) => nameFault(name, 'a skill')))
}

/** Lists of several files are intersected name by name, which patterns would not allow. */
function nameFault(name: string, kind: string): string | null {
  if (/^[^\s*]+$/.test(name)) return null
  return `"${name}" does not name ${kind}: list whole names, without * or spaces; without the list all are meant`
}
