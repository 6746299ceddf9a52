import { type ChildProcess, spawn } from 'node:child_process'

/** Keeps the list of groups it is started with or told about, and kills them when its input ends. */
const WATCHER = `
groups=" $* "
while read -r op group; do
  case $op in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`

/**
 * Commands must not outlive this process, not even when it is killed without warning. So one small process watches:
 * its input is a pipe that only this process holds, and when that ends, it kills every group that is still on its
 * list. A command waits until it is on that list (see `leashed`), so there is no moment in which it is on nobody's.
 *
 * One watcher for all, because a watcher inside each group would be a process that the command never started: found
 * by programs that wait until their children are gone, and left to init to reap, once per command.
 */
export class Leash {
  readonly #groups = new Set<number>()
  #watcher: ChildProcess | null = null

  /** False when nobody can watch; the command must not go on then. */
  async hold(group: number): Promise<boolean> {
    this.#groups.add(group)
    return this.#watcher ? this.#tell(`+ ${group}\n`) : this.#start()
  }

  release(group: number): void {
    this.#groups.delete(group)
    if (this.#watcher) this.#tell(`- ${group}\n`)
  }

  /** Lets the watcher go while there is nothing to watch. */
  rest(): void {
    if (this.#groups.size > 0) return
    this.#watcher?.stdin?.end()
    this.#watcher = null
  }

  /** A new watcher has the list from its first moment: this process may be gone before it could say a word. */
  #start(): boolean {
    // Named so that whoever kills this process by name does not kill the watcher with it.
    const watcher = spawn('/bin/sh', ['-c', WATCHER, 'leash', ...[...this.#groups].map(String)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#watcher = watcher
    const lost = () => {
      if (this.#watcher !== watcher) return
      this.#watcher = null
      if (watcher.pid !== undefined && this.#groups.size > 0) this.#start()
    }
    watcher.once('exit', lost).once('error', lost)
    watcher.stdin?.on('error', () => {})
    watcher.unref()
    return watcher.pid !== undefined
  }

  /** Resolves when the words are in the pipe, from where they reach the watcher whatever happens to this process. */
  #tell(words: string): Promise<boolean> {
    const { pid, stdin } = this.#watcher ?? {}
    if (pid === undefined || !stdin) return Promise.resolve(false)
    return new Promise((resolve) => stdin.write(words, (error) => resolve(!error)))
  }
}
