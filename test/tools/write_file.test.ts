import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toolNamed, workbench } from './workbench.js'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const write = toolNamed('write_file')
const edit = toolNamed('edit_file')

describe('write_file', () => {
  it('creates a file and replaces one, and says how much it wrote', async () => {
    const { call, read } = await workbench()
    expect(await call('write_file', { path: 'src/a.ts', content: 'é\nb\n' })).toEqual({
      ok: true,
      content: 'created src/a.ts: 2 lines, 5 bytes',
      files_changed: ['src/a.ts'],
    })
    expect(await call('write_file', { path: 'src/a.ts', content: 'x' })).toEqual({
      ok: true,
      content: 'replaced src/a.ts: 1 line, 1 byte',
      files_changed: ['src/a.ts'],
    })
    expect(await read('src/a.ts')).toBe('x')
  })

  it('plans with a witness of what is there and what will be', async () => {
    const { plan } = await workbench({ old: 'before' })
    expect(await plan('write_file', { path: 'old', content: 'after\n' })).toEqual({
      ok: true,
      plan: {
        summary: 'replace old, 1 line, 6 bytes',
        detail: 'after\n',
        paths: [{ path: 'old', access: 'write' }],
        witness: { before: sha('before'), after: sha('after\n') },
      },
    })
    expect(await plan('write_file', { path: 'new', content: '' })).toEqual({
      ok: true,
      plan: {
        summary: 'create new, 0 lines, 0 bytes',
        detail: '',
        paths: [{ path: 'new', access: 'write' }],
        witness: { before: null, after: sha('') },
      },
    })
  })

  it('does not overwrite what changed between plan and execution', async () => {
    const { context, put, read } = await workbench({ a: 'old' })
    const refusals = {
      a: '"a" was changed by somebody else; read it again first',
      new: '"new" exists already; read it again first',
    }
    for (const [path, content] of Object.entries(refusals)) {
      const planned = await write.plan({ path, content: 'mine' }, context)
      await put(path, 'theirs')
      if (!planned.ok) throw new Error(planned.message)
      expect(await write.execute({ path, content: 'mine' }, context, planned.plan)).toEqual({ ok: false, content })
      expect(await read(path)).toBe('theirs')
    }
  })

  it('can tell after a restart whether it took effect', async () => {
    const { context, put } = await workbench({ a: 'before' })
    const args = { path: 'a', content: 'after' }
    const witness = { before: sha('before'), after: sha('after') }
    expect(await write.recover?.(args, witness, context)).toBe('not_done')
    await put('a', 'after')
    expect(await write.recover?.(args, witness, context)).toBe('done')
    await put('a', 'somebody else')
    expect(await write.recover?.(args, witness, context)).toBe('unknown')
    expect(await write.recover?.({ path: 'new', content: '' }, { before: null, after: sha('') }, context)).toBe(
      'not_done',
    )
    await put('same', 'same')
    const same = { before: sha('same'), after: sha('same') }
    expect(await write.recover?.({ path: 'same', content: 'same' }, same, context)).toBe('done')
  })

  it('is refused for a folder and outside the workspace', async () => {
    const { call } = await workbench({ 'src/a': '' })
    expect(await call('write_file', { path: 'src', content: '' })).toEqual({ refused: expect.stringContaining('src') })
    expect(await call('write_file', { path: 'new/', content: '' })).toEqual({
      refused: 'new/ names a folder, not a file',
    })
    expect(await call('write_file', { path: '../x', content: '' })).toEqual({ refused: expect.any(String) })
  })
})

describe('edit_file', () => {
  const args = { path: 'a.ts', old_text: 'one', new_text: 'uno' }

  it('changes the file and shows the change', async () => {
    const { call, read } = await workbench({ 'a.ts': '\uFEFFone\r\ntwo\r\n' })
    expect(await call('edit_file', { path: 'a.ts', old_text: 'one\ntwo', new_text: 'uno\ndos' })).toEqual({
      ok: true,
      content: 'edited a.ts, 1 replacement\n@@ line 1 @@\n-\uFEFFone\n-two\n+\uFEFFuno\n+dos',
      files_read: ['a.ts'],
      files_changed: ['a.ts'],
    })
    expect(await read('a.ts')).toBe('\uFEFFuno\r\ndos\r\n')
  })

  it('plans with a witness, for a file that it reads and writes', async () => {
    const { plan } = await workbench({ 'a.ts': 'one one' })
    expect(await plan('edit_file', { ...args, replace_all: true })).toEqual({
      ok: true,
      plan: {
        summary: 'edit a.ts, 2 replacements',
        detail: expect.stringContaining('uno'),
        paths: [
          { path: 'a.ts', access: 'write' },
          { path: 'a.ts', access: 'read' },
        ],
        witness: { before: sha('one one'), after: sha('uno uno') },
      },
    })
  })

  it('fails in the plan when it does not apply, and says what the message gives away', async () => {
    const { plan } = await workbench({ 'a.ts': 'two' })
    expect(await plan('edit_file', { ...args, old_text: 'tow ' })).toEqual({
      ok: false,
      message: 'old_text is not in a.ts, nor anything like it: read the file again',
      reveals: [{ path: 'a.ts', access: 'read' }],
    })
    expect(await plan('edit_file', { ...args, path: 'b.ts' })).toEqual({
      ok: false,
      message: 'b.ts does not exist; similar: a.ts',
      reveals: [{ path: 'b.ts', access: 'read' }],
    })
    expect(await plan('edit_file', { ...args, path: '../a.ts' })).toEqual({ ok: false, message: expect.any(String) })
  })

  it('does not write over what changed between plan and execution, even where it would still apply', async () => {
    const { context, put, read } = await workbench({ 'a.ts': 'one' })
    const planned = await edit.plan(args, context)
    await put('a.ts', 'one more')
    if (!planned.ok) throw new Error(planned.message)
    expect(await edit.execute(args, context, planned.plan)).toEqual({
      ok: false,
      content: 'a.ts was changed by somebody else in the meantime: read it again',
    })
    expect(await read('a.ts')).toBe('one more')
  })

  it('can tell after a restart whether it took effect', async () => {
    const { context, put } = await workbench({ 'a.ts': 'one' })
    const witness = { before: sha('one'), after: sha('uno') }
    expect(await edit.recover?.(args, witness, context)).toBe('not_done')
    await put('a.ts', 'uno')
    expect(await edit.recover?.(args, witness, context)).toBe('done')
    await put('a.ts', 'uno!')
    expect(await edit.recover?.(args, witness, context)).toBe('unknown')
  })
})
