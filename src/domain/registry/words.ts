/** What an agent of the registry gets of skills or servers: unasked, and at most. null: the registry says nothing of it. */
export function forwardedInWords(defaults: string[] | undefined, allowed: string[] | undefined): string | null {
  if (defaults === undefined && allowed === undefined) return null
  if (allowed?.length === 0) return 'none'
  const most = allowed === undefined ? '' : `at most ${listed(allowed)}`
  if (defaults === undefined) return most
  return `${listed(defaults)} unless others are asked for${most === '' ? '' : `; ${most}`}`
}

function listed(names: readonly string[]): string {
  return names.join(', ') || 'none'
}
