import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatProblems, type ResolvedConfig } from '../../src/control/index.js'
import { MODES, NETWORKS } from '../../src/domain/index.js'
import { load } from './load.js'

/** The long sweep runs before a change lands. */
const RUNS = process.env.RETINUE_FULL ? 2000 : 40
const TIMEOUT = 300_000

function reach({ mode, permissions }: ResolvedConfig): number {
  return NETWORKS.indexOf(permissions.network ?? (mode === 'dangerous' ? 'all' : 'tools'))
}

const word = fc.constantFrom(
  ...['mode', 'model', 'permissions', 'allow', 'deny', 'budget', 'turns', 'providers', 'type', 'store', 'plan', 'Bash'],
  ...['delegation', 'profiles', 'tools', 'spawn', 'models', 'report_path_pattern', '.retinue/<idx>.md', 'max_depth'],
  ...[': ', ':\n  ', '\n', '- ', '\n    - ', '[', ']', '{', '}', ', ', '&a ', '*a', '!t ', '"', "'", '|\n', '#', '\t'],
  ...['---\n', '%YAML 1.1\n', '? ', '<<: ', '~', '0', '-1', '1e400', 'null', '__proto__', 'constructor', '\uFEFF'],
)
const yamlish = fc.oneof(
  { weight: 3, arbitrary: fc.array(word, { maxLength: 40 }).map((words) => words.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
)

describe('whatever the files say', () => {
  it(
    'the answer is a value, and each problem has a place in its file',
    async () => {
      await fc.assert(
        fc.asyncProperty(yamlish, yamlish, async (user, project) => {
          const loaded = await load({ user, project })
          if (loaded.ok) return
          expect(loaded.problems.length).toBeGreaterThan(0)
          for (const { file, line, column, message } of loaded.problems) {
            const lines = (file.endsWith('config.yaml') ? user : project).split('\n')
            expect(line).toBeGreaterThanOrEqual(1)
            expect(line).toBeLessThanOrEqual(lines.length)
            expect(column).toBeGreaterThanOrEqual(1)
            expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1)
            expect(message).not.toBe('')
          }
          expect(formatProblems(loaded.problems)).not.toContain('undefined')
        }),
        { numRuns: RUNS },
      )
    },
    TIMEOUT,
  )

  it(
    'a project that is not trusted never widens',
    async () => {
      const rule = fc.constantFrom('Bash', 'Bash(git *)', 'Write', 'Read(src)', 'git_*', '*')
      const settings = fc.record(
        {
          mode: fc.constantFrom(...MODES),
          permissions: fc.record(
            {
              allow: fc.array(rule, { maxLength: 3 }),
              ask: fc.array(rule, { maxLength: 3 }),
              deny: fc.array(rule, { maxLength: 3 }),
              read_paths: fc.array(fc.constantFrom('src', '**', 'docs/*.md'), { maxLength: 2 }),
              write_paths: fc.array(fc.constantFrom('src', '**', 'docs/*.md'), { maxLength: 2 }),
              tools: fc.array(fc.constantFrom('Read', 'run_command', 'git_*', 'mcp__a__*'), { maxLength: 3 }),
              network: fc.constantFrom(...NETWORKS),
              mcp_servers: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
              skills: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
            },
            { requiredKeys: [] },
          ),
          budget: fc.record({
            turns: fc.integer({ min: 1, max: 200 }),
            total_tokens: fc.integer({ min: 1 }),
            cost_usd: fc.integer({ min: 1, max: 9 }),
          }),
          sandbox: fc.constantFrom('on', 'off'),
          delegation: fc.record(
            {
              enabled: fc.boolean(),
              ask_person: fc.boolean(),
              max_depth: fc.integer({ min: 1, max: 8 }),
              max_concurrent: fc.integer({ min: 1, max: 1000 }),
              max_retries: fc.integer({ min: 0, max: 10 }),
              budget: fc.record({
                turns: fc.integer({ min: 1, max: 99 }),
                tool_calls: fc.integer({ min: 1, max: 99 }),
              }),
              roles: fc.boolean(),
              test_paths: fc.array(fc.constantFrom('test', '**', 'src/*.test.ts'), { maxLength: 2 }),
              models: fc.array(fc.constantFrom('a/b', 'c/d', 'scripted/x.yaml'), { maxLength: 2 }),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      )
      await fc.assert(
        fc.asyncProperty(settings, settings, async (user, project) => {
          const alone = await load({ user: JSON.stringify(user) })
          const both = await load({ user: JSON.stringify(user), project: JSON.stringify(project) })
          if (!alone.ok) throw new Error(formatProblems(alone.problems))
          if (!both.ok) return
          const [before, after] = [alone.config, both.config]
          expect(MODES.indexOf(after.mode)).toBeLessThanOrEqual(MODES.indexOf(before.mode))
          expect(after.budget.turns).toBeLessThanOrEqual(before.budget.turns)
          expect(after.budget.total_tokens ?? Infinity).toBeLessThanOrEqual(before.budget.total_tokens ?? Infinity)
          expect(after.budget.cost_usd ?? Infinity).toBeLessThanOrEqual(before.budget.cost_usd ?? Infinity)
          expect(reach(after)).toBeLessThanOrEqual(reach(before))
          const [narrow, wide] = [after.delegation, before.delegation]
          if (narrow.enabled) expect(wide.enabled).toBe(true)
          if (narrow.ask_person) expect(wide.ask_person).toBe(true)
          for (const name of ['max_depth', 'max_concurrent', 'max_retries'] as const) {
            expect(narrow[name]).toBeLessThanOrEqual(wide[name])
          }
          for (const name of ['turns', 'tool_calls'] as const) {
            expect(narrow.budget[name] ?? Infinity).toBeLessThanOrEqual(wide.budget[name] ?? Infinity)
          }
          if (user.delegation?.models) expect(wide.models).toEqual(expect.arrayContaining(narrow.models))
          if (narrow.roles) expect(wide.roles).toBe(true)
          if (user.delegation?.test_paths) expect(wide.test_paths).toEqual(expect.arrayContaining(narrow.test_paths))
          if (before.sandbox === 'on') expect(after.sandbox).toBe('on')
          expect(after.permissions.mcp_tools.slice(0, before.permissions.mcp_tools.length)).toEqual(
            before.permissions.mcp_tools,
          )
          for (const list of ['mcp_servers', 'skills'] as const) {
            const names = before.permissions[list]
            if (names) expect(names).toEqual(expect.arrayContaining(after.permissions[list] ?? ['all']))
          }
          expect(before.permissions.tools).toEqual(expect.arrayContaining(after.permissions.tools))
          if (user.permissions?.read_paths)
            expect(after.permissions.read_paths).toContainEqual(user.permissions.read_paths)
          if (user.permissions?.write_paths)
            expect(after.permissions.write_paths).toContainEqual(user.permissions.write_paths)
          const allowed = after.permissions.rules.filter((r) => r.decision === 'allow')
          expect(before.permissions.rules).toEqual(expect.arrayContaining(allowed))
          const restricting = before.permissions.rules.filter((r) => r.decision !== 'allow')
          expect(after.permissions.rules).toEqual(expect.arrayContaining(restricting))
        }),
        { numRuns: RUNS },
      )
    },
    TIMEOUT,
  )
})
