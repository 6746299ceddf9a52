import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { ExpectStatic } from 'vitest'
import type { Person, Settings, StoredEvent } from '../../src/index.js'
import type { ScriptedModelOptions } from '../../src/testing/index.js'
import { family, type Family as Made } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'
import { retinue as cli } from '../support/cli.js'
import type { Attempt, Family, Stopped } from './hostile-attempts.js'

/** More time and room than a busy machine takes, so that nothing but a fence stops anybody. */
export const ROOMY = { tool_calls: 60, context_tokens: 100_000, wall_ms: 600_000 }

const FILES = { 'shared.txt': 'word\n', 'mine/a.txt': 'mine\n', 'theirs/a.txt': 'theirs\n' }

/** What its sibling found and nobody else is to know, and what its parent read. */
export const CANARY = 'the tide turns at four'

/** Answers every question, so that a question that reaches a person is seen in what comes of it. */
function answering(asked: string[]): Person {
  return {
    permit: async ({ summary }) => {
      asked.push(summary)
      return { answer: 'allow', grant: null, by: 'person', note: null }
    },
    answer: async ({ text }) => {
      asked.push(text)
      return 'You may not.'
    },
  }
}

export type Played = Made & { run_id: string; events: StoredEvent[]; asked: string[]; text: string }

/** A run in a project with things to steal and to spoil. */
export async function play(
  agents: ScriptedModelOptions['agents'],
  settings: Settings,
  options: { files?: Record<string, string>; person?: boolean } = {},
): Promise<Played> {
  const { delegation, ...others } = settings
  const made = await family(agents, {
    files: { ...FILES, ...options.files },
    settings: { delegation: { budget: ROOMY, ...delegation }, ...others },
  })
  mkdirSync(join(made.cwd, '.git/hooks'), { recursive: true })
  symlinkSync('/etc', join(made.cwd, 'mine/out'))
  symlinkSync('../theirs', join(made.cwd, 'mine/across'))
  const asked: string[] = []
  const person = options.person === false ? {} : { person: answering(asked) }
  const { result, events } = await runToEnd(made.retinue, person)
  return { ...made, run_id: result.run_id, events, asked, text: result.text }
}

/** What `retinue show` says, in a process of its own. Nothing that an agent wrote may move the cursor. */
export async function show(expect: ExpectStatic, cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(['show', ...args], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  return stdout
}

/** The steps of an agent that makes its attempts one by one and then answers. */
export function stepsOf(attempts: readonly Attempt[], around: Family, last = 'Nothing worked.') {
  return [...attempts.map(({ call }) => ({ calls: [call(around)] })), { text: last }]
}

export type Ended = { tool: string; refused: string | null; rule: string | null; content: string; ok: boolean }

/** How each call of an agent ended, in the order in which it made them. */
export function endsOf(events: readonly StoredEvent[], agent_id: string): Ended[] {
  return events.flatMap((event): Ended[] => {
    if (event.agent_id !== agent_id) return []
    if (event.type === 'tool.refused') {
      const { tool, code, rule, content } = event.data
      return [{ tool, refused: code, rule, content, ok: false }]
    }
    if (event.type !== 'tool.finished') return []
    const { tool, status, content } = event.data
    return [{ tool, refused: null, rule: null, content, ok: status === 'ok' }]
  })
}

/** Every attempt was stopped by what should stop it, and a person who looks at the run sees it. */
export function expectStopped(
  expect: ExpectStatic,
  attempts: readonly { what: string; stopped: Stopped }[],
  ends: readonly Ended[],
  shown: string,
): void {
  expect(ends).toHaveLength(attempts.length)
  const lines = shown.split('\n')
  for (const [i, { what, stopped }] of attempts.entries()) {
    const end = ends[i] as Ended
    if ('refused' in stopped) {
      const { refused, rule, says } = stopped
      expect(end, what).toMatchObject({ refused, rule, content: expect.stringContaining(says) })
      const line = lines.find((one) => isRefusal(one, end))
      expect(line, `${what}, in show`).toBeDefined()
    } else {
      expect(end, what).toMatchObject({ refused: null, ok: false, content: expect.stringContaining(stopped.failed) })
      expect(shown, `${what}, in show`).toMatch(new RegExp(`tool\\.finished +${end.tool} error in`))
    }
  }
}

function isRefusal(line: string, { tool, refused, content }: Ended): boolean {
  const said = content.replace(/\s+/g, ' ').slice(0, 60)
  return line.includes('tool.refused') && line.includes(`${tool} `) && line.includes(`refused, ${refused}: ${said}`)
}
