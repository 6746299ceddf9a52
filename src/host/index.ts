import { homedir } from 'node:os'
import { createClock } from './clock.js'
import { gatherFacts } from './facts.js'
import { createGit } from './git.js'
import { holdFor } from './held.js'
import type { Host, HostFacts } from './host.js'
import { createHttp } from './http.js'
import { createIdentity } from './identity.js'
import { Locks } from './locks.js'
import { writePrivate } from './private-file.js'
import { createProcesses } from './processes.js'
import { readTextIfAny } from './read-text.js'
import { createServers } from './servers.js'
import { openWorkspace } from './workspace.js'

export type * from './host.js'

/** The machine that this process runs on. */
export function createHost(): Host {
  const processes = createProcesses()
  const locks = new Locks()
  const hold = holdFor(process.platform)
  let facts: Promise<HostFacts> | null = null
  return {
    clock: createClock(),
    identity: createIdentity(),
    home: homedir(),
    processes,
    servers: createServers(),
    http: createHttp(),
    workspace: (root) => openWorkspace(root, hold, locks),
    git: createGit(processes, locks),
    readText: readTextIfAny,
    writePrivate,
    facts: () => {
      facts ??= gatherFacts(processes)
      return facts
    },
  }
}
