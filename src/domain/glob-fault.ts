/** A bound that keeps matching cheap, and that no honest pattern comes near. */
export const MAX_GLOB = 500

/** Why a glob in `where` cannot name files of the workspace, or null. */
export function globFault(glob: string, where: string): string | null {
  if (glob.trim() === '') return `an empty path in ${where} names nothing: write . for the whole workspace`
  if (glob.length > MAX_GLOB) return `a path in ${where} is longer than ${MAX_GLOB} characters`
  if (glob.startsWith('!')) return `"${glob}" in ${where} negates: list what is meant instead`
  if (glob.includes('\\')) return `"${glob}" in ${where} has a backslash: write folders with /`
  if (/^(?:\/|~|[a-zA-Z]:)/.test(glob)) return `"${glob}" in ${where} is not relative to the workspace`
  if (glob.split(/[/{},]/).includes('..')) return `"${glob}" in ${where} leaves the workspace: .. is not allowed`
  return null
}
