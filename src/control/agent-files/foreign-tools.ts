import { plain } from '../../domain/index.js'

/** Tools of others that do what one of ours does, beyond the names that our tools answer to. */
const EQUAL = new Map([
  ['readmanyfiles', 'read_file'],
  ['notebookread', 'read_file'],
])

/**
 * Tools that others have and Retinue has not. Each only gives something, so that a list without it is narrower: notes of
 * what is to be done, what runs in the background, plans, language servers, resources of servers.
 */
const OTHERS = [
  // Claude Code
  ...['TodoWrite', 'TodoRead', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'TaskStop', 'BashOutput'],
  ...['KillShell', 'KillBash', 'ExitPlanMode', 'EnterPlanMode', 'EnterWorktree', 'ExitWorktree', 'NotebookEdit'],
  ...['SlashCommand', 'ListMcpResources', 'ListMcpResourcesTool', 'ReadMcpResource', 'ReadMcpResourceTool', 'LSP'],
  ...['ToolSearch', 'SendMessage', 'TeamCreate', 'TeamDelete', 'CronCreate', 'CronDelete', 'CronList', 'Monitor'],
  ...['PowerShell', 'StructuredOutput', 'Artifact', 'Sleep', 'REPL', 'Brief', 'RemoteTrigger'],
  // opencode
  ...['patch', 'apply_patch', 'codesearch', 'plan_enter', 'plan_exit', 'batch', 'external_directory', 'doom_loop'],
  // Gemini CLI
  ...['save_memory', 'write_todos', 'get_internal_docs', 'update_topic', 'complete_task', 'list_background_processes'],
  ...['read_background_output', 'tracker_create_task', 'tracker_update_task', 'tracker_list_tasks'],
]

const KNOWN = new Set(OTHERS.map(plain))

export function equalTool(name: string): string | null {
  return EQUAL.get(plain(name)) ?? null
}

export function isOthersTool(name: string): boolean {
  return KNOWN.has(plain(name))
}
