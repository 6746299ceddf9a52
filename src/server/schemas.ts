import { z } from 'zod'
import {
  agentStateSchema,
  budgetSchema,
  contractSchema,
  DEFINITIONS,
  type EventData,
  type EventType,
  findingSchema,
  MANIFEST,
  modeSchema,
  outcomeSchema,
  type PinView,
  type ProfileView,
  pinScopeSchema,
  planSchema,
  principalRoleSchema,
  profileSchema,
  type RegistryEntry,
  type RunSummary,
  resultSchema,
  ruleSchema,
  SESSION_ID,
  SESSION_ID_FAULT,
  type SpawnResult,
  type StoredEvent,
  stageSchema,
  stepStatusSchema,
  type WatchedEvent,
} from '../index.js'
import { shape } from './shape.js'
import type * as wire from './wire.js'

/** The shapes of what goes over the wire: what bodies are checked with, and what the OpenAPI document says. */

const names = z.array(z.string())
const time = z.int().describe('Milliseconds since 1970.')
const usd = z.number().nullable().describe('null: the price of one of the calls is not known.')

export const wireErrorSchema = shape<wire.WireError>()(
  z.strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string().describe('What was wrong and what to do.'),
      faults: z
        .array(z.strictObject({ path: z.string(), message: z.string() }))
        .optional()
        .describe('Where, in what was sent.'),
    }),
  }),
)

const pinViewSchema = shape<PinView>()(
  z.strictObject({
    scope: pinScopeSchema,
    record_id: z.string(),
    profile_id: z.string(),
    handle: z.string().nullable(),
    fault: z.string().nullable(),
    by: z.string(),
    at: time,
  }),
)

export const principalSchema = z.strictObject({ id: z.string(), role: principalRoleSchema })

export const meSchema = shape<wire.Me>()(
  z.strictObject({
    principal: principalSchema,
    folder: z.string(),
    version: z.string(),
    choices: z.strictObject({
      agents: z.array(z.strictObject({ name: z.string(), description: z.string() })),
      pin: pinViewSchema.nullable(),
      defaults: z.strictObject({ model: z.string().nullable(), mode: modeSchema }),
    }),
  }),
)

const counters = {
  turns: z.int(),
  tool_calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  unpriced_calls: z.int(),
}

export const runSummarySchema = shape<RunSummary>()(
  z.strictObject({
    ...counters,
    cost_usd: usd,
    agents: z.int(),
    run_id: z.string(),
    session_id: z.string(),
    task: z.string(),
    workspace_root: z.string(),
    status: z.enum(['running', 'interrupted', 'closed']),
    outcome: outcomeSchema.nullable(),
    text: z.string().nullable(),
    created_at: time,
    updated_at: time,
    last_position: z.int(),
    fan_out: z.boolean(),
    plan: z.boolean(),
    said: z.string().nullable(),
  }),
)

export const listedRunSchema = runSummarySchema.extend({ asks: z.int() })

export const runListSchema = shape<wire.RunList>()(
  z.strictObject({ runs: z.array(listedRunSchema), more: z.boolean() }),
)

export const sessionIdSchema = z.string().regex(SESSION_ID, SESSION_ID_FAULT)

export const startRunSchema = shape<wire.StartRun>()(
  z.strictObject({
    task: z.string().min(1),
    plan: z.boolean().optional(),
    profile: z.string().min(1).nullable().optional(),
    model: z.string().min(1).optional(),
    mode: modeSchema.optional(),
    session_id: sessionIdSchema.optional(),
    budget: z
      .strictObject({
        turns: z.int().positive().optional(),
        tool_calls: z.int().positive().optional(),
        total_tokens: z.int().positive().optional(),
        cost_usd: z.number().positive().optional(),
        wall_ms: z.int().positive().optional(),
      })
      .optional(),
  }),
)
export const startedSchema = shape<wire.Started>()(z.strictObject({ run_id: z.string() }))

const runResultSchema = resultSchema.extend({
  run_id: z.string(),
  session_id: z.string(),
  adjustments: contractSchema.shape.adjustments,
})

export const runDetailSchema = shape<wire.RunDetail>()(
  z.strictObject({
    run: runSummarySchema,
    result: runResultSchema.nullable(),
    owned_here: z.boolean(),
    by: z.string().nullable(),
  }),
)

const placement = {
  version: z.literal(1),
  at: time,
  run_id: z.string(),
  agent_id: z.string(),
  seq: z.int().min(1),
  position: z.int().min(1),
  digest: z.string(),
}

/** The types of events are in the manifest of the domain; a list that is made from it has lost them, so they are said. */
function eventSchema<E>(more: z.ZodRawShape): z.ZodType<E, E> {
  const options = DEFINITIONS.map(({ type, data }) =>
    z.strictObject({ type: z.literal(type), data, ...placement, ...more }),
  )
  return z.discriminatedUnion('type', options as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>]) as never
}

export const storedEventSchema = eventSchema<StoredEvent>({})
export const watchedEventSchema = eventSchema<WatchedEvent>({
  summary: z.string().describe('The event in a line.'),
  cut: z.boolean().describe('Long texts and lists of it are cut short here; the log has all of them.'),
})

