import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  createRetinue,
  type Person,
  type PlanOutcome,
  type PlanRun,
  type Retinue,
  type RunResult,
  type Settings,
  type StoredEvent,
} from '../../src/index.js'
import {
  createScriptedModel,
  modelsOf,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/index.js'
import { dataOf } from './bench.js'
import { type Files, filesIn } from './merge-files.js'
import { makeProject } from './project.js'

type Agents = ScriptedModelOptions['agents']

const FILES = { 'mine/a.txt': 'mine\n', 'theirs/a.txt': 'theirs\n', 'secret.txt': 'secret\n' }

export type Scene = { cwd: string; retinue: Retinue; model: ScriptedModel; before: Files }

/** A repository with things to spoil, and a model that says what an attacker wants. */
export async function scene(
  agents: Agents,
  settings: Settings = {},
  files: Record<string, string> = {},
): Promise<Scene> {
  const cwd = makeProject({ ...FILES, ...files }, { git: true })
  const model = createScriptedModel({ name: 'test', agents })
  const retinue = await createRetinue({ cwd, models: modelsOf(model), settings: { mode: 'auto', ...settings } })
  onTestFinished(() => retinue.close())
  return { cwd, retinue, model, before: everything(cwd) }
}

/** All files that are not Retinue's, with those of the repository that make git do things. */
export function everything(cwd: string): Files {
  const hooks = Object.entries(filesIn(join(cwd, '.git/hooks')))
  const config = { '.git/config': filesIn(join(cwd, '.git')).config as string }
  return { ...filesIn(cwd, ['.git', '.retinue']), ...config, hooks: JSON.stringify(hooks) }
}

export type Came = { result: RunResult; outcome: PlanOutcome; log: StoredEvent[] }

export async function comeTo(run: PlanRun): Promise<Came> {
  const log: StoredEvent[] = []
  for await (const event of run) log.push(event)
  return { result: await run.result(), outcome: await run.outcome(), log }
}

/** The roles of the sub-agents that there were, in the order of their creation. */
export function rolesIn(log: StoredEvent[]): (string | null)[] {
  return dataOf(log, 'agent.subagent_created').map(({ contract }) => contract.agent.profile_id)
}

export function savedPlans(cwd: string): string[] {
  const folder = join(cwd, '.retinue/plans')
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Says yes to everything, and remembers what it was asked. */
export function agreeable(asked: string[]): Person {
  return {
    permit: async ({ summary }) => {
      asked.push(summary)
      return { answer: 'allow', grant: null, by: 'person', note: null }
    },
    answer: async () => null,
    approve: async ({ step }) => {
      asked.push(step ?? 'plan')
      return { answer: 'approve', by: 'person' }
    },
  }
}

export const STEP = { id: 'one', title: 'Write', description: 'Write it', agent: 'executor', owns: ['mine/**'] }

export function planOf(change: object = {}): Record<string, unknown> {
  return { version: 1, goal: 'Do it', steps: [STEP], ...change }
}

export function stepOf(change: object): Record<string, unknown> {
  return planOf({ steps: [{ ...STEP, ...change }] })
}
