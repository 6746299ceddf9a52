import type { StoredEvent } from '../../src/index.js'

/** The order in which sub-agents begin to write and in which they give their answers. */
export type Order = { begin: readonly string[]; end: readonly string[] }

export type Turns = {
  saw: (event: StoredEvent) => void
  /** Resolves when it is the agent's turn. */
  turn: (agent: string, to: 'begin' | 'end') => Promise<void>
}

/**
 * Lets sub-agents go on in an order. One that waits for another to close holds up nobody who comes after it, because the
 * one that it waits for may be among them.
 */
export function createTurns({ begin, end }: Order): Turns {
  const begun = new Set<string>()
  const waiting = new Set<string>()
  const ended = new Set<string>()
  let held: { agent: string; to: 'begin' | 'end'; resolve: () => void }[] = []

  const isTurn = (agent: string, to: 'begin' | 'end') =>
    to === 'begin'
      ? begin.slice(0, begin.indexOf(agent)).every((one) => begun.has(one))
      : end.slice(0, end.indexOf(agent)).every((one) => ended.has(one) || waiting.has(one))
  const wake = () => {
    const now = held.filter(({ agent, to }) => isTurn(agent, to))
    held = held.filter((one) => !now.includes(one))
    for (const { resolve } of now) resolve()
  }
  return {
    saw: ({ agent_id, type }) => {
      if (type === 'agent.worktree_created' || type === 'agent.workspace_awaited') begun.add(agent_id)
      if (type === 'agent.workspace_awaited') waiting.add(agent_id)
      if (type === 'agent.worktree_created') waiting.delete(agent_id)
      if (type === 'agent.subagent_waiting_for_merge') ended.add(agent_id)
      wake()
    },
    turn: (agent, to) =>
      new Promise((resolve) => {
        held.push({ agent, to, resolve })
        wake()
      }),
  }
}
