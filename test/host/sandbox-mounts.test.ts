import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { misplaced } from '../../src/host/sandbox/mounts.js'
import { bwrapArguments, type Mount, type View } from '../../src/host/sandbox/plan.js'
import { Tree } from '../../src/host/sandbox/tree.js'
import { describeSandboxed } from '../support/sandbox.js'
import { fenceOf, run } from './fenced.js'
import { put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()

describeSandboxed('somebody who swaps files while a fence is put up', () => {
  it('opens nothing', { timeout: 120_000 }, async () => {
    const root = temporaryFolder()
    const outside = temporaryFolder()
    put(root, { 'sub/file': 'inside\n', 'box/.env': 'secret\n' })
    put(outside, { file: 'outside\n' })
    const swap = `cd ${root}; while :; do mv sub kept; ln -s ${outside} sub; rm sub; mv kept sub; mv box moved; mv moved box; done`
    const swapper = spawn('bash', ['-c', swap], { stdio: 'ignore', detached: true })
    let stood = 0
    try {
      for (let i = 0; i < 40; i++) {
        const result = await run(root, 'cat sub/file; echo planted > sub/planted; cat */.env', {
          write_paths: [['sub/**']],
          hidden: ['**/.env'],
        })
        if (result.status === 'exited') stood++
        else
          expect(result).toMatchObject({
            status: 'failed',
            message: expect.stringContaining('the sandbox could not be put up'),
          })
        expect(result.output).not.toMatch(/outside|secret/)
      }
    } finally {
      process.kill(-(swapper.pid as number), 'SIGKILL')
      await once(swapper, 'exit')
    }
    expect(readdirSync(outside)).toEqual(['file'])
    expect(stood).toBeGreaterThan(0)
  })
})

describeSandboxed('the look at a fence before a command starts', () => {
  /** What is wrong with the mounts of a process that was given these. */
  async function lookAt(planned: Mount[], ...args: string[]): Promise<string | null> {
    const common = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--die-with-parent']
    const child = spawn('bwrap', [...common, ...args, 'sh', '-c', 'echo; cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    const wrong = misplaced(planned, Number(inside))
    child.stdin.end()
    await once(child, 'exit')
    return wrong
  }

  it('finds a mount that is missing, elsewhere, of another kind, writable, or of something else', async () => {
    const root = temporaryFolder()
    const other = temporaryFolder()
    put(root, { 'sub/file': '', file: '' })
    const sub = join(root, 'sub')
    const file = join(root, 'file')
    const own = (writable: boolean): Mount => ({ kind: 'own', path: sub, writable })
    expect(await lookAt([own(true)], '--bind', sub, sub)).toBe(null)
    expect(await lookAt([own(false)], '--ro-bind', sub, sub)).toBe(null)
    expect(await lookAt([own(false)], '--bind', sub, sub)).toBe(sub)
    expect(await lookAt([own(true)], '--bind', other, sub)).toBe(sub)
    expect(await lookAt([own(true)], '--bind', sub, other)).toBe(sub)
    expect(await lookAt([own(true)])).toBe(sub)
    expect(await lookAt([{ kind: 'empty', path: sub, writable: true }], '--tmpfs', sub)).toBe(null)
    expect(await lookAt([{ kind: 'empty', path: sub, writable: true }], '--bind', sub, sub)).toBe(sub)
    expect(await lookAt([{ kind: 'nothing', path: file }], '--ro-bind', '/dev/null', file)).toBe(null)
    expect(await lookAt([{ kind: 'nothing', path: file }])).toBe(file)
  })

  it('notices that a folder was moved while the files were looked at', async () => {
    const root = temporaryFolder()
    put(root, { 'box/.env': 'secret', 'other/file': '' })
    let isMoved = false
    const look = {
      tag: (_: string, name: string) => {
        if (name === 'box' && !isMoved) renameSync(join(root, 'box'), join(root, 'moved'))
        if (name === 'box') isMoved = true
        return name === '.env' ? name : null
      },
      enters: () => true,
    }
    const tree = new Tree(root, look)
    expect(await tree.walk()).toMatchObject({ found: [], unsettled: true })
    expect(await tree.walk()).toMatchObject({ found: [{ path: 'moved/.env', kind: 'file' }], unsettled: false })
  })
})

describe('what bubblewrap is told', () => {
  const view: View = {
    machine: {
      emptied: ['/home', '/tmp'],
      homes: ['/home/ada'],
      tools: ['/home/ada/.cargo'],
      secrets: [{ path: '/etc/shadow', kind: 'file' }],
      home_secrets: [],
      settings: [],
      levers: [],
    },
    around: { concealed: [], seen: [] },
    readable: ['/home/ada/work'],
    writable: ['/home/ada/work'],
    protected: ['/home/ada/work/.git'],
    held: ['/home/ada/work/retinue.yaml'],
    hidden: [
      { path: '/home/ada/work/.env', kind: 'file' },
      { path: '/home/ada/work/a/b/keys', kind: 'folder' },
    ],
    shown: [],
    sockets: ['/home/ada/.agent', '/var/lib/service.sock'],
    forbids_namespaces: true,
  }

  it('is everything read-only, then what is hidden, then the workspace', () => {
    expect(bwrapArguments(fenceOf('/home/ada/work'), '/home/ada/work/src', view).join(' ')).toBe(
      [
        '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --disable-userns',
        '--cap-drop ALL --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc',
        '--tmpfs /home --tmpfs /tmp --ro-bind-try /home/ada/.cargo /home/ada/.cargo',
        '--ro-bind /dev/null /etc/shadow --ro-bind /dev/null /var/lib/service.sock --dir /home/ada',
        '--bind /home/ada/work /home/ada/work --bind /home/ada/work/a /home/ada/work/a',
        '--bind /home/ada/work/a/b /home/ada/work/a/b --ro-bind /home/ada/work/.git /home/ada/work/.git',
        '--tmpfs /home/ada/work/retinue.yaml --ro-bind /dev/null /home/ada/work/.env --tmpfs /home/ada/work/a/b/keys',
        '--remount-ro /home/ada/work/retinue.yaml --remount-ro /home/ada/work/a/b/keys --chdir /home/ada/work/src',
      ].join(' '),
    )
  })

  it('hides the secrets of a home folder that is itself the workspace', () => {
    const machine = {
      ...view.machine,
      emptied: ['/home/ada', '/tmp'],
      home_secrets: [{ path: '/home/ada/.ssh', kind: 'folder' as const }],
    }
    const own = {
      ...view,
      machine,
      readable: ['/home/ada'],
      writable: ['/home/ada'],
      protected: [],
      held: [],
      hidden: [],
    }
    const args = bwrapArguments(fenceOf('/home/ada'), '/home/ada', own).join(' ')
    expect(args).toContain('--bind /home/ada /home/ada')
    expect(args).toContain('--tmpfs /home/ada/.ssh')
    expect(args).not.toContain('--tmpfs /home/ada ')
  })
})
