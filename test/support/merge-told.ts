import type { FileChange, StoredEvent } from '../../src/index.js'

/**
 * The events of integration in short, by the agent that they are about. What a parent's stream says about letting a
 * sub-agent write stands with that sub-agent, because of several that begin to write at once nobody knows the order.
 */
export function integrationOf(events: readonly StoredEvent[], run_id: string): Record<string, string[]> {
  const told: Record<string, string[]> = {}
  for (const event of events) {
    const line = lineOf(event)
    if (line === null) continue
    const agent = event.type === 'agent.subagent_admitted' ? event.data.sub_agent_id : event.agent_id
    told[agent] = [...(told[agent] ?? []), line.replaceAll(run_id, '<run>')]
  }
  return told
}

function lineOf(event: StoredEvent): string | null {
  switch (event.type) {
    case 'agent.workspace_awaited':
      return `waits for ${event.data.behind.join(', ')}`
    case 'agent.subagent_admitted': {
      const { after } = event.data
      return `may write${after.length > 0 ? ` after ${after.join(', ')}` : ''}`
    }
    case 'agent.worktree_created': {
      const { path, included } = event.data
      const more = included.map((one) => `${one.how} ${one.path}`)
      return [`works in ${path}`, ...more].join(', ')
    }
    case 'agent.worktree_failed':
      return 'has no tree'
    case 'agent.gate_checked': {
      const { sub_agent_id, after_merge, passed, what } = event.data
      return `${sub_agent_id} gate ${passed ? 'passed' : 'failed'}${after_merge ? ' after the merge' : ''}: ${what}`
    }
    case 'agent.merge_started':
      return `${event.data.sub_agent_id} merge started, ${event.data.kind}`
    case 'agent.merge_taken_back':
      return `${event.data.sub_agent_id} merge taken back`
    case 'agent.worktree_merged':
      return `${event.data.sub_agent_id} merged: ${changed(event.data.files)}`
    case 'agent.subagent_closed': {
      const { sub_agent_id, final_status, result } = event.data
      const kept = result.receipt?.kept ? ', kept' : ''
      return `${sub_agent_id} closed ${final_status}${result.outcome === final_status ? '' : `, ${result.outcome}`}${kept}`
    }
    case 'run.landed':
      return `landed: ${changed(event.data.files)}`
    case 'run.kept':
      return `kept: ${changed(event.data.files)}`
    default:
      return null
  }
}

const SIGNS = { added: '+', modified: '~', deleted: '-' } as const

function changed(files: readonly FileChange[]): string {
  const each = files.map(({ path, kind }) => `${SIGNS[kind]}${path}`)
  return each.length > 0 ? each.join(' ') : 'nothing'
}
