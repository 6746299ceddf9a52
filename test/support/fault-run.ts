import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { StoredEvent } from '../../src/index.js'
import { ended, start } from './cli.js'
import { queried } from './postgres.js'
import { makeProject } from './project.js'

/** The command waits for a file, so that the test says what happens while it runs, and then has much to say. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      {
        calls: [
          { run_command: { command: 'until [ -e go ]; do sleep 0.05; done; head -c 400000 /dev/urandom | base64' } },
        ],
      },
      { text: 'Done.' },
    ],
  },
})
const RUN = ['Do it', '--mode', 'dangerous', '--model', 'scripted/s.yaml', '--output-format', 'stream-json']

export const faultProject = () => makeProject({ 's.yaml': SCRIPT })

/** A run whose face is a process of its own, and that has got as far as its command. */
export async function inTheMiddle(store: string, env: Record<string, string> = {}, cwd = faultProject()) {
  const child = start(RUN, { cwd, env: { RETINUE_STORE: store, ...env } })
  child.stdin.end()
  const end = ended(child)
  const seen: StoredEvent[] = []
  const reading = createInterface(child.stdout)
  await new Promise<void>((resolve) => {
    reading.on('line', (line) => {
      const event = JSON.parse(line) as StoredEvent
      seen.push(event)
      if (event.type === 'tool.called') resolve()
    })
  })
  const [{ run_id }] = seen as [StoredEvent]
  const go = () => writeFileSync(join(cwd, 'go'), '')
  return { cwd, child, end, seen: [...seen], run_id, go }
}

/** The log of the only run, as the database has it. */
export async function logged(store: string): Promise<{ type: string; data: unknown }[]> {
  const rows = await queried(store, 'SELECT type, data FROM retinue.events ORDER BY position')
  return (rows as { type: string; data: string }[]).map(({ type, data }) => ({ type, data: JSON.parse(data) }))
}

/** Until there is no room for anything; `DROP TABLE filler` makes some again. */
export async function fillDisk(store: string): Promise<never> {
  await queried(store, 'CREATE TABLE filler (bytes text)')
  await queried(store, 'ALTER TABLE filler ALTER bytes SET STORAGE PLAIN')
  for (;;) await queried(store, "INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 10)")
}
