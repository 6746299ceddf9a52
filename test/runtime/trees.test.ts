import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import type { EventData, EventType, StoredEvent } from '../../src/index.js'
import { family, gate, toldTo } from '../seeds/family.js'
import { git, tree } from '../support/project.js'

const AUTO = { mode: 'auto' as const }

function dataOf<T extends EventType>(events: StoredEvent[], type: T): EventData<T>[] {
  return events.flatMap((event) => (event.type === type ? [event.data as EventData<T>] : []))
}

function write(path: string, content: string) {
  return { calls: [{ write_file: { path, content } }] }
}

function replace(path: string, old_text: string, new_text: string) {
  return { calls: [{ edit_file: { path, old_text, new_text } }] }
}

function spawn(task: string, owns: string[], more: object = {}) {
  return { spawn: { task, owns, ...more } }
}

const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }

/** What is left of trees and branches, in the private repository and in the person's. */
function leftOver(cwd: string): string[] {
  const worktrees = join(cwd, '.retinue', 'worktrees')
  const refs = (where: string[]) =>
    git(cwd, ...where, 'for-each-ref', '--format=%(refname)')
      .split('\n')
      .filter(Boolean)
  return [
    ...(existsSync(worktrees) ? readdirSync(worktrees) : []),
    ...refs([`--git-dir=${join(cwd, '.retinue', 'git')}`]).filter((ref) => ref.startsWith('refs/heads/')),
    ...(existsSync(join(cwd, '.git')) ? refs([]).filter((ref) => ref.includes('retinue')) : []),
  ]
}

