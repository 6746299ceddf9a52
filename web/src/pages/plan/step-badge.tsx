import { Badge } from '../../parts/status'
import type { StepWord } from './steps'

const TONES = {
  waiting: 'none',
  running: 'running',
  interrupted: 'warn',
  completed: 'good',
  incomplete: 'warn',
  failed: 'bad',
  skipped: 'none',
} as const satisfies Record<StepWord, string>

export type StepTone = (typeof TONES)[StepWord]

export function toneOf(word: StepWord): StepTone {
  return TONES[word]
}

/** How a step stands. */
export function StepBadge({ word }: { word: StepWord }) {
  return <Badge tone={TONES[word]}>{word}</Badge>
}
