import type { Fault, GitFault, Processes } from './host.js'
import { fault } from './paths.js'
import type { OwnPrograms } from './programs.js'

/**
 * Everything in a configuration that would run a program, open an editor, sign, fetch, or change how the output
 * reads. Filters (`filter.*.clean`) cannot be turned off this way: they run as the repository's owner set them.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.editor=true',
  'core.quotePath=false',
  'commit.gpgSign=false',
  'commit.verbose=false',
  'log.showSignature=false',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'status.relativePaths=true',
  'status.submoduleSummary=false',
  'color.ui=false',
  'advice.addEmbeddedRepo=false',
].flatMap((setting) => ['-c', setting])

const ENVIRONMENT = {
  // A look at the repository must not wait for, or leave behind, a lock.
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
}

/** Paths that come from outside mean what they say: no wildcards, no pathspec magic. */
export const LITERAL = { GIT_LITERAL_PATHSPECS: '1' }

/** To see what is not committed in a repository below, git would run there, by the configuration it has there. */
export const NOT_BELOW = '--ignore-submodules=dirty'

const TIMEOUT_MS = 30_000
const MAX_OUTPUT = 8 * 1024 * 1024

type GitOptions = {
  stdin?: string
  env?: Record<string, string>
  /** Exit codes other than 0 that are answers and not failures. */
  answers?: number[]
  /** Output as it comes, all of it, however much that is. */
  onOutput?: (chunk: string) => void
  /** More than that loses its middle: see `whole`. */
  max_output?: number
}

/** Where git works: what it would otherwise look for, and what it must know about every command there. */
type GitPlace = {
  git_dir: string
  /** Absent: no files are touched. */
  work_tree?: string
  env?: Record<string, string>
  timeout_ms?: number
}

export type GitRun = { ok: true; stdout: string; exit_code: number; whole: boolean } | Fault<GitFault>

/** The git command in one folder, with the git directory named once it is known. */
export class GitCommand {
  constructor(
    private readonly machine: { processes: Processes; programs: OwnPrograms },
    private readonly cwd: string,
    private readonly place?: GitPlace,
  ) {}

  async run(args: string[], options: GitOptions = {}): Promise<GitRun> {
    const { git_dir, work_tree, env, timeout_ms = TIMEOUT_MS } = this.place ?? {}
    const where = [
      ...(git_dir === undefined ? [] : [`--git-dir=${git_dir}`]),
      ...(work_tree === undefined ? [] : [`--work-tree=${work_tree}`]),
    ]
    const { processes, programs } = this.machine
    const git = programs.find('git')
    if (git === null) return fault('git_missing', 'git is not installed, or not on the PATH')
    const result = await processes.run({
      command: [git, ...where, ...SETTINGS, ...args],
      cwd: this.cwd,
      env: { PATH: programs.path(), ...ENVIRONMENT, ...env, ...options.env },
      stdin: options.stdin ?? '',
      timeout_ms,
      max_output_bytes: options.max_output ?? MAX_OUTPUT,
      ...(options.onOutput ? { onOutput: options.onOutput } : {}),
    })
    const code = result.exit_code
    if (result.status === 'exited' && code !== null && (code === 0 || options.answers?.includes(code))) {
      return { ok: true, stdout: result.stdout, exit_code: code, whole: result.dropped_bytes === 0 }
    }
    if (result.status === 'aborted') return fault('failed', `git ${args[0]} was stopped`)
    if (result.status === 'timeout') return fault('failed', `git ${args[0]} took longer than ${timeout_ms / 1000} s`)
    const said = (result.message ?? result.output.trim()) || `it ended with ${result.exit_code ?? result.signal}`
    return fault('failed', `git ${args[0]}: ${said}`)
  }
}
