import type { Contract } from './contract.js'
import { endState } from './lifecycle.js'
import type { Outcome } from './outcome.js'

/** How a sub-agent ended, for whoever looks: a budget that ran out is no failure where something came of it. */
export function endedAs(final_status: 'completed' | 'failed', outcome: Outcome): 'completed' | 'incomplete' | 'failed' {
  return final_status === 'completed' && outcome === 'budget_exceeded' ? 'incomplete' : final_status
}

/** The same with the outcome, which mostly says it all. */
export function endInWords(ended: 'completed' | 'incomplete' | 'failed', outcome: Outcome): string {
  const says_it = ended === 'failed' ? endState(outcome) === 'failed' : ended === outcome
  return says_it ? outcome : `${ended}, ${outcome}`
}

/** Who works on a run, as a person would say it. An owner that is not a process of some machine is said as it is. */
export function ownerInWords(owner: string): string {
  const [, machine, pid] = /^([^:]+):[^:]+:(\d+):\d+$/.exec(owner) ?? []
  return machine === undefined ? owner : `process ${pid} on ${machine}`
}

/** Who chose the model of an agent. */
export function sourceInWords(source: Contract['model']['source']): string {
  return source === 'inherited' ? 'inherited from its parent' : `chosen by ${source}`
}
