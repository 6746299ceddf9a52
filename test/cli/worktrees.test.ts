import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KeptTree, RunResult } from '../../src/index.js'
import { lines, retinue } from '../support/cli.js'
import { git, makeProject, tree } from '../support/project.js'
import { ENTER, openTerminal } from '../support/terminal.js'

const SCRIPT = `agents:
  root:
    - calls: [{ spawn_agent: { task: "Write the page", owns: ["docs/**"] } }]
    - text: "It is written."
  a1:
    - calls: [{ write_file: { path: docs/page.md, content: "page\\n" } }]
    - text: "Done."
`
const RUN = ['Have a page written', '--model', 'scripted/s.yaml', '--mode', 'auto']

/** A run with a sub-agent that writes, with what was printed at its end. */
async function ran(flags: string[], options: { git?: boolean } = {}) {
  const cwd = makeProject({ 's.yaml': SCRIPT, 'a.md': 'a\n' }, { git: options.git ?? true })
  const { code, stdout } = await retinue([...RUN, '--output-format', 'json', ...flags], { cwd })
  const [result] = lines(stdout) as [RunResult]
  const ask = async (...args: string[]) => retinue(args, { cwd })
  return { cwd, code, result, run_id: result.run_id, ask }
}
const listed = async (ask: Awaited<ReturnType<typeof ran>>['ask']) =>
  lines((await ask('worktrees', '--json')).stdout).flat() as KeptTree[]

describe('the result of a run whose sub-agents wrote', () => {
  it('is in the folder, uncommitted, and the result says so', async () => {
    const { cwd, result, run_id, ask } = await ran([])
    expect(result.landing).toMatchObject({ state: 'landed', files: [{ path: 'docs/page.md', kind: 'added' }] })
    expect(git(cwd, 'status', '--porcelain').trim()).toBe('?? docs/')
    expect(await listed(ask)).toEqual([])
    expect((await ask('show', run_id)).stdout).toContain(
      '1 file brought into the folder, uncommitted: docs/page.md (added)',
    )
    expect(await ask('apply', run_id)).toMatchObject({
      code: 42,
      stderr: `retinue: The result of run ${run_id} is already in the folder that it was begun in\n`,
    })
    expect((await ask('gc')).code).toBe(0)
    // Which checkout a folder is, is nothing to a run that stays in it.
    expect(existsSync(join(cwd, '.retinue', 'checkout'))).toBe(false)
  })

  it('is a commit with --commit', async () => {
    const { cwd, result } = await ran(['--commit'])
    expect(git(cwd, 'status', '--porcelain').trim()).toBe('')
    expect(git(cwd, 'show', '--format=%H', '--name-only', 'HEAD').trim()).toBe(
      `${result.landing?.landed_commit}\n\ndocs/page.md`,
    )
  })

  it('stays on its branch with --no-land until it is applied', async () => {
    const { cwd, code, result, run_id, ask } = await ran(['--no-land'])
    expect({ code, state: result.landing?.state }).toEqual({ code: 0, state: 'kept' })
    expect(existsSync(join(cwd, 'docs'))).toBe(false)
    expect(await listed(ask)).toMatchObject([
      { run_id, agent_id: 'root', branch: `retinue/${run_id}/integration`, state: 'kept' },
    ])
    expect((await ask('worktrees')).stdout).toMatch(new RegExp(`^kept +retinue/${run_id}/integration .*retinue apply`))
    expect((await ask('show', run_id)).stdout).toContain(`bring it in with: retinue apply ${run_id}\n`)
    const { stdout } = await ask('diff', run_id.slice(0, 6))
    expect(stdout).toMatch(/^diff --git a\/docs\/page\.md b\/docs\/page\.md\n(.*\n)*\+page\n$/)
    expect((await ask('diff', run_id, '--stat')).stdout).toContain('1 file changed')
    expect(lines((await ask('diff', run_id, '--json')).stdout)).toEqual([{ run_id, diff: stdout }])
    expect((await ask('apply', run_id)).stdout).toBe('1 file brought into the folder, uncommitted: docs/page.md\n')
    expect(tree(cwd)['docs/page.md']).toBe('page\n')
    expect((await ask('show', run_id)).stdout).toContain('it was applied or discarded since\n')
    expect((await ask('worktrees')).stdout).toBe(`No worktrees and no branches of runs in ${cwd}.\n`)
    expect((await ask('gc')).stdout).toBe('There was nothing to remove.\n')
  })

  it('is told of on stderr where only the answer is printed', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT }, { git: true })
    const { stdout, stderr } = await retinue(['-p', ...RUN, '--no-land'], { cwd })
    expect(stdout).toBe('It is written.\n')
    expect(stderr).toMatch(
      /^retinue: 1 file kept on retinue\/\w+\/integration, not in the folder: .*\nretinue: bring it in with: retinue apply \w+\n$/,
    )
  })

  it('is told of at the end', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const { stderr } = await retinue(RUN, { cwd })
    expect(stderr).toMatch(/\n {2}1 file brought into the folder, uncommitted: docs\/page\.md \(added\)\n$/)
  })
})

const FAILING = SCRIPT.replace('owns: ["docs/**"]', 'owns: ["docs/**"], checks: ["false"]')

