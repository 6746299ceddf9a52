import { describe, expect, it } from 'vitest'
import { matchesGlob, matchesWord, parseRule, simpleCommand } from '../../src/domain/index.js'

describe('path globs', () => {
  it.each([
    ['**', 'a/b', true],
    ['src', 'src', true],
    ['src', 'src/a/b', true],
    ['src', 'src-evil/a', false],
    ['src/', 'src/a', true],
    ['src/**', 'src', true],
    ['src/**/', 'src/a/b', true],
    ['src/**', 'srcs', false],
    ['./src', 'src/a', true],
    ['src/*', 'src/a', true],
    ['src/*', 'src/a/b', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'x/y/a.ts', true],
    ['**/*.ts', 'x/y/a.tsx', false],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['docs/{a,b}.md', 'docs/b.md', true],
    ['docs/{a,b}.md', 'docs/c.md', false],
    ['a.b', 'axb', false],
    ['a+(b)', 'a+(b)', true],
    ['', 'anything', true],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(matchesGlob(pattern, path)).toBe(expected)
  })

  it('looks at each character once for each place of the pattern, however the pattern is made', () => {
    // As regular expressions these take minutes; a test that hangs here has found that again.
    expect(matchesGlob(`${'**/'.repeat(20)}x`, `${'a/'.repeat(200)}y`)).toBe(false)
    expect(matchesGlob(`${'a*'.repeat(25)}b`, 'a'.repeat(200))).toBe(false)
    expect(matchesGlob('{a,b}'.repeat(30), 'ab'.repeat(15))).toBe(true)
    expect(parseRule('deny', `run_command(${'a*'.repeat(25)}b)`).ok).toBe(true)
    expect(matchesWord(`${'a*'.repeat(25)}b`, 'a'.repeat(200))).toBe(false)
  })
})

describe('rules as people write them', () => {
  it.each([
    ['run_command(git diff *)', { decision: 'allow', tool: 'run_command', pattern: 'git diff *' }],
    ['read_file', { decision: 'allow', tool: 'read_file', pattern: null }],
    ['mcp__github__*', { decision: 'allow', tool: 'mcp__github__*', pattern: null }],
    [' write_file( docs/** ) ', { decision: 'allow', tool: 'write_file', pattern: 'docs/**' }],
  ])('reads %s', (text, rule) => {
    expect(parseRule('allow', text)).toEqual({ ok: true, rule })
  })

  it.each(['', 'a b', 'run_command(', 'run_command()', '(x)'])('refuses %j and says how a rule looks', (text) => {
    expect(parseRule('deny', text)).toMatchObject({
      ok: false,
      message: expect.stringContaining('as in run_command(git diff *)'),
    })
  })
})

describe('commands', () => {
  it.each([
    ['git diff --stat HEAD~1', null],
    ['git diff --stat', ['git', 'diff', '--stat']],
    [`git commit -m 'a b'`, ['git', 'commit', '-m', 'a b']],
    [`git commit -m "it's"`, ['git', 'commit', '-m', "it's"]],
    ['npm\ttest', ['npm', 'test']],
    ['node --test', ['node', '--test']],
    ['node -e 1', null],
    ['stdbuf -o0 rm x', null],
    ['git --no-pager push', null],
    ['npm --silent run x', null],
    ['git --version', ['git', '--version']],
    ['/usr/bin/env node', null],
    ['find . -name x', ['find', '.', '-name', 'x']],
    ['find . -delete', null],
    [`a'b'"c"`, ['abc']],
    ['', null],
    ['X=1 git diff', null],
    ['git diff; rm x', null],
    ['git diff && rm x', null],
    ['git diff | sh', null],
    ['git diff > x', null],
    ['git diff\nrm x', null],
    ['git diff $(rm x)', null],
    ['git diff `rm x`', null],
    ['git diff "$(rm x)"', null],
    ['git diff $X', null],
    ['git diff \\; rm', null],
    ['git diff *', null],
    ['git diff {a,b}', null],
    ['git diff &', null],
    ['git diff #x', null],
    ['git diff !x', null],
    ['(git diff)', null],
    [`git 'unclosed`, null],
  ])('%j is understood as %j', (text, argv) => {
    expect(simpleCommand(text)).toEqual(argv)
  })
})
