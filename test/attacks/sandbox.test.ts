import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { type CommandResult, createHost, type Fence } from '../../src/host/index.js'
import { git, put } from '../host/helpers.js'
import { sampled } from '../support/sampled.js'
import { describeSandboxed } from '../support/sandbox.js'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
const IS_ROOT = process.getuid?.() === 0
const NODE = process.execPath
const { processes } = createHost()

/** A workspace with something to attack inside, beside and far from it. */
type Lab = {
  base: string
  /** The workspace: a repository with a nested one, a database of Retinue's and a secret. */
  ws: string
  /** A folder of somebody else's. */
  outside: string
  home: string
  /** A word that nobody else has. */
  token: string
  /** A process of the person's, with a secret in its environment. */
  victim: ChildProcess
  connections: string[]
  port: number
  /** Ended with the lab. */
  children: ChildProcess[]
}

type Attack = {
  name: string
  command: (lab: Lab) => string
  /** What another command does afterwards, for what only shows then. */
  next?: (lab: Lab) => string
  prepare?: (lab: Lab) => void | Promise<void>
  worked: (lab: Lab, result: CommandResult) => boolean
  /** Left out where it could not work without a fence either. */
  needs?: boolean
  fence?: Partial<Fence>
}

const said = (text: (lab: Lab) => string) => (lab: Lab, result: CommandResult) => result.output.includes(text(lab))
const secretWasRead = said((lab) => `secret-${lab.token}`)
const succeeded = (_: Lab, result: CommandResult) => result.output.includes('it worked')
const has = (path: (lab: Lab) => string) => (lab: Lab) => contains(path(lab), lab.token)
const outsideWasWritten = has((lab) => join(lab.outside, 'planted'))

function contains(path: string, token: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').includes(token)
}

/** Ids of the living processes that have the token in their command line. */
function carriers(token: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(token)
      } catch {
        return false
      }
    })
    .map(Number)
}

const survived = (lab: Lab) => carriers(`1000.${lab.token}`).length > 0
/** Waits until what it has left behind runs. */
const untilStarted = '; until [ -e started ]; do sleep 0.01; done'
const staysBehind = (lab: Lab) => `sh -c "touch started; exec sleep 1000.${lab.token}"`
const asRootOfItsOwn = (script: string) => `unshare --user --map-root-user --mount sh -c '${script}'`

const connectTo = (path: string) =>
  `${NODE} -e "require('net').connect('${path}').on('connect', () => console.log('it worked')).on('error', () => {}).end()"`

