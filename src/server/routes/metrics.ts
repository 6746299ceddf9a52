import { setImmediate } from 'node:timers/promises'
import type { Retinue } from '../../index.js'
import { type Route, route, type ServerContext } from '../route.js'
import { perRetinue } from './per-retinue.js'
import { nothing } from './shapes.js'

/** Whatever is counted over all runs is counted this often at most. */
const COUNTED_FOR_MS = 10_000
const PAGE = 500

type Sums = { runs: number; input_tokens: number; output_tokens: number; cost_usd: number }
type Counted = { by_status: Record<'running' | 'interrupted' | 'closed', Sums>; at_work: number }

const countsOf = perRetinue((): { last: { at: number; counted: Promise<Counted> } | null } => ({ last: null }))

export const METRIC_ROUTES: Route[] = [
  route({
    method: 'GET',
    path: '/metrics',
    least: 'viewer',
    summary: 'What there is to measure, as Prometheus reads it.',
    params: nothing,
    query: nothing,
    body: null,
    answers: 'text',
    handle: async (_, context) =>
      new Response(metricsText(await counted(context), context.live.connections), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      }),
  }),
]

function counted({ retinue, now }: ServerContext): Promise<Counted> {
  const counts = countsOf(retinue)
  if (counts.last && now() - counts.last.at < COUNTED_FOR_MS) return counts.last.counted
  const counting = count(retinue)
  counts.last = { at: now(), counted: counting }
  // A failure is told to whoever asked, and not kept for the next.
  counting.catch(() => {
    counts.last = null
  })
  return counting
}

async function count(retinue: Retinue): Promise<Counted> {
  const none = (): Sums => ({ runs: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 })
  const by_status = { running: none(), interrupted: none(), closed: none() }
  let at_work = 0
  for (let before: string | undefined; ; await setImmediate()) {
    const rows = await retinue.store.runs({ ...(before === undefined ? {} : { before }), limit: PAGE })
    for (const row of rows) {
      const { status } = row.status === 'closed' ? { status: 'closed' as const } : await retinue.find(row.run_id)
      const sums = by_status[status]
      sums.runs += 1
      sums.input_tokens += row.input_tokens
      sums.output_tokens += row.output_tokens
      sums.cost_usd += row.cost_usd
      if (status !== 'running') continue
      at_work += (await retinue.agents(row.run_id)).filter(({ state }) => state === 'running').length
    }
    before = rows.at(-1)?.run_id
    if (rows.length < PAGE) return { by_status, at_work }
  }
}

function metricsText({ by_status, at_work }: Counted, streams: number): string {
  const by = (value: (sums: Sums) => number): [labels: string, value: number][] =>
    Object.entries(by_status).map(([status, sums]) => [`{status="${status}"}`, value(sums)])
  const tokens = Object.entries(by_status).flatMap(([status, { input_tokens, output_tokens }]): [string, number][] => [
    [`{status="${status}",kind="input"}`, input_tokens],
    [`{status="${status}",kind="output"}`, output_tokens],
  ])
  const { user, system } = process.cpuUsage()
  return [
    ...metric(
      'retinue_runs',
      'gauge',
      'Runs in the store.',
      by(({ runs }) => runs),
    ),
    ...metric('retinue_agents_at_work', 'gauge', 'Agents that are running, of runs that somebody works on.', [
      ['', at_work],
    ]),
    ...metric(
      'retinue_tokens',
      'gauge',
      'Tokens that models were sent and have written, by what the run is now.',
      tokens,
    ),
    ...metric(
      'retinue_cost_usd',
      'gauge',
      'Cost of the calls whose price is known, by what the run is now.',
      by(({ cost_usd }) => cost_usd),
    ),
    ...metric('retinue_http_streams', 'gauge', 'Streams of events that are open.', [['', streams]]),
    ...metric('process_cpu_seconds_total', 'counter', 'CPU of this process.', [['', (user + system) / 1e6]]),
    ...metric('process_resident_memory_bytes', 'gauge', 'Memory of this process.', [['', process.memoryUsage.rss()]]),
    '',
  ].join('\n')
}

function metric(name: string, type: string, help: string, values: [labels: string, value: number][]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(([labels, value]) => `${name}${labels} ${value}`),
  ]
}
