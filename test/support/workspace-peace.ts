import { expect } from 'vitest'
import { modelCalls } from './tree-work.js'
import { checkLanded } from './workspace-check.js'
import { workspaceProject } from './workspace-run.js'
import { runOf, type Worked, workIn } from './workspace-work.js'

export type Peaceful = { worked: Worked; told: string[]; calls: Map<string, number> }

/** What comes of a run that nobody disturbs, made once for all tests of a file. */
export function undisturbed(): () => Promise<Peaceful> {
  let made: Promise<Peaceful> | null = null
  const make = async () => {
    const clean: (() => void | Promise<void>)[] = []
    const { cwd, before } = workspaceProject((work) => clean.push(work))
    try {
      const worked = await workIn(cwd, null, null)
      const told = await checkLanded(cwd, (await runOf(cwd)) as string, before, worked.acknowledged, expect)
      return { worked, told, calls: callsByAgent(cwd) }
    } finally {
      for (const work of clean) await work()
    }
  }
  return () => {
    made ??= make()
    return made
  }
}

/** How often each agent's model was called. */
export function callsByAgent(cwd: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { agent_id } of modelCalls(cwd)) counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1)
  return counts
}
