/** What another process does with the same file or database, by the name of the part it plays. Bundled by processes.ts. */
import { writeSync } from 'node:fs'
import { beginChild, called, claim, commanded, finished, started, taken } from '../../src/store/conformance/fixtures.js'
import { blobDigest, openPostgresStore, openSqliteStore, type Store } from '../../src/store/index.js'

const [part = '', file = '', name = '', count = '0'] = process.argv.slice(2)

/** Straight to the pipe: a line that was written is there even when the process is killed right after it. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

async function told(): Promise<void> {
  await new Promise((resolve) => process.stdin.once('data', resolve))
  process.stdin.destroy()
}

async function open(): Promise<Store> {
  const clock = { now: () => Date.now() }
  const opened = file.startsWith('postgres://')
    ? await openPostgresStore({ url: file, clock })
    : await openSqliteStore({ file, clock })
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

const parts: Record<string, () => Promise<void>> = {
  /** Opens when told to, together with others. */
  async open() {
    say('ready')
    await told()
    const store = await open()
    say(String((await store.runs()).length))
    await store.close()
  },

  /** Appends to a stream of its own, and to one that several processes fight for. */
  async append() {
    const store = await open()
    await beginChild(store, 'run', name)
    say('ready')
    await told()
    let won = 0
    for (let seq = 1; seq <= Number(count); seq++) {
      const head = (await store.read({ run_id: 'run', agent_id: 'shared' })).length
      const own = { run_id: 'run', agent_id: name, epoch: 1, expected_seq: seq, events: [called(`${name}-${seq}`)] }
      const shared = { run_id: 'run', agent_id: 'shared', epoch: 1, expected_seq: head, events: [called(name)] }
      const [, fought] = await Promise.all([taken(store, own), store.append(shared)])
      if (fought.ok) won += 1
    }
    say(String(won))
    await store.close()
  },

  /** Appends with several agents until it is killed, and says what was acknowledged. */
  async untilKilled() {
    const store = await open()
    const work = ['a', 'b', 'c'].map(async (agent_id) => {
      await beginChild(store, 'run', agent_id)
      for (let seq = 1; ; seq += 2) {
        const events = [called(`${seq}`), finished(`${seq}`, 'x'.repeat(2000))]
        await taken(store, { run_id: 'run', agent_id, epoch: 1, expected_seq: seq, events })
        say(`${agent_id} ${seq + 2}`)
      }
    })
    await Promise.all(work)
  },

  /** Appends to the control log, two events at a time. */
  async command() {
    const store = await open()
    say('ready')
    await told()
    for (let i = 1; i <= Number(count); i++) {
      await store.appendControl([commanded(`${name} ${i}a`), commanded(`${name} ${i}b`)])
    }
    await store.close()
  },

  /** The same until it is killed, and says what was acknowledged. */
  async commandUntilKilled() {
    const store = await open()
    for (;;) {
      const events = await store.appendControl([commanded('x'), commanded('y')])
      say(String(events.at(-1)?.position))
    }
  },

  /** On a disk with too little room for one of two appends that share a commit. */
  async fullDisk() {
    const store = await open()
    const bytes = new Uint8Array(1_500_000)
    const big = { run_id: 'run', agent_id: 'big', epoch: 1, expected_seq: 0, events: [started()], claim }
    const results = await Promise.allSettled([
      store.append({ ...big, blobs: [{ digest: blobDigest(bytes), bytes }] }),
      beginChild(store, 'run', 'small'),
    ])
    const after = await beginChild(store, 'run', 'later')
    const agents = (await store.agents('run')).map((agent) => agent.agent_id)
    say(JSON.stringify({ results: results.map((r) => r.status), after: after[0]?.position, agents }))
    await store.close()
  },
}

await parts[part]?.()