const ATTACKS: Attack[] = [
  {
    name: 'a write to an absolute path',
    command: (l) => `echo ${l.token} > ${l.outside}/planted`,
    worked: outsideWasWritten,
  },
  { name: 'a write with ..', command: (l) => `echo ${l.token} > ../outside/planted`, worked: outsideWasWritten },
  {
    name: 'a write through a link in the workspace',
    command: (l) => `ln -s ${l.outside} link; echo ${l.token} > link/planted`,
    worked: outsideWasWritten,
  },
  {
    name: 'a hard link to a file outside',
    command: (l) => `ln ${l.outside}/file hard; echo ${l.token} >> hard`,
    worked: has((l) => `${l.outside}/file`),
  },
  {
    name: 'a change of mode outside',
    command: (l) => `chmod 777 ${l.outside}/file`,
    worked: (l) => (statSync(`${l.outside}/file`).mode & 0o777) === 0o777,
  },
  {
    name: 'a file removed outside',
    command: (l) => `rm -f ${l.outside}/file`,
    worked: (l) => !existsSync(`${l.outside}/file`),
  },
  {
    name: 'a write to the temporary folder of the machine',
    command: (l) => `echo ${l.token} > /tmp/planted-${l.token}`,
    worked: has((l) => `/tmp/planted-${l.token}`),
  },
  {
    name: 'a write through /proc/self/root',
    command: (l) => `echo ${l.token} > /proc/self/root${l.outside}/planted`,
    worked: outsideWasWritten,
  },
  {
    name: 'a write through the root of the first process',
    command: (l) => `echo ${l.token} > /proc/1/root${l.outside}/planted`,
    worked: outsideWasWritten,
    needs: IS_ROOT && existsSync(`/proc/1/root${CACHE}`),
  },
  {
    name: 'a write through the folder of another process',
    command: (l) => `echo ${l.token} > /proc/${l.victim.pid}/cwd/planted`,
    worked: outsideWasWritten,
  },
  {
    name: 'a write through /proc/self/cwd and ..',
    command: (l) => `echo ${l.token} > /proc/self/cwd/../outside/planted`,
    worked: outsideWasWritten,
  },
  {
    name: 'a command in the git configuration',
    command: (l) => `git config core.fsmonitor ${l.token}`,
    worked: has((l) => `${l.ws}/.git/config`),
  },
  {
    name: 'a write to the git configuration without git',
    command: (l) => `echo ${l.token} >> .git/config`,
    worked: has((l) => `${l.ws}/.git/config`),
  },
  {
    name: 'a git hook',
    command: (l) => `echo ${l.token} > .git/hooks/post-checkout`,
    worked: has((l) => `${l.ws}/.git/hooks/post-checkout`),
  },
  {
    name: 'another folder in the place of .git',
    command: (l) => `mv .git old; git init -q; echo ${l.token} > .git/hooks/pre-commit`,
    worked: has((l) => `${l.ws}/.git/hooks/pre-commit`),
  },
  { name: 'git metadata removed', command: () => 'rm -rf .git', worked: (l) => !existsSync(`${l.ws}/.git/HEAD`) },
  {
    name: 'a repository where there was none',
    prepare: (l) => rmSync(`${l.ws}/.git`, { recursive: true }),
    command: (l) => `git init -q; mkdir -p .git/hooks; echo ${l.token} > .git/hooks/pre-commit`,
    worked: has((l) => `${l.ws}/.git/hooks/pre-commit`),
  },
  {
    name: 'a .git file where there was none',
    prepare: (l) => rmSync(`${l.ws}/.git`, { recursive: true }),
    command: (l) => `echo gitdir: evil-${l.token} > .git`,
    worked: (l) => existsSync(`${l.ws}/.git`) && lstatSync(`${l.ws}/.git`).isFile(),
  },
  {
    name: 'a hook in a nested repository',
    command: (l) => `echo ${l.token} > nested/.git/hooks/pre-commit`,
    worked: has((l) => `${l.ws}/nested/.git/hooks/pre-commit`),
  },
  {
    name: 'a hook in a nested repository whose folder was moved',
    command: (l) => `mv nested moved; echo ${l.token} > moved/.git/hooks/pre-commit`,
    worked: has((l) => `${l.ws}/moved/.git/hooks/pre-commit`),
  },
  {
    name: "a write to Retinue's database",
    command: (l) => `echo ${l.token} >> .retinue/retinue.db`,
    worked: has((l) => `${l.ws}/.retinue/retinue.db`),
  },
  {
    name: "Retinue's database removed",
    command: () => 'rm -rf .retinue',
    worked: (l) => !existsSync(`${l.ws}/.retinue/retinue.db`),
  },
  { name: "Retinue's folder renamed", command: () => 'mv .retinue gone', worked: (l) => existsSync(`${l.ws}/gone`) },
  ...['retinue.yaml', 'retinue.yml'].map(
    (name): Attack => ({
      name: `a ${name} of its own`,
      command: (l) => `rm -rf ${name}; echo mode: ${l.token} > ${name}`,
      worked: (l) =>
        existsSync(`${l.ws}/${name}`) &&
        !lstatSync(`${l.ws}/${name}`).isDirectory() &&
        contains(`${l.ws}/${name}`, l.token),
    }),
  ),
  {
    name: 'a change of a retinue.yaml that is there',
    prepare: (l) => put(l.ws, { 'retinue.yaml': 'mode: normal\n' }),
    command: (l) => `echo mode: ${l.token} > new; mv -f new retinue.yaml; echo ${l.token} >> retinue.yaml`,
    worked: has((l) => `${l.ws}/retinue.yaml`),
  },
  ...[
    '.ssh/id_rsa',
    '.aws/credentials',
    '.config/gh/hosts.yml',
    '.npmrc',
    '.netrc',
    '.bash_history',
    '.cargo/credentials.toml',
    '.local/share/keyrings/login.keyring',
    '.local/share/opencode/auth.json',
    'tools/token',
  ].map(
    (file): Attack => ({
      name: `reading ~/${file}`,
      command: () => `cat ~/${file}`,
      worked: secretWasRead,
    }),
  ),
  { name: 'reading a hidden file', command: () => 'cat .env', worked: secretWasRead },
  { name: 'reading a hidden file deep inside', command: () => 'cat deep/er/.env', worked: secretWasRead },
  {
    name: 'reading a hidden file by moving its folder',
    command: () => 'mv deep shallow; cat shallow/er/.env',
    worked: secretWasRead,
  },
  {
    name: 'reading a hidden file by moving its folder for the next command',
    fence: { hidden: ['deep/er/.env'] },
    command: () => 'mv deep shallow; mv deep/er deep/est; rm -rf deep/er',
    next: () => 'cat shallow/er/.env deep/est/.env',
    worked: secretWasRead,
  },
  {
    name: 'a change of what only may be read',
    fence: { read_only: ['control/**'] },
    command: (l) => `echo ${l.token} >> control/file`,
    worked: has((l) => `${l.ws}/control/file`),
  },
  {
    name: 'a change of what only may be read, by name',
    fence: { read_only: ['**/er/*.txt'] },
    command: (l) => `rm -f deep/er/kept.txt; echo ${l.token} > deep/er/kept.txt`,
    worked: has((l) => `${l.ws}/deep/er/kept.txt`),
  },
  ...['control/**', 'control', 'control/*', './control/**/*'].map(
    (pattern): Attack => ({
      name: `a new file where ${pattern} only may be read`,
      fence: { read_only: [pattern] },
      command: (l) => `echo ${l.token} > control/planted`,
      worked: has((l) => `${l.ws}/control/planted`),
    }),
  ),
  {
    name: 'another folder in the place of one that only may be read',
    fence: { read_only: ['deep/er'] },
    command: (l) => `mv deep old; mkdir -p deep/er; echo ${l.token} > deep/er/planted`,
    worked: has((l) => `${l.ws}/deep/er/planted`),
  },
  {
    name: 'a file that only may be read where there was none',
    fence: { read_only: ['deep/new.txt', 'CHANGES.md'] },
    command: (l) => `echo ${l.token} > CHANGES.md; rm -rf deep/new.txt; mv deep old; mkdir deep; echo > deep/new.txt`,
    worked: (l) => [`${l.ws}/CHANGES.md`, `${l.ws}/deep/new.txt`].some((path) => existsSync(path)),
  },
  {
    name: 'a change where everything only may be read',
    fence: { read_only: ['**/*'] },
    command: (l) => `echo ${l.token} > planted`,
    worked: has((l) => `${l.ws}/planted`),
  },
  { name: 'reading a hidden file by a hard link', command: () => 'ln .env plain; cat plain', worked: secretWasRead },
  {
    name: 'reading a hidden file from what git packs up',
    command: () => 'tar cf - . | strings',
    worked: secretWasRead,
  },
  {
    name: 'reading the passwords of the machine',
    command: () => 'grep -q . /etc/shadow && echo it worked',
    worked: succeeded,
    needs: IS_ROOT,
  },
  {
    name: "reading another process's environment",
    command: (l) => `tr '\\0' '\\n' < /proc/${l.victim.pid}/environ`,
    worked: secretWasRead,
  },
  {
    name: 'reading the environment of any process',
    command: () => "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
    worked: secretWasRead,
  },
  {
    name: 'killing another process',
    command: (l) => `kill -9 ${l.victim.pid}; sleep 0.1`,
    worked: (l) => l.victim.signalCode === 'SIGKILL',
  },
  {
    name: 'tracing another process',
    command: (l) => `perl -e 'print "it worked" if syscall(101, 16, ${l.victim.pid}, 0, 0) == 0'`,
    worked: succeeded,
    needs: process.arch === 'x64' && IS_ROOT,
  },
  {
    name: 'a connection to this machine',
    command: (l) => `exec 9<>/dev/tcp/127.0.0.1/${l.port}; echo ${l.token} >&9`,
    worked: (l) => l.connections.includes('tcp'),
  },
  ...(['outside', 'ws', 'home'] as const).map(
    (place): Attack => ({
      name: `a connection to a socket in ${place}`,
      command: (l) => connectTo(`${l[place]}/socket`),
      worked: succeeded,
    }),
  ),
  {
    name: 'a connection to a socket that was made through a link',
    prepare: async (l) => {
      mkdirSync(`${l.outside}/v1`)
      symlinkSync('v1', `${l.outside}/current`)
      await listen(l, 'linked', { path: `${l.outside}/current/socket` })
    },
    command: (l) => connectTo(`${l.outside}/v1/socket`),
    worked: succeeded,
  },
  {
    name: 'a connection to a socket that was made by a relative name',
    prepare: async (l) => {
      const script = "require('net').createServer((s) => s.end()).listen('relative', () => console.log())"
      const server = spawn(NODE, ['-e', script], { cwd: l.outside, stdio: ['ignore', 'pipe', 'inherit'] })
      l.children.push(server)
      await once(server.stdout, 'data')
    },
    command: (l) => connectTo(`${l.outside}/relative`),
    worked: succeeded,
  },
  {
    name: 'a connection to a socket with no name in the file system',
    command: (l) => connectTo(`\\0retinue-${l.token}`),
    worked: succeeded,
  },
  {
    name: 'surviving by setsid',
    command: (l) => `setsid ${staysBehind(l)} & ${untilStarted.slice(2)}`,
    worked: survived,
  },
  {
    name: 'surviving by setsid and nohup',
    command: (l) => `nohup setsid -f ${staysBehind(l)}${untilStarted}`,
    worked: survived,
  },
  {
    name: 'surviving by a double fork',
    command: (l) =>
      `perl -MPOSIX=setsid -e 'fork and exit; setsid; fork and exit; exec "sh", "-c", "touch started; exec sleep 1000.${l.token}"'${untilStarted}`,
    worked: survived,
  },
  {
    name: 'surviving with all signals ignored',
    command: (l) =>
      `setsid -f sh -c "trap '' TERM HUP INT QUIT; touch started; exec sleep 1000.${l.token}"${untilStarted}`,
    worked: survived,
  },
  {
    name: 'making everything writable again',
    command: (l) => `mount -o remount,rw /; mount -o remount,bind,rw /; echo ${l.token} > ${l.outside}/planted`,
    worked: outsideWasWritten,
  },
  {
    name: 'making everything writable as root of its own',
    command: (l) => asRootOfItsOwn(`mount -o remount,bind,rw /; echo ${l.token} > ${l.outside}/planted`),
    worked: outsideWasWritten,
  },
  { name: 'uncovering what is covered', command: () => 'umount -l .env 2>/dev/null; cat .env', worked: secretWasRead },
  {
    name: 'uncovering the home as root of its own',
    command: () => asRootOfItsOwn('umount -l ~; cat ~/.ssh/id_rsa'),
    worked: secretWasRead,
  },
  {
    name: 'user namespaces of its own',
    command: () => 'unshare --user echo it worked',
    worked: succeeded,
  },
  {
    name: 'a mount of its own',
    command: () => asRootOfItsOwn('mkdir here && mount -t tmpfs none here && echo it worked'),
    worked: succeeded,
  },
  { name: 'a device', command: (l) => `mknod ${l.ws}/null c 1 3 && echo it worked`, worked: succeeded, needs: IS_ROOT },
  { name: 'another root', command: () => 'chroot / echo it worked', worked: succeeded, needs: IS_ROOT },
  {
    name: 'a setting of the kernel',
    command: () =>
      'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern && echo it worked',
    worked: succeeded,
    needs: IS_ROOT,
  },
  {
    name: 'the keys of the session',
    command: () => `perl -e 'print "it worked" if syscall(250, 0, -3, 1) > 0'`,
    worked: succeeded,
    needs: process.arch === 'x64',
  },
  {
    name: 'a switch of the whole machine',
    // An unknown letter does nothing but is written down by the kernel.
    command: () => 'echo _ > /proc/sysrq-trigger && echo it worked',
    worked: succeeded,
    needs: IS_ROOT && existsSync('/proc/sysrq-trigger'),
  },
  {
    name: 'a setting of a device',
    command: () => 'v=$(cat /sys/class/net/lo/mtu); echo "$v" > /sys/class/net/lo/mtu && echo it worked',
    worked: succeeded,
    needs: IS_ROOT,
  },
  {
    name: 'the namespaces of another process',
    command: (l) => `nsenter -t ${l.victim.pid} -m sh -c 'echo ${l.token} > ${l.outside}/planted'`,
    worked: outsideWasWritten,
    needs: IS_ROOT,
  },
  {
    name: 'a program with the rights of its owner',
    command: (l) => `cp /bin/true lent; chmod 4755 lent; echo ${l.token}`,
    worked: (l) => (statSync(`${l.ws}/lent`).mode & 0o4000) !== 0,
  },
  { name: 'the workspace removed', command: (l) => `rm -rf ${l.ws}`, worked: (l) => !existsSync(`${l.ws}/.git`) },
  { name: 'the workspace moved', command: (l) => `mv ${l.ws} ${l.ws}-moved`, worked: (l) => !existsSync(l.ws) },
  {
    name: 'a link in the place of the workspace',
    command: (l) => `mv ${l.ws} ${l.ws}-moved; ln -s ${l.outside} ${l.ws}`,
    worked: (l) => lstatSync(l.ws).isSymbolicLink(),
  },
  {
    name: 'a write where the contract allows none',
    fence: { write_paths: [['deep/**']] },
    command: (l) => `echo ${l.token} > code.txt`,
    worked: has((l) => `${l.ws}/code.txt`),
  },
  {
    name: 'a read where the contract allows none',
    fence: { read_paths: [['nested/**', 'control']], hidden: [] },
    command: () => 'cat deep/er/.env',
    worked: secretWasRead,
  },
]

