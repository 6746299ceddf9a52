// What the tests need of the machine: installed where it is missing and that may be done.
import { spawnSync } from 'node:child_process'

export function run(file, args, timeout) {
  const { error, status, stdout, stderr } = spawnSync(file, args, {
    timeout,
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim()
  return { ok: !error && status === 0, said: error ? `${said}\n${error.message}`.trim() : said }
}

const mayInstall = () => process.getuid?.() === 0 && run('apt-get', ['--version'], 10_000).ok

/** Whether it is there in the end. What apt said is shown only where it was of no use. */
export function ensure(debianPackage, isThere) {
  if (isThere()) return true
  if (process.platform !== 'linux' || !mayInstall()) return false
  const failures = []
  for (const [args, timeout] of [
    [['update', '-qq'], 120_000],
    [['install', '-y', '-qq', '--no-install-recommends', debianPackage], 300_000],
  ]) {
    const { ok, said } = run('apt-get', args, timeout)
    if (!ok) failures.push(`apt-get ${args.join(' ')}: ${said}`)
  }
  if (isThere()) return true
  console.error(failures.join('\n'))
  return false
}

/** Not to be overlooked among what tests print. */
export function notice(...lines) {
  const rule = '*'.repeat(78)
  console.error([rule, ...lines, rule].join('\n'))
}
