import type { ModelRequest, Purpose } from '../../domain/index.js'
import type { Caller } from '../model.js'
import { lastText, mismatch } from './matching.js'
import { after, formatPath, lastStep, type Path, stepAt } from './position.js'
import { keyFor, type ListName, listOf, type Script, type Step } from './script.js'
import type { UseLog } from './uses.js'

/** What is known of a script besides its text: what it was used for so far. */
export type Playing = {
  name: string
  script: Script
  uses: UseLog
  /** How many failures were given at a place: the conversation does not show them. */
  failures: Map<string, number>
}

export type Found =
  | { ok: true; step: Step; path: Path; list: ListName; place: string; where: string }
  | { ok: false; message: string }

const LIST_OF: Record<Purpose, ListName> = { turn: 'steps', report: 'report', summary: 'summary' }
const MAX_SHOWN = 160

/** The step that answers a request: the one after the last that its conversation has seen, past what already failed. */
export function findStep(playing: Playing, request: ModelRequest, caller: Caller): Found {
  const { name, script, uses, failures } = playing
  const { agent_id, run_id, purpose, attempt, agent_attempt = 1 } = caller
  const list = LIST_OF[purpose]
  const told = lastText(request.messages)
  const agent = `script ${name}, agent ${agent_id}${agent_attempt > 1 ? `, attempt ${agent_attempt}` : ''}`
  const whereIs = (path: Path) => `${agent}, ${list === 'steps' ? '' : `${list} `}step ${formatPath(path)}`
  const wrong = (what: string): Found => ({ ok: false, message: `${what}; what came: ${shown(told)}` })

  const key = keyFor(script, agent_id, agent_attempt)
  if (key === null) {
    return wrong(`${agent}: not in the script, which has ${Object.keys(script.agents).join(', ') || 'none'}`)
  }
  const steps = listOf(script, key, list)
  if (!steps) return wrong(`${agent}: asked for a ${purpose}, and the script has no ${list} list`)

  const seen = lastStep(request.messages, { script: name, agent: agent_id, list })
  if (seen) uses.used(key, list, seen)
  let path: Path | null = seen ? after(steps, seen) : [1]
  const place = `${run_id} ${agent_id} ${agent_attempt} ${list} ${path ? formatPath(path) : 'end'}`
  let failed = Math.max(attempt - 1, failures.get(place) ?? 0)

  while (path) {
    const step = stepAt(steps, path)
    if (!step) break
    if (step.branches) {
      const taken = step.branches.findIndex((branch) => mismatch(branch.when, told) === null)
      if (taken < 0) return wrong(`${whereIs(path)}: no branch fits`)
      uses.used(key, list, path)
      const inside: Path = [...path, taken + 1, 1]
      path = stepAt(steps, inside) ? inside : after(steps, path)
    } else if (step.fail && failed > 0) {
      failed -= 1
      uses.used(key, list, path)
      path = after(steps, path)
    } else {
      const missed = mismatch(step.expect, told)
      if (missed) return wrong(`${whereIs(path)}: expected ${missed}`)
      uses.used(key, list, path)
      return { ok: true, step, path, list, place, where: whereIs(path) }
    }
  }
  return wrong(`${agent}: no ${list === 'steps' ? '' : `${list} `}step after the last, ${steps.length}`)
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}
