import { createModels, type Model, type ModelAnswer, type ModelsOptions } from '../../src/models/index.js'
import { type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { KEY, type Way } from './lab.js'

/** A clock that stands still until it is moved. */
export function createClock(start = Date.parse('2026-11-16T12:00:00Z')) {
  let at = start
  const pass = (ms: number) => {
    at += ms
  }
  return { now: () => at, pass }
}

export type Seat = { way: Way; steps: LoopbackStep[]; order?: 'sequential' | 'by_turn' }

/** A pool `team` over real servers, one per seat: its members are `p0/m`, `p1/m` and so on. */
export async function openPool(
  seats: Seat[],
  onTestFinished: (close: () => Promise<void>) => void,
  more: Partial<ModelsOptions> = {},
) {
  const servers = await Promise.all(
    seats.map(({ way, steps, order = 'sequential' }) => startLoopback({ protocol: way.protocol, steps, order })),
  )
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.close()))
  })
  const providers = Object.fromEntries(
    seats.map(({ way }, index) => [
      `p${index}`,
      {
        type: way.type,
        base_url: servers[index]?.url ?? '',
        api_key_env: 'LAB_KEY',
        ...(way.api ? { api: way.api } : {}),
      },
    ]),
  )
  const models = createModels({
    env: { LAB_KEY: KEY },
    providers,
    pools: { team: seats.map((_, index) => `p${index}/m`) },
    ...more,
  })
  const choice = await models.resolve('team')
  if (!choice.ok) throw new Error(choice.message)
  return { model: choice.model, models, servers, asked: () => servers.map(({ requests }) => requests.length) }
}

/** Who answered, and what went wrong before. */
export function told(answer: ModelAnswer) {
  if (!answer.ok) return { code: answer.code, retry_after_ms: answer.retry_after_ms }
  return { by: answer.answered_by, after: answer.fell_over?.map(({ model, code }) => `${model} ${code}`) }
}

export async function must(choice: Promise<{ ok: true; model: Model } | { ok: false; message: string }>) {
  const given = await choice
  if (!given.ok) throw new Error(given.message)
  return given.model
}
