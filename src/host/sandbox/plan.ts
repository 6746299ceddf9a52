import { dirname } from 'node:path'
import type { Fence } from '../host.js'
import { isInside } from '../paths.js'
import type { Concealment } from './concealment.js'
import { type Covered, type Machine, outermost } from './machine.js'

/**
 * One thing that is mounted. `own`: what is there anyway, at the same place. `empty`: an empty folder. `nothing`: a file
 * that cannot be opened. `loose`: it is the machine's and not to be checked, may be a link, and may be gone.
 */
export type Mount =
  | { kind: 'own'; path: string; writable: boolean; loose?: true }
  | { kind: 'empty'; path: string; writable: boolean }
  | { kind: 'nothing'; path: string }

/** What was found in the workspace and on the machine when a command was about to start. All paths are absolute. */
export type View = {
  machine: Machine
  around: Concealment
  /** The outermost files and folders below the root that may be read, and written; the root itself where all may. */
  readable: readonly string[]
  writable: readonly string[]
  /** What belongs to git or Retinue, folders in which that cannot be told, and what else must stay as it is. */
  protected: readonly string[]
  /** Such names that are not taken, each held by an empty folder while the command runs. */
  held: readonly string[]
  hidden: readonly Covered[]
  /** Folders that are seen although they are in one that is hidden. */
  shown: readonly string[]
  sockets: readonly string[]
  /** Whether this bubblewrap can forbid user namespaces inside. */
  forbids_namespaces: boolean
}

/** The mounts in the order in which they are made: a later one lies over an earlier one. */
export function planMounts(fence: Fence, view: View): { outside: Mount[]; inside: Mount[] } {
  const { root } = fence
  const { machine } = view
  const { concealed, seen: windows } = view.around
  const isBelow = (path: string) => path !== root && isInside(root, path)
  const away = (path: string) => !isInside(root, path)
  const whole = view.readable.includes(root)
  const seen = (path: string) => view.readable.some((at) => isInside(at, path))
  const replaced = (path: string) => machine.emptied.some((at) => isBelow(at) && isInside(at, path))
  const writable = (path: string) => view.writable.some((at) => isInside(at, path)) && !replaced(path)
  const isConcealed = (path: string) => concealed.some((at) => isInside(at, path))
  // Where the person's home is in what is concealed, commands have an empty one there all the same, and its tools.
  const refilled = outermost([...new Set([...machine.emptied, ...machine.homes])].filter(isConcealed))
  const tools = machine.tools.filter(
    (tool) => !isConcealed(tool) || refilled.some((at) => at !== tool && isInside(at, tool)),
  )
  const layers: { paths: readonly string[]; visible: boolean }[] = [
    { paths: machine.emptied, visible: false },
    { paths: tools.filter((tool) => !isConcealed(tool)), visible: true },
    { paths: [...concealed, ...refilled], visible: false },
    { paths: [...tools.filter(isConcealed), ...windows], visible: true },
  ]
  const homeIsSeen = machine.homes.some(
    (home) => isInside(root, home) && !machine.emptied.some((at) => isBelow(at) && isInside(at, home)),
  )
  const visibleOutside = (path: string) =>
    away(path) && (layers.findLast(({ paths }) => paths.some((at) => isInside(at, path)))?.visible ?? true)
  const isLater = (path: string) => isConcealed(path) || windows.some((at) => isInside(at, path))
  const sockets = view.sockets.map((path): Covered => ({ path, kind: 'file' }))

  const outside: Mount[] = [
    ...machine.settings.map(loose),
    ...machine.levers.map((path): Mount => ({ kind: 'nothing', path })),
    ...machine.emptied.filter((path) => away(path) && !isConcealed(path)).map((path) => empty(path, true)),
    ...tools.filter((path) => away(path) && !isConcealed(path)).map(loose),
    ...[...machine.secrets, ...sockets].filter(({ path }) => visibleOutside(path) && !isLater(path)).map(cover),
  ]
  const around: Mount[] = [
    ...concealed.filter((path) => !refilled.includes(path)).map((path) => empty(path, false)),
    ...refilled.filter(away).map((path) => empty(path, true)),
    ...tools.filter((path) => away(path) && isConcealed(path)).map(loose),
    ...windows.map((path) => own(path, false)),
    ...[...machine.secrets, ...sockets].filter(({ path }) => visibleOutside(path) && isLater(path)).map(cover),
  ]
  const covered = [
    ...view.hidden,
    ...(homeIsSeen ? machine.home_secrets : []),
    ...[...machine.secrets, ...sockets].filter(({ path }) => !replaced(path)),
  ].filter(({ path }) => isBelow(path) && seen(path))
  const top = outermost([...new Set(covered.map(({ path }) => path))])
  const shielded = outermost([...view.protected]).filter((path) => isBelow(path) && writable(path))
  // Whoever can rename a folder gets everything in it from under its cover, by the next command. What is mounted cannot
  // be renamed, not even when it is mounted where it was anyway.
  const fixed = [...shielded, ...view.held, ...top]
  const pinned = [...new Set(fixed.flatMap((path) => foldersAbove(root, path)))].filter(
    (path) => writable(path) && !view.writable.includes(path) && !fixed.some((one) => isInside(one, path)),
  )
  const inside: Mount[] = [
    ...around,
    ...(whole
      ? [own(root, view.writable.includes(root))]
      : [empty(root, false), ...view.readable.map((path) => own(path, false))]),
    ...view.writable.filter((path) => path !== root).map((path) => own(path, true)),
    ...pinned.sort((a, b) => a.length - b.length).map((path) => own(path, true)),
    ...machine.emptied.filter(isBelow).map((path) => empty(path, true)),
    ...shielded.map((path) => own(path, false)),
    ...view.held.map((path) => empty(path, false)),
    ...top.map((path) => cover(covered.find((one) => one.path === path) as Covered)),
    ...view.shown.filter((path) => top.some((at) => at !== path && isInside(at, path))).map((path) => own(path, false)),
    ...view.hidden.filter(({ path }) => visibleOutside(path)).map(cover),
  ]
  return { outside, inside }
}

