// The parent of one PostgreSQL server: runs it, says `ready`, and ends it when told to or when its owner is gone, however
// that went. SIGTERM stops it in order, SIGQUIT at once, as after a crash; both leave its data where they are. SIGUSR2 is
// for the end: it takes the data with it.
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_USER } from './postgres-binaries.mjs'
import { isAlive } from './postgres-server.mjs'

const { program, data, folder, owner, port, settings, small_disk_mb } = JSON.parse(process.argv[2])
const logFile = join(folder, 'server.log')
const log = openSync(logFile, 'a')
let isOwned = true
if (small_disk_mb > 0) mountSmallDisk(join(folder, 'small'))

const server = spawn(
  program,
  ['-D', data, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
  { ...SERVER_USER, cwd: data, env: { PATH: process.env.PATH, LC_ALL: 'C' }, stdio: ['ignore', log, log] },
)
process.on('SIGTERM', () => server.kill('SIGINT'))
process.on('SIGQUIT', () => server.kill('SIGQUIT'))
process.on('SIGUSR2', end)
// Those are for whoever sits at the terminal; the owner hears them too and says what is to be done.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
// Nobody may read what it says any more.
process.stdout.on('error', () => {})

server.on('error', (error) => tell(`${program}: ${error.message}`))
server.on('exit', () => {
  tell(readFileSync(logFile, 'utf8'))
  clearInterval(watching)
  clearInterval(starting)
  if (!isOwned) rmSync(folder, { recursive: true, force: true })
})

const watching = setInterval(() => {
  if (!isAlive(owner)) end()
}, 250)

function end() {
  isOwned = false
  server.kill('SIGQUIT')
}

// As pg_ctl does it: the eighth line of this file says how far the server is.
const starting = setInterval(() => {
  if (status() === 'ready') tell('ready')
}, 10)

function mountSmallDisk(place) {
  mkdirSync(place, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${small_disk_mb}m`, 'small', place])
  if (SERVER_USER) chownSync(place, SERVER_USER.uid, SERVER_USER.gid)
}

function status() {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim()
  } catch {
    return undefined
  }
}

function tell(text) {
  clearInterval(starting)
  process.stdout.write(`${text}\n`)
}
