import type { PlanDetail, RunDetail } from '#wire'
import { Badge } from '../../parts/status'

/** How a plan stands, in a word or a few. */
export function PlanBadge({ outcome, run, asked }: { outcome: PlanDetail; run: RunDetail['run']; asked: boolean }) {
  const { status, revision } = outcome
  const left = status === 'made' || status === 'left'
  if (left && revision === 0) return <Badge tone="wait">not carried out</Badge>
  if (run.status === 'running' && asked) return <Badge tone="wait">waits for a person</Badge>
  if (run.waits_for_worker) return <Badge tone="wait">waits for a worker</Badge>
  if (run.status === 'running') return <Badge tone="running">running</Badge>
  if (run.paused) return <Badge tone="warn">paused</Badge>
  if (run.status === 'interrupted') return <Badge tone="warn">interrupted</Badge>
  if (status === 'completed') return <Badge tone="good">completed</Badge>
  if (run.outcome === 'cancelled') return <Badge tone="bad">cancelled</Badge>
  if (left || status === 'running') return <Badge tone="warn">not carried out to its end</Badge>
  return <Badge tone="bad">{status}</Badge>
}