export const eventPageSchema = shape<wire.EventPage>()(
  z.strictObject({ events: z.array(watchedEventSchema), more: z.boolean() }),
)
export const agentEventsSchema = shape<wire.AgentEvents>()(
  z.strictObject({ events: z.array(storedEventSchema), more: z.boolean() }),
)

export const agentListSchema = shape<wire.AgentList>()(
  z.strictObject({
    agents: z.array(
      z.strictObject({
        ...counters,
        cost_usd: z.number(),
        run_id: z.string(),
        agent_id: z.string(),
        parent_id: z.string().nullable(),
        depth: z.int(),
        step_idx: z.int(),
        state: agentStateSchema,
        outcome: outcomeSchema.nullable(),
        model: z.string(),
        created_at: time,
        updated_at: time,
      }),
    ),
  }),
)

function dataOf<T extends EventType>(type: T): z.ZodType<EventData<T>, EventData<T>> {
  return MANIFEST.get(type)?.data as never
}

const earlier = z.strictObject({ run_id: z.string(), agent_id: z.string() })

const amounts = Object.keys(budgetSchema.shape).map((name) => [name, z.number()])

export const agentDetailSchema = shape<wire.AgentDetail>()(
  z.strictObject({
    id: z.string(),
    contract: contractSchema.nullable(),
    title: z.string(),
    task: z.string(),
    asked_by: z.strictObject({ agent_id: z.string(), call_id: z.string() }).nullable(),
    reused_from: earlier.nullable(),
    attempts: z.int(),
    worktree: dataOf('agent.worktree_created').nullable(),
    setups: z.array(dataOf('agent.setup_finished')),
    gates: z.array(dataOf('agent.gate_checked')),
    result: resultSchema.nullable(),
    final_status: z.enum(['completed', 'failed']).nullable(),
    close_reason: z.string().nullable(),
    spent: z
      .strictObject({
        amounts: z.strictObject(Object.fromEntries(amounts) as Record<keyof typeof budgetSchema.shape, z.ZodNumber>),
        priced: z.boolean(),
      })
      .nullable(),
  }),
)

export const diffSchema = shape<wire.DiffText>()(z.strictObject({ diff: z.string(), cut: z.boolean() }))
export const reportSchema = shape<wire.Report>()(z.strictObject({ report: z.string() }))

const authorSchema = (
  dataOf('plan.adopted') as unknown as z.ZodObject<{ by: z.ZodType<EventData<'plan.adopted'>['by']> }>
).shape.by

const used = { tool_calls: z.int(), tokens: z.int(), cost_usd: usd, duration_ms: z.number() }

export const planDetailSchema = shape<wire.PlanDetail>()(
  z.strictObject({
    run_id: z.string(),
    call_id: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'made', 'left']),
    reason: z.string().nullable(),
    goal: z.string(),
    plan: planSchema.nullable(),
    revision: z.int(),
    revisions: z.array(z.strictObject({ revision: z.int(), by: authorSchema, reason: z.string().nullable() })),
    steps: z.array(
      z.strictObject({
        id: z.string(),
        stage: stageSchema,
        title: z.string(),
        agent: z.string().nullable(),
        depends_on: names,
        owns: names.nullable(),
        status: z.enum([...stepStatusSchema.options, 'waiting', 'running']),
        reason: z.string().nullable(),
        incomplete: z.boolean(),
        agent_id: z.string().nullable(),
        attempts: z.int(),
        failures: names,
        summary: z.string(),
        files_changed: names,
        files_kept: names,
        gates: z.array(
          z.strictObject({ what: z.string(), passed: z.boolean(), stage: z.enum(['before_merge', 'after_merge']) }),
        ),
        ...used,
      }),
    ),
    checks: z.array(z.strictObject({ what: z.string(), passed: z.boolean(), detail: z.string() })),
    reviews: z.array(
      z.strictObject({ step: z.string(), round: z.int(), summary: z.string(), findings: z.array(findingSchema) }),
    ),
    findings: z.array(findingSchema),
    totals: z.strictObject({ agents: z.int(), ...used }),
    report: z.string(),
  }),
)

/** GET /api/runs/:run/results */
export const spawnResultsSchema = shape<{ results: SpawnResult[]; more: boolean }>()(
  z.strictObject({
    more: z.boolean(),
    results: z.array(
      z.strictObject({
        run_id: z.string(),
        agent_id: z.string().nullable(),
        success: z.boolean(),
        outcome: outcomeSchema,
        summary: z.string(),
        details: z.string(),
        tool_calls: z.int(),
        tokens: z.int(),
        context_tokens: z.int().nullable(),
        cost_usd: usd,
        duration_ms: z.number(),
        files_read: names,
        files_changed: names,
        receipt: resultSchema.shape.receipt.unwrap().nullable(),
        adjustments: contractSchema.shape.adjustments,
        cached_from: earlier.nullable(),
        error: z.string().nullable(),
      }),
    ),
  }),
)

const asking = { agent_id: z.string(), call_id: z.string() }

