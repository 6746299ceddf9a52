import { formatPath, type Path, stepAt } from './position.js'
import { LISTS, type ListName, listOf, type Script, type Step } from './script.js'

/** Which steps of a script have been used, by whatever agent. */
export type UseLog = {
  used(key: string, list: ListName, path: Path): void
  unused(): string[]
}

export function createUseLog(script: Script): UseLog {
  const seen = new Set<string>()
  const nameOf = (key: string, list: ListName, path: Path) =>
    `${key} ${list === 'steps' ? '' : `${list} `}step ${formatPath(path)}`

  /** Failures before a step leave no trace in the conversation: who is at the step has had them. */
  function used(key: string, list: ListName, path: Path): void {
    seen.add(nameOf(key, list, path))
    if (path.length > 2) used(key, list, path.slice(0, -2))
    const before = [...path.slice(0, -1), (path.at(-1) ?? 1) - 1]
    if (stepAt(listOf(script, key, list) ?? [], before)?.fail) used(key, list, before)
  }

  return {
    used,

    unused(): string[] {
      const left: string[] = []
      const walk = (key: string, list: ListName, steps: readonly Step[], above: Path) => {
        steps.forEach((step, index) => {
          const path = [...above, index + 1]
          if (!seen.has(nameOf(key, list, path))) left.push(nameOf(key, list, path))
          step.branches?.forEach((branch, number) => {
            const inside = [...path, number + 1]
            if (seen.has(nameOf(key, list, [...inside, 1]))) walk(key, list, branch.steps, inside)
          })
        })
      }
      for (const key of Object.keys(script.agents)) {
        for (const list of LISTS) walk(key, list, listOf(script, key, list) ?? [], [])
      }
      return left
    },
  }
}