describe('a sub-agent that writes', () => {
  it('is not touched by a parent that somebody else has taken up meanwhile', async () => {
    let taken = false
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('write', ['src/**'])] }, AWAIT, { text: 'done' }],
        a1: [write('src/a.txt', 'one\n'), { text: 'wrote' }],
      },
      {
        settings: AUTO,
        spoil: (store) => {
          const [lease, append] = [store.lease.bind(store), store.append.bind(store)]
          store.append = async (batch) => {
            if (batch.events.some(({ type }) => type === 'agent.subagent_waiting_for_merge')) taken = true
            return append(batch)
          }
          store.lease = async (run_id, agent_id) => {
            const held = await lease(run_id, agent_id)
            return held && taken && agent_id === 'root' ? { ...held, epoch: held.epoch + 1 } : held
          }
        },
      },
    )
    const run = retinue.run({ task: 'Do it' })
    await expect(run.result()).rejects.toThrow('somebody else has taken it up')
    const refs = git(cwd, `--git-dir=${join(cwd, '.retinue', 'git')}`, 'log', '--format=%s', `retinue/${run.run_id}/a1`)
    expect(refs.split('\n')).not.toContain('write')
  })

  it('makes no tree where somebody else has taken it up meanwhile', async () => {
    const { retinue, cwd } = await family(
      { root: [{ calls: [spawn('write', ['src/**'])] }, AWAIT, { text: 'done' }], a1: [write('src/a.txt', 'one\n')] },
      {
        settings: AUTO,
        spoil: (store) => {
          const lease = store.lease.bind(store)
          store.lease = async (run_id, agent_id) => {
            const held = await lease(run_id, agent_id)
            return held && agent_id === 'a1' ? { ...held, epoch: held.epoch + 1 } : held
          }
        },
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const result = await run.result().catch((error: Error) => error)
    expect(JSON.stringify(result instanceof Error ? result.message : result)).toContain('taken it up')
    expect(existsSync(join(cwd, '.retinue', 'worktrees', run.run_id, 'a1'))).toBe(false)
  })

  it('waits for an earlier one that may write the same, without a slot and without losing time', async () => {
    const first = gate()
    const real = createHost()
    let passed = 0
    const clock = { ...real.clock, now: () => real.clock.now() + passed }
    const { retinue, cwd } = await family(
      {
        root: [
          { calls: [spawn('first', ['src/**']), spawn('second', ['src/b.txt']), spawn('third', ['docs/**'])] },
          AWAIT,
          { text: 'done' },
        ],
        a1: [write('src/a.txt', 'one\n'), { text: 'wrote a' }],
        a2: [
          { calls: [{ list_dir: { path: 'src' } }] },
          write('src/b.txt', 'two\n'),
          { calls: [{ read_file: { path: 'src/a.txt' } }] },
          { text: 'wrote b' },
        ],
        a3: [{ text: 'looked' }],
      },
      {
        files: { 'src/x.txt': 'x\n' },
        settings: { ...AUTO, max_concurrent: 2 },
        host: { ...real, clock },
        hold: ({ agent_id }) => (agent_id === 'a1' ? first.opened : undefined),
      },
    )
    const run = retinue.run({ task: 'go' })
    const awaited: unknown[] = []
    for await (const event of run) {
      if (event.type === 'agent.workspace_awaited') {
        awaited.push(event.data)
        // Longer than all the time that it has.
        passed = 50_000
      }
      // The third gets to work although two are open already.
      if (event.type === 'agent.subagent_closed' && event.data.sub_agent_id === 'a3') first.open()
    }
    expect(awaited).toEqual([{ behind: ['a1'] }])
    const events = await retinue.events(run.run_id)
    expect(dataOf(events, 'agent.subagent_admitted').map(({ sub_agent_id, after }) => [sub_agent_id, after])).toEqual([
      ['a1', []],
      ['a2', ['a1']],
    ])
    // It began with what the first had written.
    const seen = dataOf(events, 'tool.finished').find(({ tool }) => tool === 'read_file')
    expect(seen).toMatchObject({ status: 'ok', content: expect.stringContaining('one') })
    expect(tree(cwd)).toEqual({ 'src/x.txt': 'x\n', 'src/a.txt': 'one\n', 'src/b.txt': 'two\n' })
    expect(leftOver(cwd)).toEqual([])
  })

  it('does not wait where what they own cannot overlap, and is merged after the earlier one all the same', async () => {
    const first = gate()
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('first', ['a.txt']), spawn('second', ['b.txt'])] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
        a2: [write('b.txt', 'two\n'), { text: 'wrote b' }],
      },
      { settings: AUTO, hold: ({ agent_id }) => (agent_id === 'a1' ? first.opened : undefined) },
    )
    const run = retinue.run({ task: 'go' })
    for await (const event of run) {
      if (event.type === 'agent.subagent_waiting_for_merge' && event.agent_id === 'a2') first.open()
    }
    const events = await retinue.events(run.run_id)
    expect(dataOf(events, 'agent.workspace_awaited')).toEqual([])
    expect(dataOf(events, 'agent.worktree_merged').map((merged) => merged.sub_agent_id)).toEqual(['a1', 'a2'])
    expect(tree(cwd)).toEqual({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  })

  it('is cancelled while it waits to write, and holds nobody up', async () => {
    const first = gate()
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('first', ['**']), spawn('second', ['**'])] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
        a2: [write('b.txt', 'two\n'), { text: 'wrote b' }],
      },
      { settings: AUTO, hold: ({ agent_id }) => (agent_id === 'a1' ? first.opened : undefined) },
    )
    const run = retinue.run({ task: 'go' })
    for await (const event of run) {
      if (event.type !== 'agent.workspace_awaited') continue
      await retinue.cancelAgent(run.run_id, 'a2', 'test', 'not needed')
      first.open()
    }
    const events = await retinue.events(run.run_id)
    const closed = dataOf(events, 'agent.subagent_closed').map(({ sub_agent_id, result }) => [
      sub_agent_id,
      result.outcome,
    ])
    expect(closed).toEqual([
      ['a2', 'cancelled'],
      ['a1', 'completed'],
    ])
    expect(tree(cwd)).toEqual({ 'a.txt': 'one\n' })
    expect(leftOver(cwd)).toEqual([])
  })

  it('fails and says why where it can have no worktree; the folder stays as it is, and its parent goes on', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'write' } }] }, write('own.txt', 'by the root\n'), { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      { settings: AUTO },
    )
    writeFileSync(join(cwd, '.retinue', 'worktrees'), 'in the way')
    const run = retinue.run({ task: 'go' })
    expect(await run.result()).toMatchObject({ outcome: 'completed' })
    const events = await retinue.events(run.run_id)
    const [closed] = dataOf(events, 'agent.subagent_closed')
    expect(closed).toMatchObject({ final_status: 'failed', result: { outcome: 'error', cause: 'worktree' } })
    expect(dataOf(events, 'agent.worktree_failed')).toEqual([{ message: closed?.result.reason }])
    expect((await toldTo(retinue, run.run_id))[0]?.content).toContain(closed?.result.reason as string)
    expect(tree(cwd)).toEqual({ 'own.txt': 'by the root\n' })
  })

  it('looks around in commands without a tree of its own, and can change nothing by that', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'look' } }] }, { text: 'done' }],
        a1: [{ calls: [{ run_command: { command: 'ls && cat x.txt | head -1' } }] }, { text: 'seen' }],
      },
      { files: { 'x.txt': 'x marks\n' }, settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const events = await retinue.events(run.run_id)
    expect(dataOf(events, 'tool.finished').find(({ tool }) => tool === 'run_command')?.content).toContain('x marks')
    expect(dataOf(events, 'agent.worktree_created')).toEqual([])
    expect(existsSync(join(cwd, '.retinue', 'git'))).toBe(false)
  })
})