export const questionsSchema = shape<wire.Questions>()(
  z.strictObject({
    questions: z.array(
      z.discriminatedUnion('kind', [
        z.strictObject({
          ...asking,
          asked_at: time,
          kind: z.literal('permission'),
          tool: z.string(),
          summary: z.string(),
          reason: z.string(),
          detail: z.string().nullable(),
          cut: z.boolean(),
          grant: ruleSchema.nullable(),
        }),
        z.strictObject({ ...asking, asked_at: time, kind: z.literal('question'), text: z.string(), options: names }),
        z.strictObject({
          ...asking,
          asked_at: time,
          kind: z.literal('approval'),
          step: z.string().nullable(),
          title: z.string(),
        }),
      ]),
    ),
  }),
)

export const givenAnswerSchema = shape<wire.GivenAnswer>()(
  z.discriminatedUnion('kind', [
    z.strictObject({
      ...asking,
      kind: z.literal('permission'),
      answer: z.enum(['allow', 'deny']),
      standing: z.boolean().optional(),
      note: z.string().nullable().optional(),
    }),
    z.strictObject({ ...asking, kind: z.literal('question'), text: z.string().nullable() }),
    z.strictObject({
      ...asking,
      kind: z.literal('approval'),
      step: z.string().nullable(),
      answer: z.enum(['approve', 'decline']),
      note: z.string().nullable().optional(),
    }),
  ]),
)

export const sessionListSchema = shape<wire.SessionList>()(
  z.strictObject({
    sessions: z.array(
      z.strictObject({
        session_id: z.string(),
        owner: z.string().nullable(),
        title: z.string(),
        created_at: time,
        workspace_root: z.string(),
        model: z.string().nullable(),
        mode: modeSchema.nullable(),
        tasks: names,
        runs: z.int(),
        cost_usd: usd,
        last_at: time,
      }),
    ),
  }),
)

const registryEntrySchema = shape<RegistryEntry>()(
  z.strictObject({
    agentId: z.string(),
    profileId: z.string(),
    description: z.string(),
    defaultForwardSkills: names.optional(),
    allowedForwardSkills: names.optional(),
    defaultMcpServers: names.optional(),
    allowedMcpServers: names.optional(),
    tags: names.optional(),
  }),
)

const profileSourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('role') }),
  z.strictObject({ kind: z.literal('file'), scope: z.enum(['project', 'home']), file: z.string() }),
  z.strictObject({ kind: z.literal('config'), scope: z.enum(['project', 'user']), file: z.string() }),
  z.strictObject({ kind: z.literal('options') }),
  z.strictObject({ kind: z.literal('store'), version: z.int() }),
])

const found = {
  name: z.string(),
  source: profileSourceSchema,
  notes: names,
  kept: z.record(z.string(), z.unknown()),
  shadows: z.array(profileSourceSchema),
  handles: names,
}

const profileViewSchema = shape<ProfileView>()(
  z.union([
    z.strictObject({ ...found, profile: profileSchema, fault: z.null() }),
    z.strictObject({ ...found, profile: z.null(), fault: z.string() }),
  ]),
)

export const agentsSchema = shape<wire.Agents>()(
  z.strictObject({
    registry_version: z.int(),
    agents: z.array(registryEntrySchema.extend({ fault: z.string().nullable() })),
    profiles: z.array(profileViewSchema),
    pins: z.array(pinViewSchema),
    in_effect: pinViewSchema.nullable(),
    workspace: z.string(),
  }),
)

/** GET /api/agents/:name */
export const agentProfileSchema = shape<{ profile: ProfileView; entry: RegistryEntry | null }>()(
  z.strictObject({ profile: profileViewSchema, entry: registryEntrySchema.nullable() }),
)

const registryValueSchema = z.strictObject({ version: z.literal(1), agents: z.array(registryEntrySchema) })

export const registrySchema = shape<wire.Registry>()(z.strictObject({ version: z.int(), value: registryValueSchema }))
export const putRegistrySchema = shape<wire.PutRegistry>()(
  z.strictObject({ text: z.string(), expected_version: z.int().min(0) }),
)
export const registryVersionsSchema = shape<wire.RegistryVersions>()(
  z.strictObject({
    versions: z.array(
      z.strictObject({ version: z.int(), value: registryValueSchema.nullable(), by: z.string(), at: time }),
    ),
  }),
)

export const putPinSchema = shape<wire.PutPin>()(
  z.strictObject({ name: z.string().min(1), session_id: sessionIdSchema.optional() }),
)
export const pinDoneSchema = shape<wire.PinDone>()(z.strictObject({ pin: pinViewSchema, scope: pinScopeSchema }))

export const costsSchema = shape<wire.Costs>()(
  z.strictObject({
    rows: z.array(
      z.strictObject({
        run_id: z.string(),
        agent_id: z.string(),
        profile: z.string().nullable(),
        model: z.string(),
        day: z.string(),
        calls: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_tokens: z.int(),
        cost_usd: usd,
        task: z.string(),
      }),
    ),
    from: z.string(),
    more: z.boolean(),
  }),
)
