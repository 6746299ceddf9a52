import { askUser } from './ask_user.js'
import { editFile } from './edit_file.js'
import { findFiles } from './find_files.js'
import { gitCommit } from './git_commit.js'
import { gitDiff } from './git_diff.js'
import { gitLog } from './git_log.js'
import { gitStatus } from './git_status.js'
import { listDir } from './list_dir.js'
import { readFile } from './read_file.js'
import { readOutput } from './read_output.js'
import { runCommand } from './run_command.js'
import { searchFiles } from './search_files.js'
import type { Tool } from './tool.js'
import { writeFile } from './write_file.js'

/** The tools that ship, in the order in which models see them. */
export function builtinTools(): Tool[] {
  return [
    readFile,
    writeFile,
    editFile,
    listDir,
    findFiles,
    searchFiles,
    runCommand,
    gitStatus,
    gitDiff,
    gitLog,
    gitCommit,
    askUser,
    readOutput,
  ]
}
