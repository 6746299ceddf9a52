import type { Span } from '#domain'

export type Kind = Span['kind']

/** What the pieces of bars are called, in the words that agents are described with; for the legend and the tooltip. */
export const KIND_WORDS: Record<Kind, string> = {
  asking_model: 'asks the model',
  using_tool: 'uses a tool',
  thinking: 'between calls',
  waiting_for_agents: 'waits for agents',
  waiting_for_person: 'waits for a person',
  waiting_for_slot: 'waits for a slot',
  waiting_to_write: 'waits to write',
  setting_up: 'sets up its worktree',
  retrying: 'waits to try again',
  waiting_for_merge: 'waits to be joined',
  being_checked: 'is checked',
  being_merged: 'is merged',
  landing: 'brings its result into the folder',
  gone: 'its process was gone',
  ended: 'has ended',
}

/** In the legend, in the order in which an agent comes to them. */
export const LEGEND: readonly Kind[] = [
  'waiting_for_slot',
  'asking_model',
  'using_tool',
  'thinking',
  'waiting_for_agents',
  'waiting_for_person',
  'waiting_to_write',
  'setting_up',
  'retrying',
  'waiting_for_merge',
  'being_checked',
  'being_merged',
  'landing',
  'gone',
]
