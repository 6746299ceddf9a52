import { type AgentRow, NO_COUNTS, type RunRow } from '../domain/index.js'

export const COUNTERS = Object.keys(NO_COUNTS) as (keyof typeof NO_COUNTS)[]

export const RUN_COLUMNS = [
  'run_id',
  'session_id',
  'task',
  'workspace_root',
  'status',
  'outcome',
  'text',
  'created_at',
  'updated_at',
  'last_position',
  'agents',
  ...COUNTERS,
] as const satisfies (keyof RunRow)[]

export const AGENT_COLUMNS = [
  'run_id',
  'agent_id',
  'parent_id',
  'depth',
  'step_idx',
  'state',
  'outcome',
  'model',
  'context_json',
  'created_at',
  'updated_at',
  ...COUNTERS,
] as const satisfies (keyof AgentRow)[]