describe('the root agent', () => {
  it('works in the tree of the run from then on: what it writes is merged with the rest and lands with it', async () => {
    const { retinue, cwd } = await family(
      {
        root: [
          write('before.txt', 'in the folder\n'),
          { calls: [{ spawn_agent: { task: 'write', owns: ['a.txt'] } }] },
          { calls: [{ read_file: { path: 'a.txt' } }] },
          write('after.txt', 'in the tree\n'),
          { calls: [{ run_command: { command: 'cat a.txt after.txt > both.txt; pwd' } }] },
          { text: 'done' },
        ],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      { settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    let early: Record<string, string> | null = null
    for await (const event of run) {
      if (event.type === 'tool.called' && event.data.tool === 'run_command') early = tree(cwd)
    }
    expect(early).toEqual({ 'before.txt': 'in the folder\n' })
    expect(tree(cwd)).toEqual({
      'before.txt': 'in the folder\n',
      'a.txt': 'one\n',
      'after.txt': 'in the tree\n',
      'both.txt': 'one\nin the tree\n',
    })
    const { landing } = await run.result()
    expect(landing?.files.map(({ path }) => path)).toEqual(['a.txt', 'after.txt', 'both.txt'])
  })
})

const TOOLS = 'read_file,edit_file,write_file'

describe('a merge conflict', () => {
  /** The root changes the line that a1 changes, after a1 got its tree and before it has ended. */
  async function conflicting(more: Record<string, object[]>, settings: object) {
    const childWrote = gate()
    const rootWrote = gate()
    const requests: Record<string, number> = {}
    const made = await family(
      {
        root: [
          { calls: [spawn('change x', ['x.txt'], { checks: ['grep -q end x.txt'], tools: TOOLS })] },
          replace('x.txt', 'middle', 'by the root'),
          AWAIT,
          { text: 'done' },
        ],
        a1: [replace('x.txt', 'middle', 'by the child'), { text: 'changed x' }],
        ...more,
      },
      {
        files: { 'x.txt': 'top\nmiddle\nend\n' },
        settings: { ...AUTO, ...settings },
        hold: ({ agent_id }) => {
          requests[agent_id] = (requests[agent_id] ?? 0) + 1
          if (agent_id === 'root' && requests[agent_id] === 2) return childWrote.opened
          if (agent_id === 'a1' && requests[agent_id] === 2) return rootWrote.opened
          return undefined
        },
      },
    )
    const run = made.retinue.run({ task: 'go' })
    for await (const event of run) {
      if (event.type !== 'tool.finished' || event.data.tool !== 'edit_file') continue
      if (event.agent_id === 'a1') childWrote.open()
      if (event.agent_id === 'root') rootWrote.open()
    }
    const events = await made.retinue.events(run.run_id)
    return { ...made, run, events, closed: dataOf(events, 'agent.subagent_closed') }
  }

  it('is the failure of the sub-agent: files named, branch kept, and the rest lands', async () => {
    const { retinue, cwd, run, closed } = await conflicting({}, {})
    expect(closed).toHaveLength(1)
    expect(closed[0]).toMatchObject({
      final_status: 'failed',
      close_reason: expect.stringContaining('x.txt'),
      result: { outcome: 'merge_conflict', receipt: { merged: null, files: [{ path: 'x.txt', kind: 'modified' }] } },
    })
    expect(tree(cwd)).toEqual({ 'x.txt': 'top\nby the root\nend\n' })
    const [kept] = await retinue.worktrees()
    expect(kept).toMatchObject({ run_id: run.run_id, agent_id: 'a1', state: 'kept' })
    expect(readFileSync(join(kept?.path as string, 'x.txt'), 'utf8')).toBe('top\nby the child\nend\n')
    expect((await toldTo(retinue, run.run_id)).at(-1)?.content).toContain('x.txt')
    expect(await retinue.discard(run.run_id)).toHaveLength(1)
    expect(leftOver(cwd)).toEqual([])
  })

  it('is resolved by a sub-agent that gets both sides, under the same checks', async () => {
    const { retinue, cwd, run, events, closed } = await conflicting(
      {
        a2: [
          { calls: [{ read_file: { path: 'x.txt' } }] },
          write('x.txt', 'top\nby both\nend\n'),
          { text: 'resolved' },
        ],
      },
      { workspace: { repair: true } },
    )
    const [first, second] = dataOf(events, 'agent.subagent_created')
    expect(second).toMatchObject({ repairs: { sub_agent_id: 'a1' } })
    // Both sides are in what it gets to see.
    const seen = dataOf(events, 'tool.finished').find(({ tool }) => tool === 'read_file')?.content
    expect(seen).toMatch(/<{7}[\s\S]*by the root[\s\S]*={7}[\s\S]*by the child[\s\S]*>{7}/)
    // It can do no more than the one that it repairs.
    expect(second?.contract.permissions).toEqual(first?.contract.permissions)
    expect(closed.map(({ sub_agent_id, final_status }) => [sub_agent_id, final_status])).toEqual([
      ['a2', 'completed'],
      ['a1', 'completed'],
    ])
    expect(closed[1]).toMatchObject({
      close_reason: expect.stringContaining('resolved by a2'),
      result: { receipt: { kept: null, files: [{ path: 'x.txt', kind: 'modified' }] } },
    })
    // Its own commit is behind what the run came to, whatever the other made of it.
    const id = closed[1]?.result.receipt?.commits[0]?.id
    const { commit } = (await run.result()).landing as { commit: string }
    expect(git(cwd, `--git-dir=${join(cwd, '.retinue', 'git')}`, 'rev-list', commit).split('\n')).toContain(id)
    expect(
      dataOf(events, 'agent.gate_checked').map(({ sub_agent_id, what, passed }) => [sub_agent_id, what, passed]),
    ).toEqual([
      ['a1', 'grep -q end x.txt', true],
      ['a2', 'no conflict is marked in x.txt', true],
      ['a2', 'grep -q end x.txt', true],
      ['a2', 'no conflict is marked in x.txt', true],
      ['a2', 'grep -q end x.txt', true],
      ['a1', 'grep -q end x.txt', true],
    ])
    // Nobody asked for the second, and nobody is told about it apart from the first.
    expect(dataOf(events, 'agent.results_delivered')).toEqual([])
    expect(tree(cwd)).toEqual({ 'x.txt': 'top\nby both\nend\n' })
    expect(leftOver(cwd)).toEqual([])
    expect(await retinue.replay(run.run_id)).toMatchObject({ ok: true })
  })

  it('stays one where the sub-agent that was to resolve it leaves markers', async () => {
    const marked = '<<<<<<< ours\nby the root\n=======\nby the child\n>>>>>>> theirs'
    const { cwd, closed } = await conflicting(
      { a2: [write('x.txt', `top\n${marked}\nend\n`), { text: 'resolved' }] },
      { workspace: { repair: true } },
    )
    expect(closed.map(({ sub_agent_id, result }) => [sub_agent_id, result.outcome])).toEqual([
      ['a2', 'gate_failed'],
      ['a1', 'merge_conflict'],
    ])
    expect(tree(cwd)).toEqual({ 'x.txt': 'top\nby the root\nend\n' })
  })

  it('says why nobody could be asked to resolve it', async () => {
    const { closed } = await conflicting({}, { workspace: { repair: true }, budget: { sub_agents: 1 } })
    expect(closed[0]?.close_reason).toMatch(/nobody could be asked to resolve it: .*1 sub-agent is used up/)
  })
})

describe('a link into what is git’s', () => {
  it('does not get out of the worktree', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['**'])] }, AWAIT, { text: 'done' }],
        a1: [{ calls: [{ run_command: { command: 'mkdir src && ln -s ../.git src/g' } }] }, { text: 'done' }],
      },
      { settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed?.result).toMatchObject({
      outcome: 'policy_violation',
      reason: expect.stringContaining('src/g -> ../.git'),
    })
    expect(existsSync(join(cwd, 'src'))).toBe(false)
  })
})

