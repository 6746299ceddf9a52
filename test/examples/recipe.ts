import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { createRetinue, type Retinue, type StoredEvent } from '../../src/index.js'
import { startLoopback } from '../support/loopback/index.js'
import { git, makeProject, tree, type WhenFinished } from '../support/project.js'

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

export type Step = { expect?: unknown; text?: string; calls?: Record<string, Record<string, unknown>>[] }

export type Played = {
  code: number
  stdout: string
  stderr: string
  /** The folder that the recipe worked in. */
  cwd: string
  /** Files that are not as they were committed, as git says. */
  changed: string[]
  files: Record<string, string>
  retinue: Retinue
  run_id: string
  events: StoredEvent[]
}

/** Runs a recipe as its page says, in a process of its own and without this one's keys and configuration. */
export async function play(
  recipe: string,
  finished: WhenFinished,
  how: { flags: string[]; env?: Record<string, string> } = { flags: ['--offline'] },
): Promise<Played> {
  const TMPDIR = makeProject({}, { finished })
  const { PATH = '' } = process.env
  const env = { PATH, HOME: TMPDIR, XDG_CONFIG_HOME: join(TMPDIR, 'none'), TMPDIR, ...how.env }
  const ended = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [join(EXAMPLES, 'run.mjs'), recipe, ...how.flags], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
  const cwd = /^What came of it: (.*)$/m.exec(ended.stderr)?.[1]
  if (cwd === undefined) throw new Error(`${recipe} came to nothing:\n${ended.stdout}${ended.stderr}`)
  const retinue = await createRetinue({ cwd })
  finished(() => retinue.close())
  const [run] = await retinue.runs()
  if (!run) throw new Error(`${recipe} began no run:\n${ended.stdout}${ended.stderr}`)
  const changed = git(cwd, 'status', '--porcelain', '--untracked-files=all').trim().split('\n')
  return {
    ...ended,
    cwd,
    changed: changed.map((line) => line.trim()),
    files: tree(cwd),
    retinue,
    run_id: run.run_id,
    events: await retinue.events(run.run_id),
  }
}

/** How the tests of a folder come out, run by nobody but node. */
export function tests(cwd: string): { pass: number; fail: number } {
  const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd, encoding: 'utf8' })
  const figure = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1])
  return { pass: figure('pass'), fail: figure('fail') }
}

/** The model of a script that is another than the recipe's own. */
export function scripted(agents: Record<string, Step[]>, finished: WhenFinished): Record<string, string> {
  const folder = makeProject({ 'script.yaml': JSON.stringify({ agents }) }, { finished })
  return { RETINUE_MODEL: `scripted/${join(folder, 'script.yaml')}` }
}

/** Runs the program of a recipe in a folder where it ran before. */
export function again(
  recipe: string,
  cwd: string,
  env: Record<string, string>,
): { code: number | null; stdout: string } {
  const { PATH = '' } = process.env
  const all = { PATH, HOME: cwd, XDG_CONFIG_HOME: join(cwd, '.config-none'), ...env }
  const { status, stdout } = spawnSync(process.execPath, [join(EXAMPLES, recipe, 'main.mjs')], {
    ...{ cwd, env: all, encoding: 'utf8' },
  })
  return { code: status, stdout }
}

export function scriptOf(recipe: string): Record<string, Step[]> {
  return parse(readFileSync(join(EXAMPLES, recipe, 'script.yaml'), 'utf8')).agents
}

export function source(recipe: string, file: string): string {
  return readFileSync(join(EXAMPLES, recipe, file), 'utf8')
}

/**
 * A server that says what the script says, to whoever is told what the script expects at first: a recipe is then run
 * with a model that is behind an address, as those of providers are.
 */
export async function served(recipe: string, finished: WhenFinished): Promise<Record<string, string>> {
  const left = Object.values(scriptOf(recipe))
  const conversations = new Map<string, Step[]>()
  const server = await startLoopback({
    protocol: 'chat',
    steps: ({ body, turn }) => {
      const messages = body.messages as { role: string; content: unknown }[]
      const asked = JSON.stringify(messages.find(({ role }) => role === 'user')?.content)
      if (turn === 0) conversations.set(asked, take(left, asked))
      const { text = '', calls = [] } = conversations.get(asked)?.[turn] ?? {}
      return { text, calls: calls.flatMap((call) => Object.entries(call).map(([name, args]) => ({ name, args }))) }
    },
  })
  finished(() => server.close())
  const provider = { type: 'openai-compatible', base_url: server.url }
  const config = JSON.stringify({ model: 'here/m', providers: { here: provider } })
  return { XDG_CONFIG_HOME: makeProject({ 'retinue/config.yaml': config }, { finished }) }
}

/** The first that nobody has taken and that expects what is said. */
function take(left: Step[][], asked: string): Step[] {
  const at = left.findIndex(([first]) => wordsIn(first?.expect).every((words) => asked.includes(quoted(words))))
  return left.splice(at, at < 0 ? 0 : 1)[0] ?? []
}

function wordsIn(expect: unknown): string[] {
  if (typeof expect === 'string') return [expect]
  return [(expect as { contains?: string | string[] } | undefined)?.contains ?? []].flat()
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