const labs: Lab[] = []
const servers: Server[] = []

async function openLab(): Promise<Lab> {
  mkdirSync(CACHE, { recursive: true })
  const base = realpathSync(mkdtempSync(join(CACHE, 'retinue-attack-')))
  const token = String(randomInt(1e9, 1e10))
  const [ws, outside, home] = ['ws', 'outside', 'home'].map((name) => join(base, name)) as [string, string, string]
  const secret = `secret-${token}\n`
  put(base, {
    'ws/code.txt': 'code\n',
    'ws/control/file': 'control\n',
    'ws/.env': secret,
    'ws/deep/er/.env': secret,
    'ws/deep/er/kept.txt': 'kept\n',
    'ws/.retinue/retinue.db': 'a database\n',
    'outside/file': 'a file\n',
    'home/.ssh/id_rsa': secret,
    'home/.aws/credentials': secret,
    'home/.config/gh/hosts.yml': secret,
    'home/.npmrc': secret,
    'home/.netrc': secret,
    'home/.bash_history': secret,
    'home/.cargo/credentials.toml': secret,
    'home/.local/bin/tool': '',
    'home/.local/lib/tool': '',
    'home/.local/share/keyrings/login.keyring': secret,
    'home/.local/share/opencode/auth.json': secret,
    'home/tools/bin/tool': '',
    'home/tools/lib/tool': 'lib\n',
    'home/tools/token': secret,
  })
  git(ws, 'init', '-q')
  mkdirSync(join(ws, 'nested'))
  git(join(ws, 'nested'), 'init', '-q')
  const victim = spawn('sleep', ['1000'], {
    cwd: outside,
    env: { ...process.env, KEY: `secret-${token}` },
    stdio: 'ignore',
  })
  await once(victim, 'spawn')
  const lab: Lab = { base, ws, outside, home, token, victim, connections: [], port: 0, children: [victim] }
  labs.push(lab)
  const address = await listen(lab, 'tcp', { port: 0, host: '127.0.0.1' })
  for (const place of [ws, outside, home]) await listen(lab, place, { path: join(place, 'socket') })
  await listen(lab, 'abstract', { path: `\0retinue-${token}` })
  lab.port = typeof address === 'object' && address ? address.port : 0
  return lab
}