describe('a folder that is owned and not there', () => {
  it('is made, so that commands can write in it', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['out/deep/**'])] }, AWAIT, { text: 'done' }],
        a1: [{ calls: [{ run_command: { command: 'echo new > out/deep/new.txt' } }] }, { text: 'done' }],
      },
      { settings: AUTO },
    )
    await retinue.run({ task: 'go' }).result()
    expect(tree(cwd)).toEqual({ 'out/deep/new.txt': 'new\n' })
  })
})

describe('a call that has to wait', () => {
  it('is made in the files that the agent has by then', async () => {
    const slow = gate()
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('write', ['a.txt'])] }, write('root.txt', 'by the root\n'), AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      {
        // While it runs, the sub-agent's parent gets a tree, and the call of the parent waits for that.
        settings: { ...AUTO, workspace: { setup: 'sleep 1' } },
        hold: ({ agent_id }) => (agent_id === 'root' && slowed() ? slow.opened : undefined),
      },
    )
    let requests = 0
    function slowed(): boolean {
      requests += 1
      return requests === 2
    }
    const run = retinue.run({ task: 'go' })
    for await (const event of run) if (event.type === 'agent.setup_started') slow.open()
    expect(await run.result()).toMatchObject({ landing: { state: 'landed' } })
    expect(tree(cwd)).toEqual({ 'a.txt': 'one\n', 'root.txt': 'by the root\n' })
  })
})

