import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** False when nothing is left in the group. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

const PATIENCE_MS = 400
/** From then on the ones left are looked at: where init does not reap, the dead stay in the group as zombies. */
const REAPING_MS = 7

/** Kills what is left of a process group and waits until it is gone, but not for ever: the kernel may hold one back. */
export async function endGroup(group: number): Promise<void> {
  let waited = 0
  for (let pause = 1; signalGroup(group, 'SIGKILL') && waited < PATIENCE_MS; pause *= 2) {
    if (waited >= REAPING_MS && !hasLiving(group)) return
    await sleep(pause)
    waited += pause
  }
}

function hasLiving(group: number): boolean {
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(pgrp) === group && state !== 'Z' && state !== 'X'
    } catch {
      return false
    }
  })
}
