import type { StoredEvent, ToolStatus } from './events.js'

/** What an agent was told, said and did, as a conversation. `position`: of the event that it is from. */
export type TranscriptEntry = { position: number; at: number } & (
  | { kind: 'task'; text: string }
  | { kind: 'said'; text: string; reasoning: string; model: string; purpose: 'turn' | 'report' | 'summary' }
  | {
      kind: 'call'
      call_id: string
      tool: string
      summary: string
      args: unknown
      /** null: it is under way. */
      ended: { status: ToolStatus | 'refused'; content: string; duration_ms: number; whole_output: boolean } | null
    }
  | { kind: 'note'; text: string }
)

/** From the events of one agent, in their order. */
export function transcriptOf(events: readonly StoredEvent[]): TranscriptEntry[] {
  throw new Error(`not written yet: ${events.length}`)
}
