/** Those of the person's settings that say how files look, and nothing that could be run. */
const TAKEN_OVER = [
  'core.autocrlf',
  'core.eol',
  'core.filemode',
  'core.symlinks',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.excludesfile',
  'core.attributesfile',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'core.longpaths',
]

const OWN: Record<string, string> = {
  'core.bare': 'true',
  'core.hookspath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedcache': 'false',
  'core.splitindex': 'false',
  'core.logallrefupdates': 'false',
  'core.safecrlf': 'false',
  // The log says that work was merged, and its tree goes: it must not be the power that decides whether it is there.
  'core.fsync': 'committed,reference',
  // In batches would be faster, but leaves a folder of git's own behind when it is killed.
  'core.fsyncmethod': 'fsync',
  'gc.auto': '0',
  'index.sparse': 'false',
}

/** The configuration of the private repository, given what `git config --list` says of the person's (keys in lower case). */
export function describe(person: ReadonlyMap<string, string>, object_format: string): string {
  const values = new Map<string, string>()
  // Only the second version of the format knows of other kinds of objects.
  values.set('core.repositoryformatversion', object_format === 'sha1' ? '0' : '1')
  if (object_format !== 'sha1') values.set('extensions.objectformat', object_format)
  for (const key of TAKEN_OVER) {
    const value = person.get(key)
    if (value !== undefined) values.set(key, value)
  }
  for (const [key, value] of Object.entries(OWN)) values.set(key, value)
  return [...values]
    .map(([key, value]) => `[${key.split('.')[0]}]\n\t${key.split('.')[1]} = ${quoted(value)}\n`)
    .join('')
}

function quoted(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}
