import { askUser } from './ask_user.js'
import { delegateTask } from './delegate_task.js'
import type { ProfileName } from './delegation-request.js'
import { editFile } from './edit_file.js'
import { findFiles } from './find_files.js'
import { gitCommit } from './git_commit.js'
import { gitDiff } from './git_diff.js'
import { gitLog } from './git_log.js'
import { gitStatus } from './git_status.js'
import { listDir } from './list_dir.js'
import { type LoadableSkill, loadSkill } from './load_skill.js'
import { overview } from './overview.js'
import { readFile } from './read_file.js'
import { readOutput } from './read_output.js'
import { runCommand } from './run_command.js'
import { type RunTestsSettings, runTests } from './run_tests.js'
import { searchFiles } from './search_files.js'
import { spawn } from './spawn.js'
import { spawnAgent } from './spawn_agent.js'
import { spawnAwait } from './spawn_await.js'
import type { Tool } from './tool.js'
import type { SearchSettings } from './web/search_apis.js'
import { webFetch } from './web_fetch.js'
import { webSearch } from './web_search.js'
import { writeFile } from './write_file.js'

export type BuiltinOptions = {
  /** `search` null: there is no web_search. */
  web?: { allow_private: readonly string[]; search: SearchSettings | null }
  tests?: RunTestsSettings
  /** None: there is no load_skill. */
  skills?: readonly LoadableSkill[]
  /** Of sub-agents, in the order in which models see them. */
  profiles?: readonly ProfileName[]
  /** Whether there are MCP servers whose tools could be forwarded to sub-agents. */
  has_servers?: boolean
  /** Whether sub-agents can ask for a label. */
  has_labels?: boolean
}

/** Names of the tools that ship, those included that are absent where nothing is set up for them. */
export function builtinToolNames(): readonly string[] {
  names ??= [...builtinTools().map(({ name }) => name), 'web_search', 'load_skill']
  return names
}

/** Asked for at every start of a run, and making tools to know their names costs half a millisecond. */
let names: readonly string[] | undefined

/** The tools that ship, in the order in which models see them. */
export function builtinTools({
  web,
  tests = { command: null },
  skills = [],
  profiles = [],
  has_servers = false,
  has_labels = false,
}: BuiltinOptions = {}): Tool[] {
  const forwards = { skills: skills.length > 0, servers: has_servers, labels: has_labels }
  return [
    overview(tests),
    readFile,
    writeFile,
    editFile,
    listDir,
    findFiles,
    searchFiles,
    runCommand,
    runTests(tests),
    gitStatus,
    gitDiff,
    gitLog,
    gitCommit,
    webFetch({ allow_private: web?.allow_private ?? [] }),
    ...(web?.search ? [webSearch(web.search)] : []),
    ...(skills.length > 0 ? [loadSkill(skills)] : []),
    askUser,
    readOutput,
    spawn(profiles, forwards),
    spawnAwait,
    spawnAgent(profiles, forwards),
    delegateTask(forwards),
  ]
}
