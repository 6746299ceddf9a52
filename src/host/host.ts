/** The machine, as the rest of Retinue sees it. Only this room touches it. */
export interface Host {
  readonly clock: Clock
  readonly processes: Processes
  readonly servers: Servers
  readonly http: Http
  readonly identity: Identity
  /** The person's home folder. */
  readonly home: string
  /** The name of the person whose process this is. */
  readonly user: string
  /**
   * Opens a folder as a workspace. `known_as`: another absolute path by which agents name the same files. `to_read`: agents
   * do not work in it, so that programs in it may be used.
   */
  workspace(root: string, options?: { known_as?: string; to_read?: true }): Promise<Workspace>
  git: Git
  /** Which of a project's checkouts a folder is. */
  checkout(folder: string): Promise<Checkout>
  /** The trees of files that runs in a folder work in, apart from what the person has there. `run_id`: for this run alone. */
  trees(folder: string, run_id?: string): Promise<TreeResult<{ trees: Trees }>>
  /** Text of a file anywhere, for configuration; null when there is none. Bytes that are no UTF-8 become U+FFFD. */
  readText(path: string): Promise<string | null>
  /** Replaces or creates a file anywhere that only the person can read, atomically, with the folders above it. */
  writePrivate(path: string, text: string): Promise<{ ok: true } | { ok: false; message: string }>
  /** The same, cheaply, for a file of which there are many and which can be made again from the log. */
  writeReport(path: string, text: string): { ok: true } | { ok: false; message: string }
  /** What the platform has and lacks; said by `doctor` and in a run's first event. */
  facts(): Promise<HostFacts>
}

export type Checkout = {
  /** The same for everybody who sees the same folder, on whatever machine; another for every copy of it. */
  id: string
  /** What all clones have in common: where they come from, and where the folder is in that. null: it is no clone. */
  origin: string | null
}