describe('a check', () => {
  it('of one that wrote nothing can change nothing, in the folder or in the tree of its parent', async () => {
    const check = 'echo leaked > README.md; echo new > left.txt; true'
    const { retinue, cwd } = await family(
      {
        root: [
          { calls: [spawn('early', ['b.txt'], { checks: [check] })] },
          AWAIT,
          { calls: [spawn('first', ['a.txt'])] },
          AWAIT,
          { calls: [spawn('second', ['README.md'], { checks: [check] })] },
          AWAIT,
          { text: 'done' },
        ],
        a1: [{ text: 'only looked' }],
        a2: [write('a.txt', 'one\n'), { text: 'wrote a' }],
        a3: [{ text: 'only looked' }],
      },
      { files: { 'README.md': 'precious\n' }, settings: AUTO },
    )
    await retinue.run({ task: 'go' }).result()
    expect(tree(cwd)).toEqual({ 'README.md': 'precious\n', 'a.txt': 'one\n' })
  })

  it('leaves nothing behind that decides about the next one, ignored or not', async () => {
    const { retinue, cwd } = await family(
      {
        root: [
          { calls: [spawn('first', ['a.sh'], { checks: ['sh a.sh'] })] },
          AWAIT,
          { calls: [spawn('second', ['b.txt'], { checks: ['! test -e cache/x && ! test -e stray.txt'] })] },
          AWAIT,
          { text: 'done' },
        ],
        a1: [write('a.sh', 'mkdir -p cache; echo poison > cache/x; echo stray > stray.txt\n'), { text: 'wrote a' }],
        a2: [write('b.txt', 'two\n'), { text: 'wrote b' }],
      },
      { files: { '.gitignore': 'cache/\n' }, settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const closed = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed.map(({ final_status }) => final_status)).toEqual(['completed', 'completed'])
    expect(Object.keys(tree(cwd)).sort()).toEqual(['.gitignore', 'a.sh', 'b.txt'])
  })
})

describe('files that git ignores', () => {
  it('are in no commit, so the worktrees that have them are kept, and everybody is told', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('first', ['**'])] }, AWAIT, write('.env.local', 'KEY=1\n'), { text: 'done' }],
        a1: [write('out/report.txt', 'long work\n'), write('a.txt', 'one\n'), { text: 'wrote' }],
      },
      { files: { '.gitignore': '.env.local\nout/\n' }, settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    const { landing } = await run.result()
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed?.result.receipt).toMatchObject({ left_out: ['out/report.txt'], merged: { kind: 'fast_forward' } })
    expect(landing).toMatchObject({ state: 'landed', left_out: ['.env.local'] })
    const told = (await toldTo(retinue, run.run_id)).map(({ content }) => content).join('\n')
    expect(told).toContain('out/report.txt')
    const trees = join(cwd, '.retinue', 'worktrees', run.run_id)
    expect(readFileSync(join(trees, 'a1', 'out/report.txt'), 'utf8')).toBe('long work\n')
    expect(readFileSync(join(trees, 'integration', '.env.local'), 'utf8')).toBe('KEY=1\n')
    expect(tree(cwd)).toEqual({ '.gitignore': '.env.local\nout/\n', 'a.txt': 'one\n' })
    await retinue.discard(run.run_id)
    expect(leftOver(cwd)).toEqual([])
  })
})

