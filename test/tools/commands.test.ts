// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are words of a shell, not templates
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { CommandPart, CommandWord } from '../../src/domain/index.js'
import { type Decision, permits } from '../../src/domain/index.js'
import { parseCommand } from '../../src/tools/commands/parse.js'

/** `<a+->`: begins with a, may be several words, may be an option. */
const shown = (word: CommandWord) =>
  typeof word === 'string' ? word : `<${word.starts}${word.many ? '+' : ''}${word.option ? '-' : ''}>`
const parts = async (text: string): Promise<string[] | null> => {
  const parsed = await parseCommand(text)
  return parsed.ok ? parsed.parts.map(line).sort() : null
}
const line = (part: CommandPart) =>
  part.kind === 'write' ? `> ${part.path}` : part.words.map(shown).join(' ') + (part.hides ? ' (hides)' : '')

describe('commands in a line', () => {
  it.each<[string, string[]]>([
    ['git diff --stat HEAD~1', ['git diff --stat HEAD~1']],
    [`git commit -m 'a b' "it's" \\; a\\ b $'\\t' ""`, ["git commit -m a b it's ; a b \t "]],
    ['a; b && c || d | e & f\ng', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
    ['a $(b `c` "$(d)") <(e)', ['a <+-> </>', 'b <+-> <->', 'c', 'd', 'e']],
    ['( a; { b; } ) > x', ['> x', 'a', 'b']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done; until c; do d; done', ['a', 'b', 'c', 'd']],
    ['for x in 1 $(a); do b "$x"; done', ['a', 'b <->']],
    ['case x in a) b;; c|d) e;; esac', ['b', 'e']],
    ['f() { a; }; f', ['a', 'f']],
    ['a <<E\n$(b)\nE\nc', ['a', 'b', 'c']],
    ["a <<'E'\n$(b)\nE\nc", ['a', 'c']],
    ['a > x 2>> y &> z 2>&1 </dev/null w', ['> x', '> y', '> z', 'a w']],
    ['a *.ts src/*.ts {b,c} stash@{1} ~/d $x "$x"', ['a <+-> <src/+> <+-> stash@{1} <> <+-> <->']],
    ['x=1; a $x "$x" -$x', ['a <+> <> <-+->']],
    ['timeout 5 nice -n 3 a b', ['a b', 'nice -n 3 a b', 'timeout 5 nice -n 3 a b']],
    ['xargs -0 a -b', ['a -b <+->', 'xargs -0 a -b']],
    ['find . -exec a {} \\; -exec b {} +', ['a <>', 'b <+>', 'find . -exec a {} ; -exec b {} +']],
    [`bash -c 'a; bash -c "b"'`, ['a', 'b', 'bash -c a; bash -c "b"', 'bash -c b']],
    ['git -C x --no-pager push', ['git -C x --no-pager push', 'git push']],
    ['python3 -c 1', ['python3 -c 1 (hides)']],
    ['ls # a; b\n# c', ['ls']],
  ])('%j', async (text, expected) => {
    expect(await parts(text)).toEqual([...expected].sort())
  })

  it.each(['', ' ', '# a', 'x=1'])('%j has none', async (text) => {
    expect(await parts(text)).toEqual([])
  })

  it.each([
    "a 'b",
    'a "b',
    'a $(b',
    'a | | b',
    'a <<E\nb',
    '$x',
    '"$x" a',
    'a${!x}',
    'a $((x))',
    'a ${x@P}',
    'a $"b"',
    "a $'\\0'",
    'a `\\`b\\``',
    'eval a',
    '. a',
    'exec a',
    'alias a=b',
    'trap a EXIT',
    'sudo a',
    'zsh -c a',
    'coproc a',
    'select x in a; do b; done',
    'PATH=x a',
    'x=1 a',
    'PATH=x; a',
    'export PATH=x',
    'a\r\nb',
    'a\u00a0b',
    'a\u0000b',
    'a </dev/tcp/x/1',
    'a {x}>b',
    'a() b',
    'git() { a; }',
    'set -- a',
    'shopt -s extglob',
    '[ -v x ]',
    '[[ x -eq 1 ]]',
    'bash',
    'bash -s',
    'env -S a',
    'xargs -a b c -Z',
    '\\ a',
    'a; \\ b',
    'a && \\\tb',
    'time { a; }',
    `${'( '.repeat(60)}a${' )'.repeat(60)}`,
    `a ${'b'.repeat(20_000)}`,
  ])('does not claim to understand %j', async (text) => {
    expect(await parts(text)).toBeNull()
  })

  it('says why', async () => {
    expect(await parseCommand('eval a')).toEqual({ ok: false, why: 'it uses eval' })
    expect(await parseCommand('$x a')).toEqual({ ok: false, why: 'what it runs is known only when it runs' })
  })

  it('goes on with the next line after one that it could not read', async () => {
    await parseCommand(`a ${'$('.repeat(5000)}`)
    expect(await parts('a b')).toEqual(['a b'])
  })
})

describe('the examples in the documentation', () => {
  const text = readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| ((?:allow|deny) [^|]*?) +\| `(.*)` +\| (runs|asks|denied) +\|$/gm)]

  it('are there', () => {
    expect(rows.length).toBeGreaterThanOrEqual(20)
  })

  it.each(
    rows.map(([, rules, command, outcome]) => [rules, (command as string).replaceAll('\\|', '|'), outcome] as const),
  )('with %s, %s %s', async (rules, command, outcome) => {
    const parsed = await parseCommand(command)
    const verdict = permits(
      {
        mode: 'normal',
        allowed_tools: ['run_command'],
        allowed_skills: [],
        allowed_mcp_servers: [],
        read_paths: [['**']],
        write_paths: [['**']],
        rules: [
          {
            mode: 'normal',
            rules: [...(rules as string).matchAll(/(allow|deny) `([^`]+)`/g)].map(([, decision, pattern]) => ({
              decision: decision as Decision,
              tool: 'run_command',
              pattern: pattern as string,
            })),
          },
        ],
        network: 'none',
        can_ask_person: false,
        can_spawn_children: false,
        max_delegation_depth: 0,
      },
      { tool: 'run_command', effect: 'execute', paths: [], commands: parsed.ok ? parsed.parts : null, sandboxed: true },
    )
    expect(verdict.decision).toBe({ runs: 'allow', asks: 'ask', denied: 'deny' }[outcome as string])
  })
})
