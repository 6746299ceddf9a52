import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldAgent, type StoredEvent } from '../../src/index.js'
import { ended, lines, start } from './cli.js'
import { running } from './processes.js'
import { makeProject, type WhenFinished } from './project.js'

let made = 0

/** Seconds that make a sleep of about an hour and tell it from every other on the machine. */
export function newMark(): string {
  made += 1
  return `36${process.pid % 1000}.${process.pid}${made}`
}

/** With more time than a busy machine takes. */
const PROFILES = `profiles:
  slow: { budget: { wall_ms: 600000 } }
  lead: { budget: { wall_ms: 600000 }, can_spawn_children: true }
`

/** All their commands look for one file, and none waits until it may write. This is the person's own configuration. */
const SHARED = 'workspace: { isolation: shared }\n'

/**
 * With three at work at once: a1 is at a model call, a2 and a4 in commands, a3 waits for a3.1, and a3.1 for its turn.
 * The commands end when there is a file `go`.
 */
function script(mark: string, thinking = 'delay_ms: 3600000\n      '): string {
  // Deaf to a polite end, so that ending all of it takes a moment.
  const command = JSON.stringify(
    `trap '' TERM; test -e go || { sleep ${mark} & until [ -e go ]; do sleep 0.05; done; }; echo went`,
  )
  return `
agents:
  root:
    - calls:
        - spawn: { task: Think, profile: slow }
        - spawn: { task: Run, profile: slow }
        - spawn: { task: Lead, profile: lead }
        - spawn: { task: Run too, profile: slow }
    - calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: "[a4: OK]" }
      text: "All done."
  a1:
    - ${thinking}text: Thought.
  "a*":
    - calls:
        - run_command: { command: ${command}, timeout_ms: 300000 }
    - branches:
        - when: { contains: Interrupted }
          steps:
            - calls:
                - run_command: { command: ${command}, timeout_ms: 300000 }
        - steps: []
    - expect: went
      text: Ran.
  a3:
    - calls:
        - spawn: { task: Run below, profile: slow }
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: Led.
`
}

export type BusyTree = {
  cwd: string
  mark: string
  args: string[]
  /** Its commands that are still there. */
  left: () => number[]
}

export function busyTree(finished?: WhenFinished): BusyTree {
  const mark = newMark()
  const files = {
    's.yaml': script(mark),
    'retinue.yaml': PROFILES,
    '.config-none/retinue/config.yaml': SHARED,
    '.none/retinue/config.yaml': SHARED,
  }
  const cwd = makeProject(files, finished ? { finished } : {})
  const args = ['Do it', '--mode', 'auto', '--model', 'scripted/s.yaml', '--max-concurrent', '3']
  return { cwd, mark, args, left: () => running('sleep', mark) }
}

/** From now on its commands end, and its model answers at once. */
export function letGo({ cwd, mark }: BusyTree): void {
  writeFileSync(join(cwd, 's.yaml'), script(mark, ''))
  writeFileSync(join(cwd, 'go'), '')
}

/** What its tree must have come to for it to be as busy as it gets. */
export function isBusy(log: readonly StoredEvent[]): boolean {
  const has = (agent: string, type: string) => log.some((event) => event.agent_id === agent && event.type === type)
  return (
    has('a1', 'model.requested') &&
    has('a2', 'tool.called') &&
    has('a4', 'tool.called') &&
    log.some((event) => event.agent_id === 'a3' && event.type === 'tool.called' && event.data.tool === 'spawn_await')
  )
}

/** The tree in a process of its own, busy. */
export async function startBusy(tree: BusyTree) {
  const child = start([...tree.args, '--output-format', 'stream-json'], { cwd: tree.cwd })
  child.stdin.end()
  const end = ended(child)
  const log: StoredEvent[] = []
  let rest = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString()
      rest = text.slice(text.lastIndexOf('\n') + 1)
      log.push(...(lines(text.slice(0, text.length - rest.length)) as StoredEvent[]))
      if (isBusy(log)) resolve()
    })
    void end.then(({ stderr, stdout }) => reject(new Error(`ended before it was busy: ${stderr}${stdout}`)))
  })
  return { child, end, run_id: (log[0] as StoredEvent).run_id }
}

/** How each agent of a run ended, and whatever is not as it must be in the log of a tree that is closed. */
export function endsOf(log: readonly StoredEvent[]): { ends: Record<string, string>; faults: string[] } {
  const faults: string[] = []
  const ends: Record<string, string> = {}
  const ids = log.flatMap((event) => (event.type === 'agent.subagent_created' ? [event.data.sub_agent_id] : []))
  for (const id of ids) {
    const closings = log.filter((event) => event.type === 'agent.subagent_closed' && event.data.sub_agent_id === id)
    const last = log.filter(({ agent_id }) => agent_id === id).at(-1)
    const endings = log.filter(
      (event) =>
        (event.type === 'agent.subagent_waiting_for_merge' || event.type === 'agent.subagent_failed') &&
        event.data.sub_agent_id === id,
    )
    if (closings.length !== 1) faults.push(`${id} was closed ${closings.length} times`)
    if (endings.length !== 1) faults.push(`${id} ended ${endings.length} times`)
    if (last && last !== endings[0]) faults.push(`${id} went on after its end, with ${last.type}`)
    const [closed] = closings
    if (closed?.type === 'agent.subagent_closed') ends[id] = closed.data.result.outcome
  }
  const root = foldAgent(log.filter(({ agent_id }) => agent_id === 'root'))
  if (Object.values(root?.ledger.reserved ?? {}).some((left) => left !== 0)) faults.push('something is still set aside')
  const runs = log.filter(({ type }) => type === 'run.closed')
  if (runs.length !== 1) faults.push(`the run was closed ${runs.length} times`)
  if (log.at(-1)?.type !== 'run.closed') faults.push(`the last event is ${log.at(-1)?.type}`)
  if (runs[0]?.type === 'run.closed') ends.root = runs[0].data.outcome
  return { ends, faults }
}
