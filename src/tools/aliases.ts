type Aliases = { names: readonly string[]; arguments: Readonly<Record<string, readonly string[]>> }

const FILE = ['file_path', 'filename', 'file', 'target_file', 'absolute_path']
const FOLDER = ['dir', 'directory', 'folder', 'dir_path', 'directory_path', 'target_directory', 'root']
const FILES = ['path', 'files', ...FILE]
const TASK = ['prompt', 'message', 'instructions']
const PROFILE = ['subagent_type', 'agent_type', 'subagent', 'role']
const ANSWER = ['output_schema', 'response_schema']

/**
 * What other agents call our tools and their arguments: Claude Code, opencode, Gemini CLI, Codex, Cursor, Cline and
 * the seeds. People bring these names in profiles, rules and agent files, models from their training. Upper and lower
 * case, `_` and `-` make no difference. A tool that has no equivalent here (`apply_patch`) is not listed.
 */
export const ALIASES: Readonly<Record<string, Aliases>> = {
  overview: {
    names: ['repo_overview', 'project_overview', 'repo_map', 'directory_tree', 'tree'],
    arguments: { path: FOLDER },
  },
  read_file: {
    names: ['read', 'view', 'view_file', 'open_file', 'cat', 'fs_read'],
    arguments: { path: FILE, offset: ['start_line'], limit: ['num_lines', 'max_lines'] },
  },
  write_file: {
    names: ['write', 'create', 'create_file', 'write_to_file', 'save_file', 'fs_write'],
    arguments: { path: FILE, content: ['contents', 'text', 'file_text', 'file_content'] },
  },
  edit_file: {
    names: ['edit', 'multi_edit', 'replace', 'str_replace', 'search_replace', 'replace_in_file'],
    arguments: {
      path: FILE,
      old_text: ['old_string', 'old_str', 'old', 'search'],
      new_text: ['new_string', 'new_str', 'new', 'replace', 'replacement'],
      replace_all: ['all', 'allow_multiple'],
    },
  },
  list_dir: {
    names: ['ls', 'list', 'list_directory', 'list_files'],
    arguments: { path: [...FOLDER, 'relative_workspace_path'] },
  },
  find_files: {
    names: ['glob', 'find', 'file_search', 'glob_file_search', 'plan_files'],
    arguments: { pattern: ['glob', 'glob_pattern', 'query', 'name'], path: FOLDER },
  },
  search_files: {
    names: [
      'grep',
      'search',
      'code_search',
      'codebase_search',
      'search_file_content',
      'grep_search',
      'grep_files',
      'ripgrep',
      'rg',
    ],
    arguments: {
      pattern: ['query', 'regex', 'search', 'text'],
      path: [...FOLDER, ...FILE],
      glob: ['include', 'include_pattern', 'file_pattern'],
      ignore_case: ['i', 'case_insensitive'],
      literal: ['fixed_strings'],
      context: ['c', 'context_lines'],
    },
  },
  run_command: {
    names: [
      'bash',
      'shell',
      'exec',
      'execute',
      'terminal',
      'local_shell',
      'shell_command',
      'exec_command',
      'execute_command',
      'run_shell_command',
      'run_terminal_cmd',
    ],
    arguments: {
      command: ['cmd', 'shell_command', 'command_line', 'script'],
      timeout_ms: ['timeout'],
      cwd: ['workdir', 'working_directory', ...FOLDER],
    },
  },
  run_tests: {
    names: ['test', 'tests', 'run_test', 'execute_tests', 'test_runner'],
    arguments: {
      filter: ['name', 'test_name', 'pattern', 'grep', 'test_filter'],
      path: [...FILE, ...FOLDER, 'test_path', 'test_file'],
      timeout_ms: ['timeout'],
    },
  },
  git_status: { names: ['git'], arguments: {} },
  git_diff: { names: ['diff'], arguments: { staged: ['cached'], ref: ['commit', 'base', 'range'], paths: FILES } },
  git_log: { names: [], arguments: { limit: ['n', 'count', 'max_count'], path: FILE } },
  git_commit: { names: ['commit'], arguments: { message: ['msg', 'm', 'commit_message'], paths: FILES } },
  web_fetch: {
    names: ['fetch', 'fetch_url', 'read_url', 'url_fetch', 'http_get', 'browse', 'web_get'],
    arguments: { url: ['uri', 'href', 'address', 'link'] },
  },
  web_search: {
    names: ['google_web_search', 'google_search', 'internet_search', 'search_web', 'brave_web_search', 'tavily_search'],
    arguments: {
      query: ['q', 'search', 'search_query', 'search_term', 'text'],
      count: ['n', 'limit', 'num_results', 'max_results'],
    },
  },
  load_skill: {
    names: ['skill', 'use_skill', 'activate_skill', 'read_skill'],
    arguments: { name: ['skill', 'skill_name', 'id', 'command'], file: ['path', 'file_path', 'filename'] },
  },
  ask_user: {
    names: ['ask', 'question', 'ask_user_question', 'ask_followup_question', 'request_user_input'],
    arguments: { question: ['prompt', 'text', 'message', 'query'], options: ['choices', 'follow_up', 'suggestions'] },
  },
  read_output: { names: [], arguments: { output: ['id', 'call_id', 'output_id'], search: ['query', 'pattern'] } },
  spawn: {
    names: ['spawn_subagent', 'start_agent', 'sessions_spawn'],
    arguments: { task: TASK, profile: PROFILE, context: ['background'], tools: ['allowed_tools'], schema: ANSWER },
  },
  spawn_await: {
    names: ['wait', 'wait_agent', 'await_agents', 'wait_for_agents', 'task_output', 'agent_output'],
    arguments: { job_ids: ['job_id', 'jobs', 'ids', 'id', 'agent_id', 'agent_ids', 'task_id', 'task_ids', 'targets'] },
  },
  spawn_agent: {
    names: ['task', 'agent', 'subagent', 'run_subagent', 'dispatch_agent', 'new_task'],
    // Claude Code and opencode send a short description beside the prompt; it must not take the place of the task.
    arguments: {
      task: TASK,
      profile: PROFILE,
      scope: ['path', 'paths'],
      max_tool_calls: ['max_calls'],
      schema: ANSWER,
    },
  },
  delegate_task: {
    names: ['delegate', 'delegate_tasks', 'delegate_work'],
    arguments: { plan: ['goal', 'description'], subtasks: ['tasks', 'steps'] },
  },
}