/** What bubblewrap is told, up to the command itself. */
export function bwrapArguments(fence: Fence, cwd: string, view: View): string[] {
  const { outside, inside } = planMounts(fence, view)
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(fence.network ? [] : ['--unshare-net']),
    ...(view.forbids_namespaces ? ['--disable-userns'] : []),
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...outside.flatMap(mountArguments),
    ...view.machine.homes.filter((home) => !isInside(fence.root, home)).flatMap((home) => ['--dir', home]),
    ...inside.flatMap(mountArguments),
    // Made last, because the places of other mounts are made in it.
    ...inside
      .filter((mount) => mount.kind === 'empty' && !mount.writable)
      .flatMap(({ path }) => ['--remount-ro', path]),
    ...['--chdir', cwd],
  ]
}

function mountArguments(mount: Mount): string[] {
  const { path } = mount
  if (mount.kind === 'own' && mount.loose) return ['--ro-bind-try', path, path]
  if (mount.kind === 'own') return [mount.writable ? '--bind' : '--ro-bind', path, path]
  if (mount.kind === 'empty') return ['--tmpfs', path]
  // A device that is mounted without the right to use devices: whoever opens it is refused.
  return ['--ro-bind', '/dev/null', path]
}

/** Those below the root, the outermost last. */
function foldersAbove(root: string, path: string): string[] {
  const folder = dirname(path)
  return folder === root || !isInside(root, folder) ? [] : [folder, ...foldersAbove(root, folder)]
}

function own(path: string, writable: boolean): Mount {
  return { kind: 'own', path, writable }
}

function loose(path: string): Mount {
  return { kind: 'own', path, writable: false, loose: true }
}

function empty(path: string, writable: boolean): Mount {
  return { kind: 'empty', path, writable }
}

function cover({ path, kind }: Covered): Mount {
  return kind === 'file' ? { kind: 'nothing', path } : empty(path, false)
}
