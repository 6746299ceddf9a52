import type { Fence } from '../host.js'
import { FILTER_FD, STATUS_FD } from '../launch.js'
import { isInside } from '../paths.js'
import type { OwnPrograms } from '../programs.js'
import { BubblewrapFinder } from './bubblewrap.js'
import { cannotConceal, concealmentOf } from './concealment.js'
import { type HeldName, holdName, releaseName } from './held-names.js'
import { MachineView } from './machine.js'
import { misplaced } from './mounts.js'
import { ownCode } from './own-code.js'
import { bwrapArguments, planMounts, type View } from './plan.js'
import { systemCallFilter } from './seccomp.js'
import { listeningSockets } from './sockets.js'
import { type Survey, survey, type Tag, Trees } from './survey.js'
import { statsOf, type Tree, type Walked } from './tree.js'

/** More would take longer to mount than anybody would wait for. */
const MAX_MOUNTS = 500

export type Raised = {
  ok: true
  bwrap: string
  args: string[]
  env: Record<string, string>
  /** For bubblewrap to read. */
  filter: Buffer | null
  /** Null when the fence stands as planned around that process; otherwise what is not as it was, for another try. */
  check(pid: number): Promise<string | null>
  /** To be called when nothing inside runs any more. */
  release(): void
}

/** Puts up fences around commands, and remembers what makes the next one cheap. */
export class Fences {
  readonly #finder: BubblewrapFinder
  readonly #machine = new MachineView()
  readonly #trees = new Trees()
  readonly #filter = systemCallFilter()
  #code: ((root: string) => string[]) | null = null

  constructor(private readonly programs: OwnPrograms) {
    this.#finder = new BubblewrapFinder(programs)
  }

  async raise(
    fence: Fence,
    { cwd, env, signal }: { cwd: string; env: Record<string, string>; signal?: AbortSignal },
  ): Promise<Raised | { ok: false; message: string; stopped?: true }> {
    if (process.platform !== 'linux') return refuse(`there is no sandbox for ${process.platform}`)
    if (fence.root === '/') return refuse('a workspace that is the whole file system cannot be fenced in')
    this.programs.avoid(fence.root)
    const bwrap = await this.#finder.find()
    if (!bwrap) return refuse('bubblewrap (bwrap) is not installed')
    const cannot = cannotConceal(fence)
    if (cannot !== null) return refuse(cannot)
    const around = concealmentOf(fence)
    const trees = [this.#trees.for(fence), ...this.#trees.linked(fence, around.seen)]
    const walked = await lookThrough(fence, trees, (tree) => (tree.isKnown ? tree.known() : tree.walk(signal)))
    if (!walked.ok) return { ...refuse(walked.message), ...(walked.stopped && { stopped: true }) }
    const found = walked.survey
    const held: HeldName[] = []
    const release = () => held.splice(0).forEach(releaseName)
    try {
      for (const path of found.free) {
        const name = holdName(path)
        if (name) held.push(name)
      }
    } catch (error) {
      release()
      return refuse((error as Error).message)
    }
    const view: View = {
      machine: this.#machine.for(env),
      around,
      readable: found.readable,
      writable: found.writable,
      protected: [...found.protected, ...found.read_only, ...this.#codeIn(fence.root)],
      held: held.map(({ path }) => path),
      hidden: found.hidden,
      shown: found.shown,
      sockets: listeningSockets(),
      forbids_namespaces: bwrap.forbids_namespaces,
    }
    const { inside } = planMounts(fence, view)
    if (inside.length > MAX_MOUNTS) {
      release()
      return refuse(
        `${inside.length} files and folders would have to be fenced in one by one, and ${MAX_MOUNTS} is the most; use patterns that name folders`,
      )
    }
    const inodes = () => JSON.stringify(inside.map(({ path }) => statsOf(path)?.ino))
    const before = inodes()
    return {
      ok: true,
      bwrap: bwrap.path,
      args: [
        ...bwrapArguments(fence, cwd, view),
        ...['--json-status-fd', String(STATUS_FD)],
        ...(this.#filter ? ['--seccomp', String(FILTER_FD)] : []),
      ],
      filter: this.#filter,
      env: env.TMPDIR === undefined || isInside(fence.root, env.TMPDIR) ? env : { ...env, TMPDIR: '/tmp' },
      release,
      async check(pid) {
        const wrong = misplaced(inside, pid)
        // A file that was moved away before its place was covered lies open somewhere else now.
        const again = await lookThrough(fence, trees, (tree) => tree.walk())
        if (wrong !== null) return wrong
        if (!again.ok) return again.message
        const now = again.survey
        return !now.unsettled && mounted(now) === mounted(found) && inodes() === before ? null : fence.root
      },
    }
  }

  #codeIn(root: string): string[] {
    this.#code ??= ownCode()
    return this.#code(root)
  }

  /** Looks at the machine anew next time. */
  forget(): void {
    this.#machine.forget()
    this.#trees.forget()
    this.#code = null
  }
}

/** The first tree is the workspace, the others are what links in it lead to. */
async function lookThrough(
  fence: Fence,
  trees: readonly Tree<Tag>[],
  walk: (tree: Tree<Tag>) => Walked<Tag> | Promise<Walked<Tag>>,
): Promise<{ ok: true; survey: Survey } | (Walked<Tag> & { ok: false })> {
  const done: { root: string; walked: Walked<Tag> & { ok: true } }[] = []
  for (const tree of trees) {
    const walked = await walk(tree)
    if (!walked.ok) return walked
    done.push({ root: tree.root, walked })
  }
  const [workspace, ...linked] = done
  if (!workspace) throw new Error('a fence has a workspace')
  return { ok: true, survey: survey(fence, workspace.walked, linked) }
}

/** What decides about the mounts. The names that are held are free in one survey and not in the other. */
function mounted({ readable, writable, protected: shielded, read_only, hidden, shown }: Survey): string {
  return JSON.stringify([readable, writable, shielded, read_only, hidden, shown])
}

function refuse(reason: string): { ok: false; message: string } {
  return { ok: false, message: `the sandbox could not be put up: ${reason}` }
}
