import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostFacts, Processes } from '../host.js'
import { findProgram } from '../launch.js'
import type { OwnPrograms } from '../programs.js'
import { BubblewrapFinder, strengthOf } from './bubblewrap.js'
import { systemCallFilter } from './seccomp.js'

const INSTALL: readonly [program: string, command: string][] = [
  ['apt-get', 'apt-get install bubblewrap'],
  ['dnf', 'dnf install bubblewrap'],
  ['pacman', 'pacman -S bubblewrap'],
  ['apk', 'apk add bubblewrap'],
  ['zypper', 'zypper install bubblewrap'],
]

/** Whether commands can be fenced in here, found out by doing it once. */
export async function probeSandbox(processes: Processes, programs: OwnPrograms): Promise<HostFacts['sandbox']> {
  if (process.platform !== 'linux') {
    return none(`bubblewrap, which fences commands in, needs Linux, and this is ${process.platform}`)
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'retinue-sandbox-')))
  try {
    const bwrap = await new BubblewrapFinder(programs).find()
    if (!bwrap) return none(`bubblewrap is not installed: ${howToInstall()}`)
    const fence = { root: folder, write_paths: [['**']], read_paths: [['**']], hidden: [], network: false }
    const tried = await processes.run({
      command: 'true',
      cwd: folder,
      fence,
      timeout_ms: 10_000,
      max_output_bytes: 1000,
    })
    if (tried.exit_code === 0) return { kind: 'bubblewrap', reason: strengthOf(bwrap, systemCallFilter()) }
    const why = tried.message ?? `a fenced command ended as ${tried.status}: ${tried.output.trim()}`
    return none(`${bwrap.version} does not work here: ${why}${hint()}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function none(reason: string): HostFacts['sandbox'] {
  return { kind: 'none', reason }
}

function howToInstall(): string {
  const known = INSTALL.find(([program]) => findProgram(program, { cwd: '/', path: process.env.PATH ?? '' }))
  return known ? known[1] : INSTALL.map(([, command]) => command).join(', or ')
}

/** What usually keeps an installed bubblewrap from working, where it can be seen. */
function hint(): string {
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return '; AppArmor keeps programs from making user namespaces: give bwrap a profile that allows userns, or set kernel.apparmor_restrict_unprivileged_userns=0 with sysctl'
  }
  if (setting('kernel/unprivileged_userns_clone') === '0') {
    return '; set kernel.unprivileged_userns_clone=1 with sysctl'
  }
  if (setting('user/max_user_namespaces') === '0') {
    return '; set user.max_user_namespaces to a number above 0 with sysctl'
  }
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) {
    return '; this is a container: it must be started so that it may make user namespaces and mount /proc'
  }
  return ''
}

function setting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim()
  } catch {
    return null
  }
}