async function listen({ connections }: Lab, name: string, at: ListenOptions): Promise<ReturnType<Server['address']>> {
  const server = createServer((socket) => {
    connections.push(name)
    socket.on('error', () => {}).destroy()
  })
  servers.push(server)
  server.listen(at)
  await once(server, 'listening')
  return server.address()
}

async function closeLabs(): Promise<void> {
  for (const { base, token, children } of labs.splice(0)) {
    for (const child of children) child.kill('SIGKILL')
    for (const pid of carriers(`1000.${token}`)) process.kill(pid, 'SIGKILL')
    rmSync(base, { recursive: true, force: true })
    rmSync(`/tmp/planted-${token}`, { force: true })
  }
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
}

function run(lab: Lab, command: string, fence?: Partial<Fence>): Promise<CommandResult> {
  const whole = { root: lab.ws, write_paths: [['**']], read_paths: [['**']], hidden: ['**/.env'], network: false }
  return processes.run({
    command,
    cwd: lab.ws,
    env: { HOME: lab.home, PATH: `${lab.home}/.local/bin:${lab.home}/tools/bin:${process.env.PATH}` },
    timeout_ms: 20_000,
    max_output_bytes: 200_000,
    ...(fence && { fence: { ...whole, ...fence } }),
  })
}

/** What the fence must not keep anybody from, tried beside each attack. */
const CONTROL = 'cat control/file ~/tools/lib/tool && mkdir -p ~/.cache && touch ~/.cache/x /tmp/x'

