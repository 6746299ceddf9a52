import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRetinue, type Retinue } from '../src/index.js'
import { serve } from '../src/server/index.js'
import { createScriptedModel, modelsOf } from '../src/testing/index.js'
import { measure, median, type Sample } from './measure.js'

export type WindowTimes = {
  events: number
  alone: Sample
  watched: Sample
  /** Time of the one against that of the other, in the same round. */
  ratio: number
  /** Resident memory of the whole process, its highest while a run was watched. */
  peak_bytes: number
}

/** A round is a run that nobody watches and the same with two browsers over HTTP and a terminal. The first is left out. */
export async function windowTimes(
  cwd: string,
  store: string,
  { children, at_once, rounds }: { children: number; at_once: number; rounds: number },
): Promise<WindowTimes> {
  const read = (n: number) => ({ calls: [{ read_file: { path: `file-${n}.txt` } }], delay_ms: 10 })
  const agents = { 'a*': [read(0), read(1), read(2), { text: 'Done.', delay_ms: 10 }] }
  const models = modelsOf(createScriptedModel({ name: 'window', agents }))
  const settings = { max_concurrent: at_once, tools: ['read_file'] }
  const retinue = await createRetinue({ cwd, store, models, settings })
  const serving = await serve(retinue, { host: '127.0.0.1', port: 0, users: {}, origins: [] })
  const browsers = spawn(process.execPath, [
    ...['scripts/run.mjs', 'bench/window-client.ts'],
    ...[serving.address, serving.token as string],
  ])
  browsers.stderr.pipe(process.stderr)
  try {
    await once(browsers.stdout, 'data')
    const samples: { alone: Sample; watched: Sample; peak: number; events: number }[] = []
    for (let round = 0; round <= rounds; round++) {
      const alone = await measure(() => work(retinue, children).result())
      samples.push({ alone, ...(await watchedRun(retinue, children, browsers)) })
    }
    samples.splice(0, 1)
    const middle = (pick: (sample: (typeof samples)[0]) => Sample) => ({
      wall_ms: median(samples.map((sample) => pick(sample).wall_ms)),
      cpu_ms: median(samples.map((sample) => pick(sample).cpu_ms)),
    })
    return {
      events: samples[0]?.events ?? 0,
      alone: middle(({ alone }) => alone),
      watched: middle(({ watched }) => watched),
      ratio: median(samples.map(({ alone, watched }) => watched.wall_ms / alone.wall_ms)),
      peak_bytes: Math.max(...samples.map(({ peak }) => peak)),
    }
  } finally {
    browsers.stdin.end()
    await serving.close('the benchmark is over')
    await retinue.close()
  }
}

function work(retinue: Retinue, children: number) {
  return retinue.fanOut(Array.from({ length: children }, () => ({ task: 'Read the files' })))
}

/** Until everybody has seen its end. */
async function watchedRun(retinue: Retinue, children: number, browsers: ChildProcessWithoutNullStreams) {
  let peak = 0
  let events = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  try {
    const watched = await measure(async () => {
      const run = work(retinue, children)
      const told = once(browsers.stdout, 'data')
      for await (const { position } of run) {
        if (position !== events + 1) throw new Error(`the terminal saw event ${position} after ${events}`)
        if (position === 1) browsers.stdin.write(`${run.run_id}\n`)
        events = position
      }
      const [said] = (await told) as [Buffer]
      const seen = JSON.parse(said.toString()) as number[]
      if (seen.length !== 2 || seen.some((count) => count !== events)) {
        throw new Error(`of ${events} events the browsers saw ${seen.join(' and ')}`)
      }
    })
    return { watched, peak, events }
  } finally {
    clearInterval(sampling)
  }
}
