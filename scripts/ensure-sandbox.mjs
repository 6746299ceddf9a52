// Run before the tests: installs bubblewrap where it is missing and that may be done, and otherwise says so.
import { spawnSync } from 'node:child_process'

function run(file, args, timeout) {
  const { error, status, stdout, stderr } = spawnSync(file, args, {
    timeout,
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim()
  return { ok: !error && status === 0, said: error ? `${said}\n${error.message}`.trim() : said }
}

const works = () => run('bwrap', ['--version'], 10_000).ok
const mayInstall = () => process.getuid?.() === 0 && run('apt-get', ['--version'], 10_000).ok

function install() {
  const failures = []
  for (const [args, timeout] of [
    [['update', '-qq'], 120_000],
    [['install', '-y', '-qq', '--no-install-recommends', 'bubblewrap'], 180_000],
  ]) {
    const { ok, said } = run('apt-get', args, timeout)
    if (!ok) failures.push(`apt-get ${args.join(' ')}: ${said}`)
  }
  if (!works()) console.error(failures.join('\n'))
}

if (process.platform === 'linux' && !works() && mayInstall()) install()

if (process.platform !== 'linux' || !works()) {
  const rule = '*'.repeat(78)
  const how =
    process.platform === 'linux'
      ? 'Install it: apt-get install bubblewrap (or dnf, pacman -S, apk add).'
      : 'It needs Linux: run the tests in a virtual machine or on CI as well.'
  console.error(`${rule}\nThe sandbox tests are NOT run: there is no bubblewrap (bwrap) here.\n${how}\n${rule}`)
}
