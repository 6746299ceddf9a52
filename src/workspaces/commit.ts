import type { CommitCheck, Fault, Git } from '../host/index.js'

type Wanted = { title: string; paths: string[]; check?: CommitCheck | undefined }

/** Commits these paths, and nothing else, in the repository that the person has. */
export async function commitPaths(
  git: Git,
  folder: string,
  { title, paths, check }: Wanted,
): Promise<{ ok: true; commit: string } | Fault<string>> {
  const opened = await git.open(folder)
  if (!opened.ok) return opened
  return opened.repository.commit({ message: title, paths, ...(check ? { check } : {}) })
}