describe('what no commit can have', () => {
  it('is a failure that says so, and stays in the worktree', async () => {
    const nested = 'git init -q tool && echo work > tool/work.txt'
    const { retinue } = await family(
      {
        root: [{ calls: [spawn('one', ['**'])] }, AWAIT, { text: 'done' }],
        a1: [{ calls: [{ run_command: { command: nested } }] }, { text: 'made a tool' }],
      },
      { settings: AUTO },
    )
    const run = retinue.run({ task: 'go' })
    const { kept_work, files_changed } = await run.result()
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed?.result).toMatchObject({ outcome: 'policy_violation', reason: expect.stringContaining('tool/') })
    expect(kept_work).toEqual([{ agent_id: 'a1', outcome: 'policy_violation', ...closed?.result.receipt?.kept }])
    expect(files_changed).toEqual([])
    const still = async () => {
      const [kept] = await retinue.worktrees()
      return readFileSync(join(kept?.path as string, 'tool/work.txt'), 'utf8')
    }
    expect(await still()).toBe('work\n')
    await retinue.gc()
    expect(await still()).toBe('work\n')
  })

  it('is no pipe that git would wait for: it goes, and the rest is merged', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['**'])] }, AWAIT, { text: 'done' }],
        a1: [
          { calls: [{ run_command: { command: 'mkdir c && mkfifo c/.gitignore && echo x > c/x.txt' } }] },
          { text: 'done' },
        ],
      },
      { settings: AUTO },
    )
    await retinue.run({ task: 'go' }).result()
    expect(tree(cwd)).toEqual({ 'c/x.txt': 'x\n' })
  })
})

describe('workspace.setup', () => {
  it('is not run where a rule denies the agent that command', async () => {
    const rules = [{ tool: 'run_command', pattern: null, decision: 'deny' as const }]
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('first', ['a.txt'])] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      { settings: { ...AUTO, rules, workspace: { setup: 'echo ran' } } },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const events = await retinue.events(run.run_id)
    expect(dataOf(events, 'agent.setup_started')).toEqual([])
    expect(dataOf(events, 'agent.subagent_closed')[0]?.close_reason).toContain('workspace.setup was not run')
    expect(tree(cwd)).toEqual({})
  })

  it('makes a fresh worktree ready, once for each, and what it leaves is nobody’s change', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['a.txt'], { checks: ['test -f built/x'] })] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      {
        files: { '.gitignore': 'built/\n', 'x.txt': 'x\n' },
        settings: { ...AUTO, workspace: { setup: 'mkdir built && cp x.txt built/x && echo stray > stray.txt' } },
      },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed).toMatchObject({ final_status: 'completed', result: { receipt: { files: [{ path: 'a.txt' }] } } })
    expect(Object.keys(tree(cwd)).sort()).toEqual(['.gitignore', 'a.txt', 'x.txt'])
  })

  it('fails the sub-agent where it fails, with what it said', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['a.txt'])] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      { settings: { ...AUTO, workspace: { setup: 'echo no such thing; exit 3' } } },
    )
    const run = retinue.run({ task: 'go' })
    await run.result()
    const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed?.result).toMatchObject({ outcome: 'error', cause: 'worktree' })
    expect(closed?.close_reason).toMatch(/workspace\.setup failed: [\s\S]*exit code 3[\s\S]*no such thing/)
    expect(tree(cwd)).toEqual({})
    expect(leftOver(cwd)).toEqual([])
  })
})

describe('workspace.isolation: shared', () => {
  it('has sub-agents write into the folder itself, as somebody chose', async () => {
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('one', ['a.txt'])] }, AWAIT, { text: 'done' }],
        a1: [write('a.txt', 'one\n'), { text: 'wrote a' }],
      },
      { settings: { ...AUTO, workspace: { isolation: 'shared' } } },
    )
    const run = retinue.run({ task: 'go' })
    for await (const event of run) {
      if (event.type === 'tool.finished' && event.agent_id === 'a1') expect(tree(cwd)).toEqual({ 'a.txt': 'one\n' })
    }
    expect(existsSync(join(cwd, '.retinue', 'git'))).toBe(false)
  })
})
