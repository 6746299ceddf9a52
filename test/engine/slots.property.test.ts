import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Slot, Slots } from '../../src/engine/slots.js'

type Phase = 'waiting' | 'at_work' | 'resting' | 'returning' | 'done' | 'aborted'

/** An agent as somebody sees it who knows only what was asked for and what was answered. */
type Agent = {
  group: number
  phase: Phase
  slot: Slot | null
  controller: AbortController
  /** What ends each of its rests. */
  rests: (() => void)[]
  /** When it last began to wait. */
  since: number
}

const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), group: fc.nat({ max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('rest' as const), pick: fc.nat(), fails: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wake' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), pick: fc.nat() }) },
)
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never

const GROUPS = [0, 1, 2, 3, 4]

class World {
  readonly slots: Slots
  readonly agents: Agent[] = []
  /** Those who got a slot in this step. */
  entered: { agent: Agent; from: Phase; since: number }[] = []
  /** For each group that has somebody to send: which other groups have had a turn meanwhile. */
  passed = new Map<number, Set<number>>()
  #time = 0

  constructor(
    readonly limit: number,
    readonly group_limits: (number | undefined)[],
  ) {
    this.slots = new Slots(limit)
  }

  in(...phases: Phase[]): Agent[] {
    return this.agents.filter(({ phase }) => phases.includes(phase))
  }

  ask(group: number): void {
    const controller = new AbortController()
    const { signal } = controller
    const agent: Agent = { group, phase: 'waiting', slot: null, controller, rests: [], since: this.#time++ }
    this.agents.push(agent)
    const group_limit = this.group_limits[group]
    void this.slots.acquire(`${group}`, { signal, ...(group_limit ? { group_limit } : {}) }).then((slot) => {
      if (slot) this.#enter(agent, slot)
      else agent.phase = 'aborted'
    })
  }

  release(agent: Agent): void {
    agent.slot?.release()
    agent.phase = 'done'
  }

  rest(agent: Agent, fails: boolean): void {
    const { slot } = agent
    if (!slot) throw new Error('it has no slot to rest with')
    const wait = new Promise<void>((resolve, reject) => {
      agent.rests.push(fails ? () => reject(new Error('failed')) : resolve)
    })
    agent.phase = 'resting'
    const back = () => {
      if (agent.phase === 'returning') this.#enter(agent, slot)
    }
    void slot.rest(() => wait).then(back, back)
  }

  wake(agent: Agent, pick: number): void {
    agent.rests.splice(pick % agent.rests.length, 1)[0]?.()
    if (agent.rests.length > 0 || agent.phase === 'done') return
    agent.phase = 'returning'
    agent.since = this.#time++
  }

  async perform(step: Step): Promise<void> {
    if (step.kind === 'ask') this.ask(step.group)
    else {
      const able = {
        release: this.in('at_work', 'resting', 'returning'),
        rest: this.in('at_work', 'at_work', 'resting', 'returning'),
        wake: this.agents.filter(({ rests }) => rests.length > 0),
        abort: this.in('waiting', 'at_work', 'resting'),
      }[step.kind]
      const agent = able[step.pick % Math.max(1, able.length)]
      if (!agent) return
      if (step.kind === 'release') this.release(agent)
      if (step.kind === 'rest') this.rest(agent, step.fails)
      if (step.kind === 'wake') this.wake(agent, step.pick)
      if (step.kind === 'abort') agent.controller.abort()
    }
    this.entered = []
    await new Promise((resolve) => setImmediate(resolve))
    this.#check()
  }

  #enter(agent: Agent, slot: Slot): void {
    this.entered.push({ agent, from: agent.phase, since: agent.since })
    agent.slot = slot
    agent.phase = 'at_work'
  }

  #hasRoom(group: number): boolean {
    const working = this.in('at_work').filter((agent) => agent.group === group)
    return working.length < (this.group_limits[group] ?? Number.POSITIVE_INFINITY)
  }

  #check(): void {
    const { limit, slots } = this
    const working = this.in('at_work').length
    const waiting = this.in('waiting', 'returning')
    must(working <= limit, `${working} at work, of ${limit}`)
    must(slots.working === working && slots.waiting === waiting.length, 'the counts are not right')
    for (const group of GROUPS) {
      const atWork = this.in('at_work').filter((agent) => agent.group === group).length
      must(atWork <= (this.group_limits[group] ?? limit), `${atWork} of group ${group} at work`)
    }
    const able = waiting.filter(({ group }) => this.#hasRoom(group))
    must(working === limit || able.length === 0, 'somebody waits for nothing')
    for (const { agent, from, since } of this.entered) {
      const before = waiting.filter((other) => other.phase === from && other.since < since)
      const unlimited = ({ group }: Agent) => from === 'returning' && this.group_limits[group] === undefined
      must(!before.some((other) => other.group === agent.group), 'somebody was overtaken in the group')
      must(!unlimited(agent) || !before.some(unlimited), 'somebody was overtaken on the way back')
      must(from === 'returning' || !able.some(({ phase }) => phase === 'returning'), 'one who came back was overtaken')
    }
    this.#checkTurns(able)
  }

  /** While a group has somebody to send who was never at work, no other group has two turns. */
  #checkTurns(able: Agent[]): void {
    const sending = new Set(able.filter(({ phase }) => phase === 'waiting').map(({ group }) => group))
    for (const group of GROUPS) if (!sending.has(group)) this.passed.delete(group)
    for (const { agent, from } of this.entered) {
      if (from !== 'waiting') continue
      this.passed.delete(agent.group)
      for (const group of sending) {
        if (group === agent.group) continue
        const passed = this.passed.get(group) ?? new Set<number>()
        must(!passed.has(agent.group), `group ${agent.group} had two turns while group ${group} had none`)
        this.passed.set(group, passed.add(agent.group))
      }
    }
  }

  /** Everybody who still can, ends. */
  async finish(): Promise<void> {
    for (let round = 0; this.in('waiting', 'at_work', 'resting', 'returning').length > 0; round++) {
      // Each round ends somebody's rest or work, so that more rounds than those mean that somebody starves.
      must(round < 1000, 'somebody starves')
      await this.perform(this.agents.some(({ rests }) => rests.length > 0) ? { kind: 'wake', pick: round } : RELEASE)
    }
  }
}

