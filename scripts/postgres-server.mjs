import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { preparedPostgres, SERVER_USER, serversFolder } from './postgres-binaries.mjs'

const KEEPER = fileURLToPath(new URL('postgres-keeper.mjs', import.meta.url))

/** Ports that no system gives to those who connect: so that a server which was stopped finds its own free again. */
const PORTS = { from: 20_000, to: 29_999 }

/** What a server of a test or of somebody who develops can do without. The log is where a failed start is explained. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  timezone: 'UTC',
}

/** Faster, and right unless the machine itself dies: a commit is then in the files, but perhaps not on the disk. */
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off' }

/**
 * A new PostgreSQL server on a port of this machine. It ends with `owner`, a process, however that ends: see
 * postgres-keeper.mjs. `stop` and `start` keep port and data; `remove` is for the end. With `small_disk_mb` it has a disk
 * of that size at `small_disk`, which can be filled without harm to anybody, and which is gone when it is stopped.
 */
export async function startPostgres({ owner = process.pid, durable = false, settings = {}, small_disk_mb = 0 } = {}) {
  const prepared = preparedPostgres()
  const folder = newFolder(serversFolder(), owner)
  const data = join(folder, 'data')
  // cp keeps owner and modes, which Node's own does not.
  execFileSync('cp', ['-pR', prepared.template, data])
  const port = await freePort()
  const all = { ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings }
  const order = {
    program: join(prepared.programs, 'postgres'),
    data,
    folder,
    owner,
    port,
    settings: all,
    small_disk_mb,
  }
  let keeper = await keep(order)
  const server = {
    url: `postgres://postgres:${prepared.password}@127.0.0.1:${port}/postgres`,
    folder,
    small_disk: join(folder, 'small'),
    get keeper() {
      return keeper.pid
    },
    async start() {
      if (keeper.exitCode === null) throw new Error('the server runs')
      keeper = await keep(order)
    },
    async stop(mode = 'fast') {
      if (keeper.exitCode !== null) return
      const stopped = new Promise((resolve) => keeper.once('exit', resolve))
      keeper.ref()
      keeper.kill(mode === 'fast' ? 'SIGTERM' : 'SIGQUIT')
      await stopped
    },
    async remove() {
      await server.stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return server
}

/** What is left of owners that were killed is nobody's, and goes first. The names of folders begin with the owner's number. */
function newFolder(servers, owner) {
  for (const name of readdirSync(servers)) {
    if (!isAlive(Number(name.split('-')[0]))) rmSync(join(servers, name), { recursive: true, force: true })
  }
  const folder = mkdtempSync(join(servers, `${owner}-`))
  chmodSync(folder, 0o711)
  return folder
}

export function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** With mounts of its own, which nobody else sees. Whoever is not root may have them in a name space of users. */
const APART = SERVER_USER
  ? ['unshare', '--mount']
  : ['unshare', '--user', '--map-current-user', '--keep-caps', '--mount']

/** Starts the process that runs the server, and waits until the server takes connections. */
async function keep(order) {
  const [program, ...args] = [
    ...(order.small_disk_mb > 0 ? APART : []),
    process.execPath,
    KEEPER,
    JSON.stringify(order),
  ]
  const keeper = spawn(program, args, {
    // Whoever kills a whole group of processes leaves it alive, to clear up after them.
    detached: true,
    // Ours would keep those waiting who read them to the end.
    stdio: ['ignore', 'pipe', openSync(join(order.folder, 'keeper.log'), 'a')],
  })
  let told = ''
  for await (const chunk of keeper.stdout.setEncoding('utf8')) {
    told += chunk
    if (told.endsWith('\n')) break
  }
  if (told !== 'ready\n')
    throw new Error(`PostgreSQL did not start: ${told || `its keeper ended, see ${order.folder}`}`)
  keeper.unref()
  return keeper
}

async function freePort() {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (await isFree(port)) return port
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
