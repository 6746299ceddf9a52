import { describe, expect, it } from 'vitest'
import {
  type CommandPart,
  type CommandWord,
  type Decision,
  matchesGlob,
  matchesWord,
  parseRule,
  ruleMatches,
  UNSPEAKABLE,
} from '../../src/domain/index.js'

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

const any: CommandWord = { starts: '', many: true, option: true }
const one = (starts: string): CommandWord => ({ starts, many: false, option: starts.startsWith('-') })
const part = (words: CommandWord[], more: Partial<Extract<CommandPart, { kind: 'command' }>> = {}): CommandPart => ({
  kind: 'command',
  words,
  spelled: [],
  hides: false,
  rides: false,
  ...more,
})
const speaks = (decision: Decision, pattern: string, command: CommandPart | null) =>
  ruleMatches({ decision, tool: 'run_command', pattern }, { tool: 'run_command', command })

describe('a rule about commands', () => {
  it.each<[string, CommandPart, boolean, boolean]>([
    // pattern, command, whether an allow covers it, whether a deny speaks about it
    ['git diff *', part(['git', 'diff']), true, true],
    ['git diff *', part(['git', 'diff', '--stat', 'a b']), true, true],
    ['git diff *', part(['git', 'push']), false, false],
    ['git diff', part(['git', 'diff', 'x']), false, false],
    ['npm run build:*', part(['npm', 'run', 'build:web']), true, true],
    ['rm *', part(['/bin/rm', 'x']), false, true],
    ['*', part(['rm']), true, true],
    // Words that are not known: an allow must hold for all they can be, a deny for one of them.
    ['git diff *', part(['git', 'diff', any]), true, true],
    ['git diff *', part(['git', any]), false, true],
    ['git push *', part(['git', any]), false, true],
    ['git push *', part(['git', one('pu')]), false, true],
    ['git push *', part(['git', one('st')]), false, false],
    ['git push', part(['git', 'push', any]), false, true],
    ['git push x', part(['git', any, 'x']), false, true],
    ['git push x', part(['git', any, 'y']), false, false],
    ['git push --force *', part(['git', 'push', any, '--force']), false, true],
    ['git * --stat', part(['git', one(''), '--stat']), true, true],
    ['git * --stat', part(['git', any, '--stat']), false, true],
    // Words that a rule must spell out.
    ['sort *', part(['sort', '-o', 'x'], { spelled: [{ at: 1, flag: '-o' }] }), false, true],
    ['sort -o *', part(['sort', '-o', 'x'], { spelled: [{ at: 1, flag: '-o' }] }), true, true],
    ['sort -o*', part(['sort', '-ox'], { spelled: [{ at: 1, flag: '-o' }] }), true, true],
    ['sort -*', part(['sort', '-ox'], { spelled: [{ at: 1, flag: '-o' }] }), false, true],
    ['sort *', part(['sort', any], { spelled: [{ at: 1, flag: UNSPEAKABLE }] }), false, true],
    // What it runs is not seen: every deny speaks about it.
    ['python3 -c *', part(['python3', '-c', 'x'], { spelled: [{ at: 1, flag: '-c' }], hides: true }), true, true],
    ['rm *', part(['python3', '-c', 'x'], { hides: true }), false, true],
    // A file that is written is no command, so no pattern speaks about it.
    ['*', { kind: 'write', path: 'x' }, false, false],
  ])('%s on %j', (pattern, command, covers, speaksAbout) => {
    expect(speaks('allow', pattern, command)).toBe(covers)
    expect(speaks('deny', pattern, command)).toBe(speaksAbout)
    expect(speaks('ask', pattern, command)).toBe(speaksAbout)
  })

  it('without a pattern speaks about everything, also about what is written or not understood', () => {
    for (const command of [part(['x']), { kind: 'write', path: 'x' } as const, null]) {
      expect(
        ruleMatches({ decision: 'allow', tool: 'run_command', pattern: null }, { tool: 'run_command', command }),
      ).toBe(true)
    }
  })

  it('with a pattern never allows, and always denies, what is not understood', () => {
    expect(speaks('allow', '*', null)).toBe(false)
    expect(speaks('deny', 'rm *', null)).toBe(true)
  })
})
