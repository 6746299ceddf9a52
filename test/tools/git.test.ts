import { describe, expect, it } from 'vitest'
import { toolNamed, workbench } from './workbench.js'

async function repository(under = '.') {
  const bench = await workbench({}, { under })
  await bench.git('init', '-q', '-b', 'main', under === '.' ? '.' : '..')
  await bench.put('a.ts', 'one\n')
  await bench.put('b.ts', 'two\n')
  await bench.put('.retinue/state', 'one\n')
  await bench.git('add', '.')
  await bench.git('commit', '-q', '-m', 'first')
  const head = (await bench.git('rev-parse', 'HEAD')).trim()
  return { ...bench, head }
}

const contentOf = (output: object) => ('content' in output ? String(output.content) : '')

describe('the git tools', () => {
  it('show status, differences and history', async () => {
    const { call, put, git } = await repository()
    await put('.retinue/state', 'changed\n')
    expect(await call('git_diff', {})).toEqual({ ok: true, content: '[no differences]' })
    await put('a.ts', 'uno\n')
    await put('b.ts', 'dos\n')
    await git('add', 'b.ts')
    await put('new.ts', '')
    const status = contentOf(await call('git_status', {}))
    for (const text of ['main', 'a.ts', 'b.ts', 'new.ts']) expect(status).toContain(text)
    expect(contentOf(await call('git_diff', {}))).toMatch(/-one\n\+uno$/)
    expect(contentOf(await call('git_diff', { staged: true }))).toMatch(/-two\n\+dos$/)
    expect(contentOf(await call('git_diff', { ref: 'HEAD', paths: ['b.ts'] }))).toMatch(/-two\n\+dos$/)
    expect(contentOf(await call('git_diff', { ref: 'HEAD', paths: ['b.ts'] }))).not.toContain('uno')
    expect(contentOf(await call('git_log', { limit: 1 }))).toContain('first')
    expect(await call('git_log', { path: 'new.ts' })).toEqual({ ok: true, content: '[no commits]' })
  })

  it('plan what they read and write', async () => {
    const { plan, head } = await repository()
    expect(await plan('git_diff', { staged: true, paths: ['./a.ts'] })).toEqual({
      ok: true,
      plan: { summary: 'git diff staged ./a.ts', paths: [{ path: 'a.ts', access: 'read' }] },
    })
    expect(await plan('git_log', {})).toEqual({
      ok: true,
      plan: { summary: 'git log', paths: [{ path: '.', access: 'read' }] },
    })
    expect(await plan('git_commit', { message: 'one\ntwo' })).toEqual({
      ok: true,
      plan: {
        summary: 'commit all changes: one two',
        paths: [{ path: '.', access: 'write' }],
        witness: { before: head, after: null },
      },
    })
    expect(await plan('git_commit', { message: 'm', paths: ['a.ts', 'b.ts'] })).toMatchObject({
      plan: {
        summary: 'commit a.ts, b.ts: m',
        paths: [
          { path: 'a.ts', access: 'write' },
          { path: 'b.ts', access: 'write' },
        ],
      },
    })
  })

  it('take no option, file or outside path for a commit or a path', async () => {
    const { call } = await repository()
    for (const ref of ['--output=x', '-p', 'HEAD:a.ts', 'main --stat']) {
      expect(await call('git_diff', { ref })).toEqual({ refused: `ref: "${ref}" is not a commit, branch or range` })
    }
    expect(await call('git_diff', { paths: ['../x'] })).toEqual({ refused: expect.any(String) })
    expect(await call('git_commit', { message: 'm', paths: ['/etc/x'] })).toEqual({ refused: expect.any(String) })
    expect(await call('git_diff', { ref: 'no-such-branch' })).toEqual({ ok: false, content: expect.any(String) })
  })

  it('say that there is no repository', async () => {
    const { call } = await workbench()
    for (const name of ['git_status', 'git_diff', 'git_log', 'git_commit']) {
      expect(await call(name, { message: 'm' })).toEqual({ refused: 'not a git repository' })
    }
  })
})

describe('git_commit', () => {
  it('commits the given paths alone, or everything', async () => {
    const { call, put, git } = await repository()
    await put('a.ts', 'uno\n')
    await put('new.ts', '')
    const first = await call('git_commit', { message: 'only a', paths: ['a.ts'] })
    expect(first).toEqual({ ok: true, content: expect.stringMatching(/^committed [0-9a-f]{40}\n/) })
    expect(await git('show', '--format=%s', '--name-only')).toBe('only a\n\na.ts\n')
    expect(await call('git_commit', { message: 'rest' })).toMatchObject({ ok: true })
    expect(await git('show', '--format=%s', '--name-only')).toBe('rest\n\nnew.ts\n')
    expect(await call('git_commit', { message: 'nothing' })).toEqual({ ok: false, content: expect.any(String) })
  })

  it('does not commit on top of what somebody else committed in the meantime', async () => {
    const { context, put, git } = await repository()
    const tool = toolNamed('git_commit')
    const planned = await tool.plan({ message: 'mine' }, context)
    await put('a.ts', 'uno\n')
    await git('commit', '-q', '-a', '-m', 'theirs')
    await put('a.ts', 'dos\n')
    if (!planned.ok) throw new Error(planned.message)
    expect(await tool.execute({ message: 'mine' }, context, planned.plan)).toEqual({
      ok: false,
      content: 'HEAD was moved by somebody else in the meantime: look at git_log, then commit again',
    })
    expect(await git('log', '--format=%s')).toBe('theirs\nfirst\n')
  })

  it('can tell after a restart that it did not take effect', async () => {
    const { context, head, put, git } = await repository()
    const tool = toolNamed('git_commit')
    const witness = { before: head, after: null }
    expect(await tool.recover?.({ message: 'm' }, witness, context)).toBe('not_done')
    await put('a.ts', 'uno\n')
    await git('commit', '-q', '-a', '-m', 'm')
    expect(await tool.recover?.({ message: 'm' }, witness, context)).toBe('unknown')
  })
})

describe('a workspace inside a repository', () => {
  it('sees and commits its own part alone', async () => {
    const { call, put, git } = await repository('part')
    await put('a.ts', 'uno\n')
    await put('../outside.ts', 'secret\n')
    await git('add', '-N', '../outside.ts')
    const diff = contentOf(await call('git_diff', {}))
    expect(diff).toContain('+uno')
    expect(diff).not.toContain('secret')
    expect(contentOf(await call('git_diff', { paths: ['a.ts'] }))).toContain('+uno')
    expect(await call('git_commit', { message: 'part' })).toMatchObject({ ok: true })
    expect(await git('show', '--format=%s', '--name-only')).toBe('part\n\npart/a.ts\n')
    expect(contentOf(await call('git_log', {}))).toContain('part')
  })
})