describeSandboxed('what a command can do', () => {
  const counts = { stopped: 0, worked: 0, all: 0 }
  afterAll(() => {
    console.log(`sandbox: ${counts.stopped}/${counts.all} stopped, ${counts.worked}/${counts.all} twins worked`)
  })

  const attacks = sampled(
    ATTACKS.filter(({ needs }) => needs !== false),
    3,
  )
  it.each(attacks)('without a fence and not with one: $name', async (attack) => {
    counts.all++
    const attempt = async (fence?: Partial<Fence>) => {
      const lab = await openLab()
      await attack.prepare?.(lab)
      const control = fence ? await run(lab, CONTROL, fence) : null
      const first = await run(lab, attack.command(lab), fence)
      const result = attack.next ? await run(lab, attack.next(lab), fence) : first
      return {
        worked: attack.worked(lab, result),
        status: result.status,
        message: result.message,
        control: control?.output,
      }
    }
    try {
      const open = await attempt()
      counts.worked += Number(open.worked)
      const fenced = await attempt(attack.fence ?? {})
      counts.stopped += Number(!fenced.worked)
      expect({ open: open.worked, fenced }).toEqual({
        open: true,
        fenced: { worked: false, status: 'exited', message: null, control: 'control\nlib\n' },
      })
    } finally {
      await closeLabs()
    }
  })
})