export interface Clock {
  /** Milliseconds since 1970 that never go backwards within a process: wall time at start plus monotonic time. */
  now(): number
  /** Resolves after ms, or at once when the signal aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Which process this is, so that a lease left by a dead one can be told from one that is held. */
export interface Identity {
  /** Names machine, process and its start: never the same for two processes. */
  readonly owner: string
  /** null when it cannot be known from here (another machine). */
  isAlive(owner: string): boolean | null
}

export type HostFacts = {
  platform: string
  /** `none`: commands cannot be fenced in here, and `reason` says what is missing. */
  sandbox: { kind: 'bubblewrap' | 'none'; reason: string }
  git_version: string | null
}

export type FileFault =
  | 'outside_workspace'
  | 'not_found'
  | 'not_a_file'
  | 'not_a_directory'
  | 'already_exists'
  | 'too_large'
  | 'binary'
  | 'changed'
  | 'permission_denied'
  | 'io'

/** A failure that a caller has to expect. `message` names the path as it was given and what to do. */
export type Fault<C extends string> = { ok: false; code: C; message: string }
export type FileResult<T> = ({ ok: true } & T) | Fault<FileFault>

export type Entry = { name: string; kind: 'file' | 'directory' | 'symlink' | 'other'; bytes: number }

/**
 * The files below one root. Every path is taken relative to the root (an absolute path inside it is taken too),
 * resolved through the nearest existing parent with symlinks followed, and checked again at the moment of use.
 */
export interface Workspace {
  /** Absolute and real. */
  readonly root: string
  /** The same files, but a path must be the real one, relative to the root; one that leads elsewhere is `changed`. */
  exact(): Workspace
  /** Where a path really is, relative to the root, with `/`. `.` for the root itself. */
  resolve(path: string): Promise<FileResult<{ path: string }>>
  /** Text of a file. Refuses binary files and files over max_bytes. */
  readText(
    path: string,
    options?: { max_bytes?: number },
  ): Promise<FileResult<{ path: string; text: string; bytes: number }>>
  readBytes(path: string, options?: { max_bytes?: number }): Promise<FileResult<{ path: string; bytes: Uint8Array }>>
  /** SHA-256 of what is there now; null when nothing is. */
  digest(path: string): Promise<FileResult<{ path: string; digest: string | null }>>
  /**
   * Replaces or creates a file atomically, with the folders above it. With `expect`, only if what is there now has
   * that digest (null: nothing is there); otherwise `changed`. Keeps the mode of a file that exists.
   */
  writeText(
    path: string,
    text: string,
    options?: { expect?: string | null },
  ): Promise<FileResult<{ path: string; digest: string; created: boolean }>>
  list(path: string): Promise<FileResult<{ path: string; entries: Entry[] }>>
  /**
   * Files matching a glob, ignored files (.gitignore) and protected folders left out. Sorted. The glob is relative to
   * `under`; without a `/` in it, it is about names at any depth.
   */
  find(
    pattern: string,
    options: { under?: string; limit: number; signal?: AbortSignal },
  ): Promise<FileResult<{ paths: string[]; more: boolean }>>
  /** Lines matching a regular expression, by ripgrep. `glob` as in `find`. */
  search(query: SearchQuery): Promise<FileResult<{ matches: SearchMatch[]; more: boolean }> | Fault<'bad_pattern'>>
}

export type SearchQuery = {
  pattern: string
  under?: string
  glob?: string
  ignore_case?: boolean
  literal?: boolean
  context?: number
  limit: number
  signal?: AbortSignal
}
export type SearchMatch = { path: string; line: number; text: string; is_context: boolean }

/**
 * What stands around a command: everything is read-only but what may be written below `root`, the home folder and
 * other places of secrets are hidden, and so is everything below `root` that may not be read. Git's and Retinue's own
 * files are never writable. Globs are those of the contract, in layers: what every layer matches.
 */
export type Fence = {
  /** Absolute and real. */
  root: string
  write_paths: readonly (readonly string[])[]
  read_paths: readonly (readonly string[])[]
  /** Globs of what is hidden whatever the layers say. */
  hidden: readonly string[]
  /** Folders in what is hidden as a folder that are seen all the same. */
  shown?: readonly string[]
  /** Globs of what is never writable, whatever `write_paths` say. */
  read_only?: readonly string[]
  /** Folders anywhere (absolute and real) that are seen empty, but for `root` and `seen`. */
  concealed?: readonly string[]
  /** Files and folders anywhere (absolute and real) that are read-only and seen although they are in a concealed one. */
  seen?: readonly string[]
  network: boolean
}

export type CommandSpec = {
  /** A shell command line, or a program with arguments that no shell sees. */
  command: string | readonly string[]
  /** Absolute. */
  cwd: string
  /** Absent: it runs with all the rights of this process. Where the fence cannot be put up, it does not run. */
  fence?: Fence
  /** Added to the allow-listed environment. */
  env?: Record<string, string>
  stdin?: string
  timeout_ms: number
  signal?: AbortSignal
  /** How much of stdout and stderr together is kept: the first and the last half of it. */
  max_output_bytes: number
  /** Output as it comes, for progress. */
  onOutput?: (chunk: string) => void
}

export type CommandResult = {
  /** `failed`: it could not be started. */
  status: 'exited' | 'signalled' | 'timeout' | 'aborted' | 'failed'
  exit_code: number | null
  signal: string | null
  /** stdout and stderr as they came, with a line that says how much was left out where that happened. */
  output: string
  /** stdout alone, cut the same way; for programs that read it. */
  stdout: string
  output_bytes: number
  dropped_bytes: number
  duration_ms: number
  /** Set when status is `failed`. */
  message: string | null
}

export interface Processes {
  /** Runs it in a process group of its own. When it resolves, nothing of that group is left. Never rejects. */
  run(spec: CommandSpec): Promise<CommandResult>
}

export type ServerSpec = {
  /** A program with arguments; no shell sees it. */
  command: readonly string[]
  /** Absolute. */
  cwd: string
  /** Added to the allow-listed environment. */
  env?: Record<string, string>
}

/** A process that is talked to for as long as it is wanted. It does not outlive this one, whatever happens to it. */
export interface Server {
  /** Bytes for its stdin. Resolves when they are taken; false when it is gone. */
  write(text: string): Promise<boolean>
  /** A chunk is only lent: it is overwritten by the next one. */
  onStdout(listener: (chunk: Uint8Array) => void): void
  /** The beginning and the end of what it said on stderr, bounded. */
  stderr(): string
  /** Resolves once, when it has ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>
  /** Ends it with everything it started: asks, then kills. */
  stop(): Promise<void>
}

export interface Servers {
  start(spec: ServerSpec): Promise<{ ok: true; server: Server } | { ok: false; message: string }>
  /** The files inside a folder (absolute and real) that a command names, by path, each with a digest of its content. */
  namedFiles(spec: ServerSpec, root: string): Promise<Record<string, string>>
}

export type HttpFault =
  | 'bad_url'
  | 'forbidden_address'
  | 'too_large'
  | 'too_many_redirects'
  | 'timeout'
  | 'aborted'
  | 'network'

export type HttpRequest = {
  url: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  timeout_ms: number
  max_bytes: number
  signal?: AbortSignal
  /** Hosts (`name` or `name:port`) that may be on this machine or in a private network. All others may not. */
  allow_private?: readonly string[]
}

/**
 * HTTP for tools. Every address is checked when it is connected to, also after redirects. A redirect is followed where
 * host and path stay the same (to https, to a slash at the end, to another query); any other is itself the answer, for
 * the caller to decide about. A body longer than `max_bytes` is cut there and marked as truncated. Never rejects.
 */
export interface Http {
  fetch(
    request: HttpRequest,
  ): Promise<
    | { ok: true; url: string; status: number; headers: Record<string, string>; body: Uint8Array; truncated: boolean }
    | Fault<HttpFault>
  >
}

export type GitFault = 'not_a_repository' | 'git_missing' | 'nothing_to_commit' | 'refused' | 'failed'
export type GitResult<T> = ({ ok: true } & T) | Fault<GitFault>

/** Reads one file, in pieces; bytes that are no UTF-8 come as U+FFFD. `end` says what is wrong with it, or null. */
export type CommitCheck = (path: string) => { push(text: string): void; end(): string | null }

/** The git command, with the git directory always named and hooks, pagers, external diffs and fsmonitor off. */
export interface Git {
  /** Finds the repository that a folder is in. The git directory it finds is the one every later call names. */
  open(folder: string): Promise<GitResult<{ repository: Repository }>>
}

/**
 * A repository as seen from the folder it was opened for: paths are relative to that folder, and nothing outside it is
 * shown or committed.
 */
export interface Repository {
  readonly git_dir: string
  readonly work_tree: string
  /** The same repository; git is ended when the signal aborts. */
  during(signal: AbortSignal): Repository
  head(): Promise<GitResult<{ commit: string | null; branch: string | null }>>
  status(): Promise<GitResult<{ text: string }>>
  diff(options: { staged?: boolean; ref?: string; paths?: string[] }): Promise<GitResult<{ text: string }>>
  log(options: { limit: number; path?: string }): Promise<GitResult<{ text: string }>>
  /** Paths that the last commits changed, the latest first, once for each commit that changed them. */
  touched(options: { commits: number }): Promise<GitResult<{ paths: string[] }>>
  /**
   * Commits exactly these paths (all changed and untracked, not ignored, ones when absent). `check` reads all that is
   * going to be in the commit and was not in the one before; where it finds something, nothing is committed.
   */
  commit(options: {
    message: string
    paths?: string[]
    check?: CommitCheck
  }): Promise<GitResult<{ commit: string; summary: string }>>
}

export type TreeFault =
  | 'git_missing'
  | 'git_too_old'
  /** The folder has more in it than can sensibly be copied. */
  | 'too_much'
  /** There is no such worktree, branch or commit any more. */
  | 'missing'
  /** The person's folder is not as it was. `paths` says where. */
  | 'changed'
  | 'conflict'
  | 'failed'
/** `brought`: what a landing that failed has brought into the folder all the same. */
export type TreeResult<T> = ({ ok: true } & T) | (Fault<TreeFault> & { paths?: string[]; brought?: string[] })

/** What is written into a commit besides its files. */
export type CommitNote = { message: string; author: { name: string; email: string }; at: number }

/** A file that differs between two commits; a rename is a deletion and an addition. Paths from the top of the tree. */
export type TreeChange = {
  path: string
  kind: 'added' | 'modified' | 'deleted'
  /** As git writes them (`100644`, `100755`, `120000` a symbolic link, `160000` a repository below); null: not there. */
  mode_before: string | null
  mode_after: string | null
  /** Where it leads to now, if it is a symbolic link. */
  link: string | null
}

/** What was captured of a person's folder. */
export type Capture = {
  /** HEAD itself where nothing differs from it; otherwise a commit on top of it that no branch of theirs knows. */
  commit: string
  /** null: there is no commit yet, or no git. */
  head: string | null
  /** What is not in it although somebody might expect it (repositories below), or is in it otherwise than in a commit. */
  notes: string[]
}

/** What of a commit has to be carried to where it is not known. */
export type Parcel = {
  /** A pack of what nobody else has; null: there is no such thing. */
  bytes: Uint8Array | null
  /** Commits that whoever unpacks it must have. */
  needs: string[]
}

/** An ignored file or folder that a worktree has from the person's folder. A link is read-only behind a fence. */
export type Included = { path: string; how: 'linked' | 'copied' }

export type ListedTree = {
  run_id: string
  /** The agent's id, or `integration`. */
  name: string
  branch: string
  /** Absolute; null: there is a branch alone. */
  path: string | null
  commit: string | null
  /** The process that works on its run, or was the last to do so; null: nobody said so. See `Trees.own`. */
  owner: string | null
}

/**
 * Trees of files that agents work in, made from what the person has in a folder, in a private repository under
 * `.retinue/git`: its configuration, attributes and hooks are the runtime's own, so that nothing that a repository or an
 * agent sets up is ever run. The person's index, stash, files and configuration are never touched; their repository
 * gets branches only by `publish`, and a hidden ref that keeps what is built upon from being pruned.
 */
export interface Trees {
  /** The folder that runs work in, absolute and real. */
  readonly folder: string
  /** Where that is below the top of the trees: `''`, or `packages/a` in a workspace below the top of a repository. */
  readonly prefix: string
  /** Whether the person has a repository here. */
  readonly in_git: boolean
  /** What of the person's an agent in a tree is not to see: the checkout that the folder is in, and its git directory. */
  readonly concealed: readonly string[]
  /** What the person has now: HEAD with all that is not committed, untracked files (not ignored ones) included. */
  capture(run_id: string): Promise<TreeResult<Capture>>
  /**
   * Makes the worktree of an agent at a commit, with its branch. Whatever is at its place is removed first. `usual`:
   * false where somebody makes `node_modules` and the like in it, so that they are not linked unless they are named.
   * `folders`: below the agent's root, made where they are missing.
   */
  add(
    run_id: string,
    name: string,
    commit: string,
    options?: { usual?: boolean; folders?: readonly string[] },
  ): Promise<TreeResult<{ tree: WorkTree; included: Included[]; notes: string[] }>>
  /**
   * One that was made earlier, perhaps by a process that is gone. `missing` where its folder or branch is. `only_look`: it
   * is somebody else's, who may be at work in it.
   */
  open(run_id: string, name: string, options?: { only_look?: boolean }): Promise<TreeResult<{ tree: WorkTree }>>
  /** The commit of a branch, whether or not its worktree is there. `missing` where there is no such branch. */
  head(run_id: string, name: string): Promise<TreeResult<{ commit: string }>>
  changes(from: string, to: string): Promise<TreeResult<{ changes: TreeChange[] }>>
  /** Those of `to` that `from` does not have, the oldest first. */
  commits(from: string, to: string): Promise<TreeResult<{ commits: { id: string; title: string; author: string }[] }>>
  /** As `git diff` writes it; `stat`: a line for each file. */
  diff(from: string, to: string, options?: { stat?: boolean }): Promise<TreeResult<{ text: string }>>
  /**
   * A commit that has both, without touching any files. `nothing`: ours has theirs already. A `conflict` names the
   * paths, and `tree` has the files with both sides marked in them.
   */
  merge(
    ours: string,
    theirs: string,
    note: CommitNote,
  ): Promise<
    | TreeResult<{ commit: string; kind: 'fast_forward' | 'merge' | 'nothing' }>
    | (Fault<'conflict'> & { paths: string[]; tree: string })
  >
  /** A commit of such a tree with these parents. */
  commitTree(tree: string, parents: readonly string[], note: CommitNote): Promise<TreeResult<{ commit: string }>>
  /**
   * Brings what changed from `base` to `to` into the person's folder, as changes that are not committed. `exactly`: only
   * if the folder is as it was at `base`; otherwise what the person changed since is merged with it. Nothing is brought
   * where `changed` or `conflict` name what stands in the way; a file that the person saves in the middle stops it, and
   * the message says how far it came. `again`: a process that died may have brought some of it.
   */
  land(what: { base: string; to: string; exactly: boolean; again?: boolean }): Promise<TreeResult<{ paths: string[] }>>
  /**
   * Makes a branch of a run visible in the person's own repository. Not `published`: it stays in the private one, since
   * there is no other, or since it has files as they are on disk that the person's own git would filter (encrypt, put
   * elsewhere) before it commits them.
   */
  publish(run_id: string, name: string): Promise<TreeResult<{ branch: string; published: boolean }>>
  /** Keeps the beginning and the end of a run for `recall`, for as long as the person's repository has what they are built upon. */
  remember(run_id: string, ends: { base: string; result: string }): Promise<TreeResult<object>>
  recall(run_id: string): Promise<TreeResult<{ base: string; result: string }>>
  /**
   * Says which process (`Identity.owner`) works in the trees of a run, for whoever cannot know it from their store; null:
   * none any more. `removeRun` does the latter, too.
   */
  own(run_id: string, owner: string | null): Promise<TreeResult<object>>
  /** What others need of the commit that a run begins with, besides what the remotes of this repository have. */
  packBase(run_id: string, commit: string, check: CommitCheck): Promise<TreeResult<Parcel>>
  /** What others need of a commit who know these. `check`: what must not leave this machine. */
  pack(commit: string, known: readonly string[], check: CommitCheck): Promise<TreeResult<Parcel>>
  /** Takes in what was packed elsewhere. `name`: the same for the same bytes. */
  unpack(name: string, bytes: Uint8Array): Promise<TreeResult<object>>
  /** Those of these commits that are not here. */
  lacking(commits: readonly string[]): Promise<TreeResult<{ commits: string[] }>>
  /** Brings the person's repository up to what its remotes have. */
  fetch(): Promise<TreeResult<object>>
  /** A branch of a run at a commit that was carried here. */
  receive(run_id: string, name: string, commit: string): Promise<TreeResult<object>>
  /** Every worktree and branch that there is, of all runs. */
  list(): Promise<TreeResult<{ trees: ListedTree[] }>>
  /** Whether everything in a worktree is in its branch, and nothing would be lost with its folder. */
  isCommitted(run_id: string, name: string): Promise<TreeResult<{ committed: boolean }>>
  /** What git ignores in a worktree, besides what it was given of the person's folder; paths are from the top. */
  ignoredIn(run_id: string, name: string): Promise<TreeResult<{ paths: string[] }>>
  /**
   * Removes the worktree, unless `keep_tree`, and the branch, unless `keep_branch`, of one agent. `later`: the worktree
   * is out of the way, and its files go while others work; the next removal that is not `later` waits for that.
   */
  remove(
    run_id: string,
    name: string,
    keep?: { keep_branch?: boolean; keep_tree?: boolean; later?: boolean },
  ): Promise<TreeResult<object>>
  /** Removes every worktree and branch of a run, the hidden refs but those of `remember` included. */
  removeRun(run_id: string): Promise<TreeResult<object>>
  /** Removes what `remember` kept of a run. */
  forget(run_id: string): Promise<TreeResult<object>>
  /**
   * Removes what processes that are gone have left half-made and old objects that nobody needs, and reports the runs
   * that it knows anything of.
   */
  tidy(): Promise<TreeResult<{ runs: string[] }>>
  /** The runs that it knows anything of, those with no tree any more included. */
  runs(): Promise<TreeResult<{ runs: string[] }>>
  /**
   * Removes what was written or carried here long ago and nothing refers to, and what was never carried to its end. What
   * cannot be removed stays.
   */
  prune(): Promise<void>
}

/** The worktree of one agent. */
export interface WorkTree {
  /** Absolute and real. */
  readonly top: string
  /** The folder in it that the agent works in. */
  readonly root: string
  /** `retinue/<run>/<name>` */
  readonly branch: string
  /** Absolute paths outside it that links in it lead to. */
  readonly links: readonly string[]
  /** git as seen from `root`: status, diff, log and commit of this worktree. */
  readonly repository: Repository
  head(): Promise<TreeResult<{ commit: string }>>
  /** Commits all that differs from the branch, on it. The commit is the branch's own where nothing does. */
  snapshot(note: CommitNote): Promise<TreeResult<{ commit: string; notes: string[]; uncommittable: string[] }>>
  /** Those of these paths, relative to `root`, that git ignores. */
  ignored(paths: readonly string[]): Promise<TreeResult<{ paths: string[] }>>
  /**
   * Brings branch and files to a commit. What is neither committed nor ignored is gone; `is_clean`: the caller knows that
   * there is nothing of that.
   */
  reset(commit: string, options?: { is_clean?: boolean }): Promise<TreeResult<object>>
}
