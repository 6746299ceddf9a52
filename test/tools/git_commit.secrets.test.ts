import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../src/domain/index.js'
import { createHost } from '../../src/host/index.js'
import { ENCODINGS } from '../support/encodings.js'
import { workbench } from './workbench.js'

const VALUE = 'ghp_Q7d"3Lm\'9xR/2vT8+kW5nZ'
const redactor = createRedactor([{ name: 'GH_TOKEN', value: VALUE }])
const REFUSED = 'Nothing was committed. Leave this out, then commit again:'

async function repository() {
  const bench = await workbench({ 'a.txt': 'one\n' }, { context: { redactor } })
  await bench.git('init', '-q', '-b', 'main')
  await bench.git('add', '.')
  await bench.git('commit', '-q', '-m', 'first')
  const before = await state(bench)
  return { ...bench, before, same: async () => expect(await state(bench)).toEqual(before) }
}

/** All that git has: nothing of a commit that was refused may be in it, nor anything that it was made with. */
async function state(bench: { git: (...args: string[]) => Promise<string>; root: string }) {
  return {
    objects: await bench.git('cat-file', '--batch-check', '--batch-all-objects'),
    head: await bench.git('rev-parse', 'HEAD'),
    index: await bench.git('ls-files', '--stage'),
    folder: readdirSync(join(bench.root, '.git')).filter((name) => name.startsWith('retinue')),
  }
}

describe('git_commit', () => {
  it('does not commit a file with a secret in it, however it is encoded', async () => {
    const { call, put, same } = await repository()
    await put('good.txt', 'good\n')
    const names = Object.keys(ENCODINGS).map((how) => `dir/${how.replace(/\W+/g, '-')}`)
    for (const [i, encode] of Object.values(ENCODINGS).entries()) await put(names[i] ?? '', `key: ${encode(VALUE)}\n`)
    const { ok, content } = (await call('git_commit', { message: 'm' })) as { ok: boolean; content: string }
    expect({ ok, lines: content.split('\n').sort() }).toEqual({
      ok: false,
      lines: [REFUSED, ...names.map((name) => `${name}: the secret GH_TOKEN`)].sort(),
    })
    await same()
    expect(await call('git_commit', { message: 'm', paths: ['good.txt'] })).toMatchObject({ ok: true })
  })

  it('looks at messages, names, links and binary files, and names all that is wrong', async () => {
    const { call, put, root, same, git } = await repository()
    expect(await call('git_commit', { message: `uses ${VALUE}` })).toEqual({
      ok: false,
      content: `${REFUSED}\nthe message: the secret GH_TOKEN`,
    })
    const name = encodeURIComponent(VALUE)
    await put(name, 'x')
    await put(
      'binary',
      Buffer.concat([randomBytes(5000), Buffer.from([0xc3, 0xff]), Buffer.from(VALUE), randomBytes(99)]),
    )
    await put('wide', Buffer.from(`\ufeff${VALUE}`, 'utf16le'))
    await createHost().processes.run({
      command: ['ln', '-s', `/${Buffer.from(VALUE).toString('hex')}`, 'link'],
      cwd: root,
      timeout_ms: 20_000,
      max_output_bytes: 1000,
    })
    await put('a.txt', 'two\n')
    const { content } = (await call('git_commit', { message: 'm' })) as { content: string }
    expect(content.split('\n').sort()).toEqual(
      [
        REFUSED,
        `${name}: the secret GH_TOKEN`,
        'binary: the secret GH_TOKEN',
        'wide: the secret GH_TOKEN',
        'link: the secret GH_TOKEN',
      ].sort(),
    )
    await same()
    expect(await git('status', '--short')).toContain(' M a.txt')
  })

  it('finds one in a file of many megabytes, also where it lies across what is read at once', async () => {
    const { call, put } = await repository()
    const line = `${'nothing to see here, '.repeat(48)}\n`
    const text = line.repeat(12_000)
    await put('big.txt', text)
    expect(await call('git_commit', { message: 'big' })).toMatchObject({ ok: true })
    for (const at of [65_530, 6_000_011]) {
      await put('big.txt', `${text.slice(0, at)}${VALUE}${text.slice(at)}`)
      expect(await call('git_commit', { message: 'm' })).toMatchObject({ ok: false })
    }
  })

  it('commits what was looked at and nothing else, whatever becomes of the file meanwhile', async () => {
    const { call, put, git, root } = await repository()
    let calls = 0
    const seen: string[] = []
    const opened = await createHost().git.open(root)
    if (!opened.ok) throw new Error(opened.message)
    await put('a.txt', 'harmless\n')
    const done = await opened.repository.commit({
      message: 'm',
      check: () => ({
        push: (text) => {
          seen.push(text)
          // Between the look and the commit.
          if (calls++ === 0) writeFileSync(join(root, 'a.txt'), VALUE)
        },
        end: () => null,
      }),
    })
    expect(done).toMatchObject({ ok: true })
    expect(seen.join('')).toContain('harmless')
    expect(await git('show', 'HEAD:a.txt')).toBe('harmless\n')
    expect(await git('status', '--short')).toBe(' M a.txt\n')
    expect(await call('git_commit', { message: 'again' })).toMatchObject({ ok: false })
  })

  it('takes a file that changed right after the last commit and kept its size', async () => {
    const { call, put, git } = await repository()
    for (let i = 0; i < 10; i++) {
      await put('a.txt', `${i}\n`)
      expect(await call('git_commit', { message: String(i), ...(i % 2 ? { paths: ['a.txt'] } : {}) })).toMatchObject({
        ok: true,
      })
      await put('a.txt', `${i + 1}\n`)
    }
    expect(await git('log', '-10', '--format=%s', '--patch', '--unified=0')).toMatch(
      /^9\n[\s\S]*\n-8\n\+9\n[\s\S]*\n-0\n\+1\n/,
    )
  })

  it('moves nothing when the branch was moved meanwhile', async () => {
    const { git, put, root } = await repository()
    const opened = await createHost().git.open(root)
    if (!opened.ok) throw new Error(opened.message)
    await put('a.txt', 'two\n')
    await put('new.txt', 'x\n')
    const tree = (await git('rev-parse', 'HEAD^{tree}')).trim()
    const other = (await git('commit-tree', tree, '-p', 'HEAD', '-m', 'theirs')).trim()
    const reference = join(root, '.git/refs/heads/main')
    const check = () => ({ push: () => writeFileSync(reference, `${other}\n`), end: () => null })
    expect(await opened.repository.commit({ message: 'm', check })).toMatchObject({ ok: false, code: 'failed' })
    expect((await git('rev-parse', 'HEAD')).trim()).toBe(other)
    expect(await git('status', '--short')).toBe(' M a.txt\n?? new.txt\n')
  })

  it('commits the same things without anything to look for', async () => {
    const { put, git, call } = await workbench({ 'a.txt': `${VALUE}\n` })
    await git('init', '-q', '-b', 'main')
    await put('dir/b.txt', VALUE)
    expect(await call('git_commit', { message: `with ${VALUE}` })).toMatchObject({ ok: true })
    expect(await git('show', '--format=%s', '--name-only')).toBe(`with ${VALUE}\n\na.txt\ndir/b.txt\n`)
  })
})