/** As `expect`, which takes too long to be asked this often. */
function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

const RELEASE: Step = { kind: 'release', pick: 0 }

it('slots keep their promises whatever agents do', async () => {
  const limits = fc.array(fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }), { minLength: 5, maxLength: 5 })
  const steps = fc.array(STEP, { minLength: 20, maxLength: 120, size: 'max' })
  const seen = { entered: 0, returned: 0, aborted: 0 }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), limits, steps, async (limit, group_limits, script) => {
      const world = new World(limit, group_limits)
      for (const step of script) {
        await world.perform(step)
        seen.returned += world.entered.filter(({ from }) => from === 'returning').length
      }
      await world.finish()
      expect([world.slots.working, world.slots.waiting]).toEqual([0, 0])
      expect(world.agents.filter(({ phase }) => phase !== 'done' && phase !== 'aborted')).toEqual([])
      seen.entered += world.agents.filter(({ slot }) => slot).length
      seen.aborted += world.in('aborted').length
      // Nothing of it is left that would be in the way of others.
      const all = await Promise.all(Array.from({ length: limit }, () => world.slots.acquire('0', { group_limit: 9 })))
      expect([all.length, world.slots.working]).toEqual([limit, limit])
    }),
    { numRuns: 200 },
  )
  // Scripts in which nothing happens would say nothing.
  expect(Math.min(seen.entered, seen.returned, seen.aborted)).toBeGreaterThan(50)
})
