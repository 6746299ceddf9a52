import type { FileChange, Land, Landing } from '../domain/index.js'
import type { CommitCheck, Fault, Host, TreeResult, Trees } from '../host/index.js'
import { commitPaths } from './commit.js'
import { ownPath } from './names.js'

/** What a run has come to. */
export type RunResult = { base: string; commit: string; files: FileChange[] }

/** `again`: a process that died may have done some of it. */
export type LandingWish = { into: Exclude<Land, 'branch'>; again: boolean; title: string }

/** `check`: what must not get into a commit of the person's. */
type Place = { host: Host; folder: string; check: CommitCheck }

type Refused = Extract<TreeResult<object>, { ok: false }>

/** Brings the result of a run into the person's folder, if that is as it was; otherwise says why it did not. */
export async function landResult(
  trees: Trees,
  place: Place,
  what: RunResult,
  { into, again, title }: LandingWish,
): Promise<{ ok: true; landing: Landing } | { ok: false; message: string }> {
  const landed = await trees.land({ base: what.base, to: what.commit, exactly: true, again })
  if (!landed.ok) return { ok: false, message: whyNotLanded(trees, landed) }
  const landing: Landing = { state: 'landed', ...what, landed_commit: null, branch: null, reason: null }
  if (into === 'changes' || what.files.length === 0) return { ok: true, landing }
  const paths = what.files.map(({ path }) => path)
  const committed = await commitLanded(place, title, paths, again)
  return committed.ok
    ? { ok: true, landing: { ...landing, landed_commit: committed.commit } }
    : {
        ok: true,
        landing: { ...landing, reason: `the files are there, but were not committed: ${committed.message}` },
      }
}

function whyNotLanded(trees: Trees, { code, message, paths = [], brought = [] }: Refused): string {
  const named = (all: readonly string[]) => {
    const own = all.slice(0, 10).map((path) => ownPath(trees, path))
    return `${own.join(', ')}${all.length > own.length ? ` and ${all.length - own.length} more` : ''}`
  }
  if (code !== 'changed') return message
  const partly = brought.length > 0 ? `; of the result the folder has already: ${named(brought)}` : ''
  const why = paths.some((path) => brought.includes(path)) ? message : 'the folder changed since the run took it up'
  return `${why}${paths.length > 0 ? `: ${named(paths)}` : ''}${partly}`
}

async function commitLanded(
  { host, folder, check }: Place,
  title: string,
  paths: string[],
  again: boolean,
): Promise<{ ok: true; commit: string } | Fault<string>> {
  const made = await commitPaths(host.git, folder, { title, paths, check })
  const found = made.ok || !again ? null : await host.git.open(folder)
  if (!found?.ok) return made
  const [head, log] = await Promise.all([found.repository.head(), found.repository.log({ limit: 1 })])
  const isOurs = log.ok && log.text.trimEnd().endsWith(`: ${title}`)
  return head.ok && head.commit !== null && isOurs ? { ok: true, commit: head.commit } : made
}
