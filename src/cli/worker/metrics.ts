import type { WorkerHealth } from '../../index.js'

type Metric = [name: string, type: 'gauge' | 'counter', help: string, value: number]

/** What there is to measure about a worker, as Prometheus reads it. null: it has not begun. */
export function workerMetrics(health: WorkerHealth | null): string {
  const { user, system } = process.cpuUsage()
  const metrics: Metric[] = [
    ['retinue_worker_ready', 'gauge', 'Whether it takes agents and reaches the database.', Number(health?.ok ?? false)],
    ...(health ? ofWorker(health) : []),
    ['process_cpu_seconds_total', 'counter', 'CPU of this process.', (user + system) / 1e6],
    ['process_resident_memory_bytes', 'gauge', 'Memory of this process.', process.memoryUsage.rss()],
  ]
  return metrics
    .map(([name, type, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join('')
}

function ofWorker({ working, concurrency, done, stopping, silent_ms }: WorkerHealth): Metric[] {
  return [
    ['retinue_worker_agents_at_work', 'gauge', 'Agents that it works on.', working],
    ['retinue_worker_concurrency', 'gauge', 'Agents that it was told to work on at once.', concurrency],
    ['retinue_worker_done_total', 'counter', 'How often it was done with an agent, or left it at rest.', done],
    ['retinue_worker_stopping', 'gauge', 'Whether it takes nothing more.', Number(stopping)],
    ['retinue_worker_database_silence_seconds', 'gauge', 'Since it last reached the database.', silent_ms / 1000],
  ]
}
