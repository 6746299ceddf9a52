import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { WhenFinished } from '../support/project.js'

/** What may lie between a store and its server. */
export type WireProxy = {
  /** The same URL, but through here. */
  url: string
  /** All connections that there are break; new ones are made. */
  cut: () => void
  /**
   * Breaks a connection at the next COMMIT that comes along it. `lost`: the server never gets it. `unanswered`: the
   * server does, and its answer gets lost. Resolves when that has happened.
   */
  cutAtCommit: (what: 'lost' | 'unanswered') => Promise<void>
  /** Takes no new connections, and breaks those that there are, until it is called again with false. */
  block: (blocked: boolean) => void
  /**
   * Nothing passes any more on the connections that there are and on which such words were sent so far, and nobody is
   * told: as where a machine in between has forgotten them. Answers with how many these are; new ones are not met.
   */
  hush: (isMeant: (sent: string) => boolean) => number
}

const COMMIT = Buffer.from('COMMIT\0')

export async function wireProxy(url: string, finished: WhenFinished = onTestFinished): Promise<WireProxy> {
  const { hostname, port } = new URL(url)
  const pairs = new Set<[Socket, Socket]>()
  const wires = new Set<{ sent: string; hushed: boolean }>()
  let plan: { what: 'lost' | 'unanswered'; happened: () => void } | null = null
  let blocked = false
  const server = createServer((near) => {
    if (blocked) {
      near.destroy()
      return
    }
    const far = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    let silent = false
    const wire = { sent: '', hushed: false }
    wires.add(wire)
    near.on('data', (data) => {
      if (wire.hushed) return
      wire.sent += data.toString('latin1')
      if (plan && data.includes(COMMIT)) {
        const { what, happened } = plan
        plan = null
        silent = true
        if (what === 'unanswered') far.write(data)
        // The server has done it when it says something; that is not passed on.
        const gone = () => {
          near.destroy()
          happened()
        }
        if (what === 'lost') {
          far.destroy()
          gone()
        } else far.once('data', gone)
        return
      }
      far.write(data)
    })
    far.on('data', (data) => {
      if (!silent && !wire.hushed) near.write(data)
    })
    for (const [one, other] of [pair, [far, near] as const]) {
      one.on('error', () => {})
      one.on('close', () => {
        other.end()
        pairs.delete(pair)
        wires.delete(wire)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  finished(() => {
    cut()
    server.close()
  })
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    cut,
    cutAtCommit: (what) =>
      new Promise((happened) => {
        plan = { what, happened }
      }),
    block: (now) => {
      blocked = now
      if (now) cut()
    },
    hush: (isMeant) => {
      const meant = [...wires].filter(({ sent }) => isMeant(sent))
      for (const wire of meant) wire.hushed = true
      return meant.length
    },
  }
}