/** Our name for a tool: the name itself, the name in another spelling, or the name that others have for it. */
export function resolveToolName(name: string, known: readonly string[] = Object.keys(ALIASES)): string | null {
  if (known.includes(name)) return name
  const key = plain(name)
  const spelled = known.find((candidate) => plain(candidate) === key)
  if (spelled !== undefined) return spelled
  const tool = TOOL_NAMES.get(key)
  return tool !== undefined && known.includes(tool) ? tool : null
}

/** Our name for an argument of a tool, where it is spelled otherwise or has another name elsewhere. */
export function resolveArgumentName(tool: string, name: string, known: readonly string[]): string | null {
  const key = plain(name)
  const spelled = known.find((candidate) => plain(candidate) === key)
  if (spelled !== undefined) return spelled
  const alias = ARGUMENT_NAMES.get(`${tool} ${key}`)
  return alias !== undefined && known.includes(alias) ? alias : null
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

const TOOL_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIASES).flatMap(([tool, { names }]) => names.map((name) => [plain(name), tool])),
)

const ARGUMENT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIASES).flatMap(([tool, aliases]) =>
    Object.entries(aliases.arguments).flatMap(([argument, names]) =>
      names.map((name): [string, string] => [`${tool} ${plain(name)}`, argument]),
    ),
  ),
)
