import type { Keys } from '../../parts/keys-dialog'

export const RUN_KEYS: Keys = [
  ['↑ ↓', 'go from agent to agent'],
  ['→ ←', 'unfold and fold, or go to the first below and to the one above'],
  ['Home End', 'go to the first and to the last'],
  ['Enter', 'open the agent'],
  ['Esc', 'close it'],
  ['/', 'search agents'],
  ['+ −', 'look closer at the time line, and from further away'],
  ['0', 'show all of the time'],
  ['Shift ← →', 'move along the time line'],
  ['Ctrl wheel', 'zoom where the pointer is'],
]
