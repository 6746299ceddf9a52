import { homedir, userInfo } from 'node:os'
import { createCheckouts } from './checkout.js'
import { createClock } from './clock.js'
import { gatherFacts } from './facts.js'
import { createGit } from './git.js'
import { holdFor } from './held.js'
import type { Host, HostFacts } from './host.js'
import { createHttp } from './http.js'
import { createIdentity } from './identity.js'
import { Locks } from './locks.js'
import { writePrivate, writeReport } from './private-file.js'
import { createProcesses } from './processes.js'
import { OwnPrograms } from './programs.js'
import { readTextIfAny } from './read-text.js'
import { sweepNames } from './sandbox/held-names.js'
import { createServers } from './servers.js'
import { createTrees } from './trees/index.js'
import { openWorkspace } from './workspace.js'

export type * from './host.js'

/** The machine that this process runs on. */
export function createHost(): Host {
  const programs = new OwnPrograms()
  const processes = createProcesses({ programs })
  const locks = new Locks()
  const hold = holdFor(process.platform)
  let facts: Promise<HostFacts> | null = null
  return {
    clock: createClock(),
    identity: createIdentity(),
    home: homedir(),
    user: userName(),
    processes,
    servers: createServers(programs),
    http: createHttp(),
    workspace: async (root, options) => {
      const workspace = await openWorkspace(root, hold, locks, options)
      if (options?.to_read) return workspace
      programs.avoid(workspace.root)
      sweepNames(workspace.root)
      return workspace
    },
    git: createGit({ processes, locks, programs }),
    checkout: createCheckouts({ processes, locks, programs }),
    trees: createTrees({ processes, locks, programs }),
    readText: readTextIfAny,
    writePrivate,
    writeReport,
    facts: () => {
      facts ??= gatherFacts(processes, programs)
      return facts
    },
  }
}

/** Not every machine knows the name of who runs a process: containers run them under numbers alone. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 0}`
  }
}
