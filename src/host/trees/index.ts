import type { Host, Trees } from '../host.js'
import { isInside } from '../paths.js'
import { capture } from './capture.js'
import { commitTree } from './commit-tree.js'
import { changes, commits, diff } from './compare.js'
import { ignoredIn } from './ignored.js'
import { land } from './land.js'
import { isCommitted, list } from './list.js'
import { merge } from './merge.js'
import { own as ownRun } from './owner.js'
import { fetchRemotes, lacking, pack, packBase, receive, unpack } from './parcel.js'
import { type Machine, openPrivate, type Private } from './private.js'
import { pruneObjects } from './prune.js'
import { publish } from './publish.js'
import { forget, recall, remember } from './remember.js'
import { remove, removeRun, runs, tidy } from './remove.js'
import { add, headOf, open } from './worktree.js'

/** Opens the trees of folders on this machine. */
export function createTrees(machine: Machine): Host['trees'] {
  return async (folder, run_id) => {
    const opened = await openPrivate(machine, folder, run_id)
    return opened.ok ? { ok: true, trees: treesOf(opened.private) } : opened
  }
}

/** A git directory inside the checkout is concealed with it. */
function placesOf({ top, person }: Private): string[] {
  const git = person ? [person.git_dir, person.common_dir] : []
  const elsewhere = git.filter((path) => !isInside(top, path))
  return [
    top,
    ...elsewhere.filter(
      (path, i) => !elsewhere.some((other, j) => j !== i && isInside(other, path) && (other !== path || j < i)),
    ),
  ]
}

function treesOf(own: Private): Trees {
  return {
    folder: own.folder,
    prefix: own.prefix,
    in_git: own.person !== null,
    concealed: placesOf(own),
    capture: (run_id) => capture(own, run_id),
    add: (run_id, name, commit, options) => add(own, run_id, name, commit, options),
    open: (run_id, name, options) => open(own, run_id, name, options),
    head: (run_id, name) => headOf(own, run_id, name),
    changes: (from, to) => changes(own, from, to),
    commits: (from, to) => commits(own, from, to),
    diff: (from, to, options) => diff(own, from, to, options),
    merge: (ours, theirs, note) => merge(own, ours, theirs, note),
    commitTree: (tree, parents, note) => commitTree(own, tree, parents, note),
    land: (what) => land(own, what),
    publish: (run_id, name) => publish(own, run_id, name),
    remember: (run_id, ends) => remember(own, run_id, ends),
    recall: (run_id) => recall(own, run_id),
    forget: (run_id) => forget(own, run_id),
    own: (run_id, owner) => ownRun(own, run_id, owner),
    packBase: (run_id, commit, check) => packBase(own, run_id, commit, check),
    pack: (commit, known, check) => pack(own, commit, known, check),
    unpack: (name, bytes) => unpack(own, name, bytes),
    lacking: (commits) => lacking(own, commits),
    fetch: () => fetchRemotes(own),
    receive: (run_id, name, commit) => receive(own, run_id, name, commit),
    list: () => list(own),
    isCommitted: (run_id, name) => isCommitted(own, run_id, name),
    ignoredIn: (run_id, name) => ignoredIn(own, run_id, name),
    remove: (run_id, name, keep) => remove(own, run_id, name, keep),
    removeRun: (run_id) => removeRun(own, run_id),
    tidy: () => tidy(own),
    runs: () => runs(own),
    prune: () => pruneObjects(own),
  }
}