describe('work of a sub-agent that failed', () => {
  it('is told of at the end, shown and applied by its id', async () => {
    const cwd = makeProject({ 's.yaml': FAILING, 'a.md': 'a\n' }, { git: true })
    const ask = async (...args: string[]) => retinue(args, { cwd })
    const { stderr } = await ask(...RUN)
    const run_id = /retinue show (\w+)/.exec(stderr)?.[1] as string
    const commands = `retinue diff ${run_id} a1, retinue apply ${run_id} a1`
    const told = `a1 failed (gate_failed); its work is kept: ${commands}\n`
    expect(stderr).toContain(`  nothing was changed\n  ${told}`)
    expect(stderr).toContain('\n  checks a1: false\n')
    expect((await ask('show', run_id)).stdout).toContain(`\n${told}`)
    const quiet = await ask('-p', ...RUN)
    expect(quiet.stderr).toMatch(/^retinue: a1 failed \(gate_failed\); its work is kept: retinue diff /m)
    expect((await ask('apply', run_id)).stderr).toBe(
      `retinue: Run ${run_id} changed nothing, there is nothing to apply\n`,
    )
    expect((await ask('diff', run_id, 'a1')).stdout).toContain('+page\n')
    const [applied] = lines((await ask('apply', run_id, 'a1', '--json')).stdout)
    expect(applied).toEqual({ run_id, agent_id: 'a1', paths: ['docs/page.md'], commit: null })
    expect(tree(cwd)['docs/page.md']).toBe('page\n')
    expect((await ask('show', run_id)).stdout).not.toContain('retinue apply')
    expect(await ask('diff', run_id, 'a9')).toMatchObject({ code: 42, stdout: '' })
  })
})

it('worktrees --json prints an empty list where there is nothing', async () => {
  const cwd = makeProject({ 'a.md': 'a\n' })
  expect((await retinue(['worktrees', '--json'], { cwd })).stdout).toBe('[]\n')
})

describe('apply', () => {
  it('commits with --commit, and says which commit it is', async () => {
    const { cwd, run_id, ask } = await ran(['--no-land'])
    const applied = lines((await ask('apply', run_id, '--commit', '--json')).stdout)
    const commit = git(cwd, 'rev-parse', 'HEAD').trim()
    expect(applied).toEqual([{ run_id, paths: ['docs/page.md'], commit }])
  })

  it('does nothing and says why where a file of the person is in the way', async () => {
    const { cwd, run_id, ask } = await ran(['--no-land'])
    writeFileSync(join(cwd, 'docs'), 'a file where a folder would be\n')
    const { code, stderr } = await ask('apply', run_id)
    expect(code).toBe(1)
    expect(stderr).toContain(`Run ${run_id} was not applied`)
    expect(tree(cwd)).toMatchObject({ docs: 'a file where a folder would be\n' })
    expect(await listed(ask)).toHaveLength(1)
  })
})

describe('discard', () => {
  it('wants --yes where nobody can be asked, and says what would go', async () => {
    const { run_id, ask } = await ran(['--no-land'])
    const refused = await ask('discard', run_id)
    expect(refused.code).toBe(42)
    expect(refused.stderr).toContain(`  retinue/${run_id}/integration: its result is not in the folder`)
    expect(await listed(ask)).toHaveLength(1)
    expect(await ask('discard', run_id, '--yes')).toMatchObject({
      code: 0,
      stdout: `removed retinue/${run_id}/integration\n`,
    })
    expect(await listed(ask)).toEqual([])
    expect((await ask('discard', run_id)).stdout).toBe(`Nothing of run ${run_id} is kept.\n`)
  })

  it('removes what a run of another store has left, by the beginning of its id', async () => {
    const { cwd, run_id, ask } = await ran(['--no-land', '--store', 'other.db'])
    expect(await listed(ask)).toMatchObject([{ run_id, state: 'kept', why: expect.stringContaining('--store') }])
    await ask('gc')
    expect(await listed(ask)).toHaveLength(1)
    expect((await ask('discard', run_id.slice(0, 6), '--yes', '--json')).stdout).toContain(run_id)
    expect(git(cwd, 'branch', '--list', 'retinue/*')).toBe('')
    expect((await ask('discard', 'nope')).code).toBe(42)
  })
})

it('a run cannot be both committed and left on its branch', async () => {
  const cwd = makeProject({ 's.yaml': SCRIPT })
  const { code, stderr } = await retinue([...RUN, '--commit', '--no-land'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain('--commit')
})

it('gc says what it removed and what it keeps, as JSON too', async () => {
  const { run_id, ask } = await ran(['--no-land'], { git: false })
  const [said] = lines((await ask('gc', '--json')).stdout)
  expect(said).toMatchObject({ removed: [], kept: [{ run_id, state: 'kept', path: null }] })
})

describe('at a terminal', () => {
  it('discard asks, shows what would go, and removes it after a yes only', async () => {
    const { cwd, run_id, ask } = await ran(['--no-land'])
    const no = openTerminal(['discard', run_id], cwd)
    await no.shows('for good?')
    expect(no.screen()).toContain(`retinue/${run_id}/integration: its result is not in the folder`)
    no.type(ENTER)
    expect(await no.ended).toBe(130)
    expect(await listed(ask)).toHaveLength(1)
    const yes = openTerminal(['discard', run_id], cwd)
    await yes.shows('for good?')
    yes.type('y')
    await yes.shows(`removed retinue/${run_id}/integration`)
    expect(await yes.ended).toBe(0)
    expect(await listed(ask)).toEqual([])
  })

  it('diff has the colours of git', async () => {
    const { cwd, run_id } = await ran(['--no-land'])
    const terminal = openTerminal(['diff', run_id], cwd)
    expect(await terminal.ended).toBe(0)
    expect(terminal.written()).toContain('\u001b[32m+page\u001b[39m')
    expect(terminal.written()).toContain('\u001b[1m+++ b/docs/page.md\u001b[22m')
  })
})
