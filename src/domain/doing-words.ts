import { type Doing, doingOf, standingOf } from './doing.js'
import {
  checkInWords,
  endInWords,
  keptInWords,
  leftOutCount,
  MERGING,
  namesInWords,
  setupInWords,
  slotInWords,
  turnInWords,
} from './in-words.js'
import type { TreeAgent } from './tree.js'

/** What an agent does or waits for, in words. */
export function doingWords(agent: TreeAgent): string {
  const words = plainWords(doingOf(agent), agent)
  const again = agent.attempt > 1 && agent.state === 'running' ? `attempt ${agent.attempt}: ` : ''
  return agent.cancelling && agent.state === 'running' ? `cancelling · ${words}` : `${again}${words}`
}

function plainWords(doing: Doing, agent: TreeAgent): string {
  switch (doing.kind) {
    case 'waiting_for_slot':
      return slotInWords(doing.label)
    case 'waiting_for_person':
      return `waits for a person: ${doing.summary}`
    case 'waiting_for_agents':
      return `waits for ${namesInWords(doing.ids)}`
    case 'using_tool':
      return `${doing.tool} ${doing.summary}${doing.others > 0 ? ` and ${doing.others} more` : ''}`
    case 'asking_model':
      return askingWords(doing)
    case 'retrying':
      return `${doing.code}, tries again${doing.not_before === null ? '' : ` at ${clockTime(doing.not_before)}`}`
    case 'waiting_for_merge':
      return 'waits to be joined'
    case 'waiting_to_write':
      return turnInWords(doing.behind)
    case 'setting_up':
      return setupInWords(doing.command)
    case 'being_merged':
      return MERGING
    case 'being_checked':
      return checkInWords(doing.after_merge, doing.what)
    case 'landing':
      return 'brings its result into the folder'
    case 'thinking':
      return ''
    case 'ended':
      return endWords(agent)
  }
}

function askingWords({ purpose, attempt }: Extract<Doing, { kind: 'asking_model' }>): string {
  const what = purpose === 'turn' ? 'asks the model' : `asks the model for a ${purpose}`
  return attempt > 1 ? `${what}, attempt ${attempt}` : what
}

function endWords(agent: TreeAgent): string {
  const { outcome, reason, reused_from, final_status } = agent
  if (reused_from) return `result of ${reused_from.agent_id} of run ${reused_from.run_id}`
  const ignored = agent.left_out.length === 0 ? '' : `left out ${leftOutCount(agent.left_out)}`
  if (outcome === null || (outcome === 'completed' && final_status !== 'failed')) return ignored
  const ended = standingOf(agent) === 'incomplete' ? endInWords('incomplete', outcome) : outcome
  const kept = agent.kept_on === null ? '' : ` · ${keptInWords(agent.kept_on)}`
  return `${reason === null ? ended : `${ended}: ${reason}`}${kept}${ignored && ` · ${ignored}`}`
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}
